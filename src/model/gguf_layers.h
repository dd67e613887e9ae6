// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Which layers of a GGUF file rotate, and which of those have a sliding window.
#pragma once

#include <vector>

#include "model/gguf_architectures.h"
#include "model/gguf_keys.h"

namespace ropecache::model {

struct GgufLayers {
  int decoder = 0;        // without MTP
  int mtp = 0;            // block_count counts them, behind the decoder's
  bool windowed = false;  // some layers have a sliding window
  std::vector<bool> sliding;
  std::vector<bool> rotates;

  int all() const { return decoder + mtp; }
};

GgufLayers read_gguf_layers(const GgufArchitecture& row, const GgufKeys& keys);

}  // namespace ropecache::model
