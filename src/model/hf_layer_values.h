// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Values that a file gives layer by layer: as lists, or as objects under the layers' numbers or kinds.
#pragma once

#include <cstddef>
#include <string_view>

#include "model/hf_layers.h"
#include "model/hf_section.h"

namespace ropecache::model {

// Refuses a list that does not reach the last layer, and warns of one that goes on after it.
void check_length(const Section& config, std::string_view key, std::size_t size, const Layers& layers);

void read_layer_values(const Section& config, Layers& layers);

}  // namespace ropecache::model
