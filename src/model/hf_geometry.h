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

// Where partial_rotary_factor can stand beside the flat keys; these go before them.
struct PartialSource {
  Section block;              // the rope parameters of the layer
  std::optional<double> own;  // the layer's entry of a list
};

// `global`: full-attention layers, where they have a head size of their own.
Geometry read_geometry(const Section& config, const Family* family, const Sizes* sizes, bool global,
                       const PartialSource& partial, bool proportional);

// hidden / heads, or the size the file or the class gives the head.
// int(head_dim * partial), in double as transformers computes it; refuses a factor that gives no width.
int partial_width(const Section& config, int head_dim, double partial);

int read_head_dim(const Section& config, const Family* family, const Sizes* sizes);

}  // namespace ropecache::model
