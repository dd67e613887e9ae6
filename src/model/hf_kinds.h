// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// The kind of each layer: from layer_types, from a list that the model type has instead, or from the type's own cycle.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/hf_family.h"
#include "model/hf_section.h"

namespace ropecache::model {

// At least `count` kinds; more where the file's list goes on (MTP layers). "all" where nothing tells layers apart.
std::vector<std::string> read_kinds(const Section& config, const Family* family, int count);

// A list of names under a key, older names of kinds replaced; empty where the file does not have it.
std::vector<std::string> read_names(const Section& config, std::string_view key);

// Linear attention, convolutions, MLPs: kinds that have nothing to rotate in any model.
bool is_attention(std::string_view kind);

// Cohere 2 MoE: how many of the first layers have a dense MLP, and which of those, every so many, has full attention.
int dense_layers(const Section& config, int count);
int dense_period(const Section& config);

}  // namespace ropecache::model
