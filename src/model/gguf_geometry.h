// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// The numbers of a GGUF file's heads, for full layers and for those with a sliding window.
#pragma once

#include <string_view>

#include "model/gguf_architectures.h"
#include "model/gguf_keys.h"
#include "model/gguf_layers.h"

namespace ropecache::model {

struct GgufGeometry {
  int head = 0, head_sliding = 0;    // sizes of a head
  int width = 0, width_sliding = 0;  // of the part that turns
  double base = 0, base_sliding = 0;
};

GgufGeometry read_gguf_geometry(const GgufArchitecture& row, const GgufKeys& keys, const GgufLayers& layers);

// `base`, or a refusal of the key it came from.
double checked_gguf_base(const GgufKeys& keys, std::string_view key, double base);

}  // namespace ropecache::model
