// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// A tower is a stack of layers that one object of the file describes: the decoder, a vision or an audio encoder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/assemble.h"
#include "model/hf_family.h"
#include "model/hf_section.h"

namespace ropecache::model {

struct Tower {
  int layers = 0;
  int mtp = 0;
  std::int64_t context = 0;
  std::vector<LayerRope> ropes;
  QueryScale query_scale_without_rope;
};

// `family` nullptr: an unknown type, read by its keys alone. `type` is what the file or its parent calls it.
Tower read_tower(const Section& config, const Family* family, std::string_view type, Role role);

}  // namespace ropecache::model
