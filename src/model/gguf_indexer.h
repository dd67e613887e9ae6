// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// The ropes of sparse-attention indexers, which follow those of their layers.
#pragma once

#include <vector>

#include "model/assemble.h"
#include "model/gguf_architectures.h"
#include "model/gguf_keys.h"
#include "model/gguf_layers.h"

namespace ropecache::model {

// One entry for each layer with an indexer. `ratios`: of DeepSeek-V4's layers, else empty. `config`: of the main rope.
std::vector<LayerRope> gguf_indexer_ropes(const GgufArchitecture& row, const GgufKeys& keys, const GgufLayers& layers,
                                          const std::vector<int>& ratios, RopeConfig config);

}  // namespace ropecache::model
