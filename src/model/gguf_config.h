// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// The RopeConfig of a GGUF file's layers, by kind of layer.
#pragma once

#include <cstdint>
#include <vector>

#include "model/assemble.h"
#include "model/gguf_architectures.h"
#include "model/gguf_file.h"
#include "model/gguf_keys.h"
#include "model/gguf_layers.h"

namespace ropecache::model {

// One entry for each layer that rotates, indexers included. Fills model.query_scale_without_rope.
std::vector<LayerRope> gguf_layer_ropes(const GgufArchitecture& row, const GgufKeys& keys, const GgufFile& file,
                                        const GgufLayers& layers, ModelRopes& model);

}  // namespace ropecache::model
