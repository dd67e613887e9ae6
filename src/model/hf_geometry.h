// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// The size of a head, and which of its elements turn.
#pragma once

#include <optional>
#include <string_view>

#include "model/hf_family.h"
#include "model/hf_section.h"

namespace ropecache::model {

struct Geometry {
  int head_dim = 0;
  int rotary_dim = 0;
  int rotary_offset = 0;
};

// `global`: full-attention layers, where they have a head size of their own. `partial`: what the rope parameters or the
// layer's own entry say; nothing where they are silent.
Geometry read_geometry(const Section& config, const Family* family, const Sizes* sizes, bool global,
                       std::optional<double> partial, bool proportional);

// hidden / heads, or the size the file or the class gives the head.
// int(head_dim * partial), in double as transformers computes it; refuses a factor that gives no width.
int partial_width(const Section& config, int head_dim, double partial);

int read_head_dim(const Section& config, const Family* family, const Sizes* sizes);

}  // namespace ropecache::model
