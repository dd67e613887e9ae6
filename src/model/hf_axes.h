// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Which axis turns which pair: M-RoPE's sections out of the file, and the layouts of vision towers.
#pragma once

#include <vector>

#include "model/hf_family.h"
#include "model/hf_section.h"
#include "ropecache/rope.h"

namespace ropecache::model {

// Gives a rope of known width its axes. More than one where parts of the head turn by different axes. `block`: the rope
// parameters; `family` nullptr: an unknown type, read by its keys alone.
std::vector<RopeConfig> with_axes(const Section& config, const Section& block, const Family* family,
                                  const RopeConfig& rope);

}  // namespace ropecache::model
