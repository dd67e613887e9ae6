// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// From "this layer, in this role, has this RopeConfig" to the ropes of a model: equal configs become one rope with all
// their layers, each is resolved once, layers without a rope are what is left over.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ropecache/model.h"

namespace ropecache::model {

// More layers than any model has; a larger count in a file is refused before anything is sized by it.
inline constexpr int kMaxLayers = 1024;

struct LayerRope {
  Role role = Role::kAttention;
  int layer = 0;          // MTP layers are numbered from ModelRopes::layers on
  std::string group;
  RopeConfig config;
};

// `model.layers`, `model.mtp` and the notes of keys are set; errors name the keys that a refused value may come from. Fills ropes and layers_without_rope. `where` leads every error text
// ("config.json: full_attention").
Status assemble(const std::vector<LayerRope>& layers, const ReadOptions& options, std::string_view where,
                ModelRopes& model);

}  // namespace ropecache::model
