// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "model/assemble.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <variant>

#include "text.h"

namespace ropecache::model {
namespace {

// Resolving takes microseconds a pair: what a file can ask for is bounded far above any model, by seconds of work.
constexpr std::size_t kMaxRopes = 128;
constexpr std::int64_t kMaxPairs = 32768;

Status check_work(const std::vector<ModelRope>& ropes, std::string_view where) {
  if (ropes.size() > kMaxRopes) {
    return Status(StatusCode::kInvalidArgument, text(where, ": more than ", kMaxRopes, " different ropes"));
  }
  std::int64_t pairs = 0;
  for (const ModelRope& rope : ropes) pairs += std::max(rope.config.rotary_dim, 0) / 2;
  if (pairs <= kMaxPairs) return {};
  return Status(StatusCode::kInvalidArgument,
                text(where, ": ropes of ", pairs, " pairs in all, expected at most ", kMaxPairs));
}

ModelRope& rope_for(std::vector<ModelRope>& ropes, const LayerRope& layer) {
  for (ModelRope& rope : ropes) {
    if (rope.role == layer.role && rope.group == layer.group && rope.config == layer.config) return rope;
  }
  ModelRope& rope = ropes.emplace_back();
  rope.role = layer.role;
  rope.group = layer.group;
  rope.config = layer.config;
  return rope;
}

// Towers number their layers by themselves, so only roles of the decoder speak of MTP.
bool is_tower(Role role) { return role == Role::kVision || role == Role::kAudio; }

Status resolve_rope(const ReadOptions& options, std::string_view where, ModelRope& rope) {
  Result<Rope> resolved = resolve(rope.config, {options.length});
  if (!resolved.ok()) {
    const std::string group = rope.group.empty() ? std::string() : text(" (", rope.group, ")");
    return Status(resolved.status().code(),
                  text(where, ": ", role_name(rope.role), " rope", group, ": ", resolved.status().message()));
  }
  rope.rope = *std::move(resolved);

  // Longrope has two regimes. Without a length the reader of a plan sees both.
  const auto* longrope = std::get_if<LongRopeScaling>(&rope.config.scaling);
  if (longrope == nullptr || options.length) return {};
  Result<Rope> beyond = resolve(rope.config, {longrope->original_context + 1});
  if (!beyond.ok()) return Status(beyond.status().code(), text(where, ": ", beyond.status().message()));
  if (*beyond == rope.rope) return {};
  rope.switch_length = longrope->original_context;
  rope.beyond = *std::move(beyond);
  return {};
}

}  // namespace

Status assemble(const std::vector<LayerRope>& layers, const ReadOptions& options, std::string_view where,
                ModelRopes& model) {
  if (model.layers < 0 || model.layers > kMaxLayers || model.mtp < 0 || model.mtp > kMaxLayers) {
    return Status(StatusCode::kInvalidArgument, text(where, ": ", model.layers, " layers and ", model.mtp,
                                                     " MTP layers, expected 0 to ", kMaxLayers, " of each"));
  }
  const int decoder_layers = model.layers + model.mtp;
  std::vector<bool> has_rope(static_cast<std::size_t>(decoder_layers), false);
  for (const LayerRope& layer : layers) {
    if (layer.layer < 0 || (!is_tower(layer.role) && layer.layer >= decoder_layers)) {
      return Status(StatusCode::kInternal, text(where, ": layer ", layer.layer, " of ", decoder_layers));
    }
    rope_for(model.ropes, layer).layers.push_back(layer.layer);
    if (model.ropes.size() > kMaxRopes) break;
    if (layer.role == Role::kAttention) has_rope[static_cast<std::size_t>(layer.layer)] = true;
  }
  Status status = check_work(model.ropes, where);
  if (!status.ok()) return status;
  for (ModelRope& rope : model.ropes) {
    std::sort(rope.layers.begin(), rope.layers.end());
    rope.layers.erase(std::unique(rope.layers.begin(), rope.layers.end()), rope.layers.end());
    if (!is_tower(rope.role)) {
      std::copy_if(rope.layers.begin(), rope.layers.end(), std::back_inserter(rope.mtp_layers),
                   [&](int layer) { return layer >= model.layers; });
    }
    status = resolve_rope(options, where, rope);
    if (!status.ok()) return status;
  }
  std::stable_sort(model.ropes.begin(), model.ropes.end(), [](const ModelRope& a, const ModelRope& b) {
    return std::tuple(a.role != Role::kAttention, a.layers.front(), a.role) <
           std::tuple(b.role != Role::kAttention, b.layers.front(), b.role);
  });
  for (int layer = 0; layer < decoder_layers; ++layer) {
    if (!has_rope[static_cast<std::size_t>(layer)]) model.layers_without_rope.push_back(layer);
  }
  return {};
}

}  // namespace ropecache::model
