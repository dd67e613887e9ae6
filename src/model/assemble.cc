// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "model/assemble.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <variant>

#include "one_line.h"
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

// What files call a field of RopeConfig, where that is not its own name: the last part of a key.
struct Spelling {
  std::string_view field;
  std::string_view key;
};
constexpr Spelling kSpellings[] = {
    {"theta", "rope_theta"},          {"theta", "freq_base"},          {"theta", "freq_base_swa"},
    {"theta", "rotary_emb_base"},     {"theta", "rope_local_base_freq"}, {"theta", "local_rope_theta"},
    {"theta", "global_rope_theta"},   {"theta", "swa_rope_theta"},     {"rotary_dim", "head_dim"},
    {"rotary_dim", "dimension_count"}, {"rotary_dim", "partial_rotary_factor"}, {"rotary_dim", "rotary_pct"},
    {"rotary_dim", "qk_rope_head_dim"}, {"rotary_dim", "hidden_size"}, {"rotary_dim", "num_attention_heads"},
    {"original_context", "original_max_position_embeddings"}, {"original_context", "original_context_length"},
    {"sections", "mrope_section"},    {"sections", "dimension_sections"}};

// "; in the file: rope_theta 0.25": the keys that the field which a message starts with may come from.
std::string said_by(const ModelRopes& model, std::string_view message) {
  std::string_view field = message.substr(0, message.find_first_of(" :["));
  field = field.substr(field.rfind('.') + 1);  // all of it where there is none
  std::string out;
  int found = 0;
  for (const KeyNote& note : model.used) {
    const std::string_view key = note.key;
    const std::string_view last = key.substr(key.rfind('.') + 1);
    const bool is_it = last == field || std::any_of(std::begin(kSpellings), std::end(kSpellings), [&](const Spelling& spelling) {
      return spelling.field == field && spelling.key == last;
    });
    if (!is_it || ++found > 3) continue;
    out += text(found == 1 ? "; in the file: " : ", ", key, " ", shortened(note.value, 40));
  }
  return out;
}

Status resolve_rope(const ReadOptions& options, std::string_view where, const ModelRopes& model, ModelRope& rope) {
  Result<Rope> resolved = resolve(rope.config, {options.length});
  if (!resolved.ok()) {
    const bool named = !rope.group.empty() && rope.group != "all";
    const std::string group = named ? text(" (", rope.group, ")") : std::string();
    const std::string& message = resolved.status().message();
    return Status(resolved.status().code(),
                  text(where, ": ", role_name(rope.role), " rope", group, ": ", message, said_by(model, message)));
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
    status = resolve_rope(options, where, model, rope);
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
