// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// The scaling rule of a params.json: Mistral's "yarn" or Meta's use_scaled_rope.
#pragma once

#include "model/hf_section.h"
#include "ropecache/rope.h"

namespace ropecache::model {

// `meta`: of the two writers Meta. `latent`: attention is latent (qk_rope_head_dim).
Scaling read_params_scaling(const Section& file, bool meta, bool latent);

}  // namespace ropecache::model
