// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "model/hf_tower.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "model/hf_axes.h"
#include "model/hf_geometry.h"
#include "model/hf_layers.h"
#include "model/hf_parameters.h"
#include "model/json.h"
#include "text.h"

namespace ropecache::model {

namespace {

constexpr std::array<std::string_view, 6> kContextKeys = {"max_position_embeddings", "seq_length",       "n_positions",
                                                          "max_sequence_length",     "model_max_length", "max_seq_len"};

std::int64_t read_context(const Section& config) {
  std::int64_t context = 0;
  for (const std::string_view key : kContextKeys) {
    if (context != 0) {
      config.ignore_if_present(key, "max_position_embeddings or an equal key goes before");
    } else if (const auto value = config.integer(key, 0, std::int64_t{1} << 40)) {
      context = *value;
    }
  }
  return context;
}

// Types whose rope is an option: esm, falcon, granitemoehybrid, ...
bool has_rope(const Section& config, const Family* family) {
  if (family == nullptr) return true;
  if (family->no_rope) return false;
  if (family->only_if_key.empty()) return true;
  const Json* value = config.take(family->only_if_key);
  if (value != nullptr) return value->dump() == family->only_if_value;
  const Json taken = family->only_if_default ? Json::parse(family->only_if_value) : Json();
  config.defaulted(family->only_if_key, taken, "of the model type");
  return family->only_if_default;
}

QueryScale temperature_of_nope(const Section& config) {
  QueryScale scale;
  constexpr std::string_view reason = "of the model type";
  if (!config.truth_or("attn_temperature_tuning", true, reason)) return scale;
  scale.rule = QueryScale::Rule::kLogFloorPlusOne;
  scale.beta = config.number_or("attn_scale", 0.1, reason);
  scale.context = config.number_or("floor_scale", 8192, reason);
  if (scale.context <= 0) config.refuse("floor_scale", "a number above 0");
  return scale;
}

// Everything that makes the layers of one tower.
class TowerReader {
 public:
  TowerReader(const Section& config, const Family* family, std::string_view type, Role role)
      : config_(config), family_(family), sizes_(find_sizes(type)), role_(role) {}

  Tower read() {
    const bool decoder = role_ == Role::kAttention;
    layers_ = read_layers(config_, family_, sizes_, decoder);
    tower_.layers = layers_.count;
    tower_.mtp = layers_.mtp;
    tower_.context = read_context(config_);
    if (!has_rope(config_, family_)) return std::move(tower_);
    Parameters parameters(config_, family_, tower_.context, kinds());
    if (decoder) take_class_context();
    for (std::size_t i = 0; i < layers_.all.size(); ++i) add_layer(parameters, static_cast<int>(i));
    if (family_ != nullptr && family_->query == QueryRule::kTemperatureOfNope) {
      tower_.query_scale_without_rope = temperature_of_nope(config_);
    }
    if (tower_.ropes.empty() && !layers_.all.empty()) warn_of_no_rope();
    name_groups();
    return std::move(tower_);
  }

 private:
  // What memory is counted at. A rule that needs the length does not take it: a file with such a rule and without a
  // length left out more than what is usual.
  void take_class_context() {
    const auto says = [&](std::string_view key) { return config_.contains(key); };
    if (sizes_ == nullptr || sizes_->context == 0 || std::any_of(kContextKeys.begin(), kContextKeys.end(), says)) return;
    tower_.context = sizes_->context;
    config_.defaulted("max_position_embeddings", sizes_->context,
                      text("class default of ", sizes_->type, ", for counting memory only"));
  }

  void warn_of_no_rope() const {
    std::string kinds;
    for (const Layer& layer : layers_.all) {
      const std::string kind = json_quote(layer.kind.substr(0, 60));
      if (kinds.find(kind) == std::string::npos && kinds.size() < 200) kinds += (kinds.empty() ? "" : ", ") + kind;
    }
    config_.audit().warn(
        text(config_.path(), config_.path().empty() ? "" : ": ", "no layer rotates; the kinds of layers are ", kinds));
  }

  std::vector<std::string> kinds() const {
    std::vector<std::string> kinds;
    for (const Layer& layer : layers_.all) {
      if (layer.rotates && std::find(kinds.begin(), kinds.end(), layer.kind) == kinds.end())
        kinds.push_back(layer.kind);
    }
    return kinds;
  }

  void add_layer(const Parameters& parameters, int number) {
    const Layer& layer = layers_.all[static_cast<std::size_t>(number)];
    const bool linear = family_ != nullptr && family_->linear_rotates && layer.kind == kind_name('L');
    if (!layer.rotates && !linear) return;
    const auto key = std::tuple(layer.kind, layer.theta, layer.partial, own_text(layer));
    auto found = configs_.find(key);
    if (found == configs_.end()) {
      found = configs_.emplace(key, linear ? linear_rope(parameters, layer) : ropes_of(parameters, layer)).first;
    }
    for (const LayerRope& rope : found->second) {
      if (rope.role == Role::kIndexer && !layer.indexes) continue;
      tower_.ropes.push_back(rope);
      tower_.ropes.back().layer = number;
    }
  }

  // The layer's own keys as text; layers with the same ones share a rope.
  std::string own_text(const Layer& layer) const {
    return layer.own.empty() ? "" : config_.peek("per_layer_config")->at(layer.own).dump();
  }

  Section config_of(const Layer& layer) const {
    return layer.own.empty() ? config_ : config_.under(config_.child("per_layer_config").child(layer.own));
  }

  // Lightning attention of Ling 2.5: its own heads, turned by partial_rotary_factor.
  std::vector<LayerRope> linear_rope(const Parameters& parameters, const Layer& layer) const {
    const std::optional<RopeConfig> base = parameters.rope(layer);
    if (!base) return {};
    RopeConfig rope = *base;
    rope.head_dim = read_head_dim(config_, family_, sizes_);
    rope.rotary_dim = partial_width(config_, rope.head_dim,
                                    config_.number_or("partial_rotary_factor", family_->partial, "of the model type"));
    rope.rotary_offset = 0;
    rope.pairing = Pairing::kHalf;
    return {{Role::kLinearAttention, 0, parameters.label(layer.kind), std::move(rope)}};
  }

  std::vector<LayerRope> ropes_of(const Parameters& parameters, const Layer& layer) const {
    std::optional<RopeConfig> rope = parameters.rope(layer);
    if (!rope) return {};  // an explicit null for this kind of layer
    const bool global = layer.kind == kind_name('F');
    const bool proportional = std::holds_alternative<ProportionalScaling>(rope->scaling);
    const Section block = *parameters.block(layer.kind);
    const Geometry geometry =
        read_geometry(config_of(layer), family_, sizes_, global, {block, layer.partial}, proportional);
    rope->head_dim = geometry.head_dim;
    rope->rotary_dim = geometry.rotary_dim;
    rope->rotary_offset = geometry.rotary_offset;
    std::vector<LayerRope> out;
    std::vector<RopeConfig> parts = with_axes(config_, block, family_, *rope);
    for (RopeConfig& part : parts) out.push_back({role_, 0, parameters.label(layer.kind), std::move(part)});
    if (out.size() == 2) {  // the halves of a vision head
      out[0].group = "rows";
      out[1].group = "columns";
    }
    if (const auto indexer = indexer_rope(parameters, layer, out.front().config)) out.push_back(*indexer);
    return out;
  }

  std::optional<LayerRope> indexer_rope(const Parameters& parameters, const Layer& layer,
                                        const RopeConfig& main) const {
    if (family_ == nullptr || family_->indexer == IndexerRule::kNone || !config_.has("index_head_dim"))
      return std::nullopt;
    static constexpr std::array<std::string_view, 4> kIndexed = {"all", "indexed_attention", "minimax_m3_sparse",
                                                                 "compressed_sparse_attention"};
    if (std::find(kIndexed.begin(), kIndexed.end(), layer.kind) == kIndexed.end()) return std::nullopt;
    const auto width = static_cast<int>(config_.integer("index_head_dim", 1, kMaxWidth).value_or(0));
    LayerRope indexer{Role::kIndexer, 0, parameters.label(layer.kind), main};
    RopeConfig& rope = indexer.config;
    const bool tail = family_->indexer == IndexerRule::kHalfTail || family_->indexer == IndexerRule::kInterleavedTail;
    const bool half = family_->indexer == IndexerRule::kHalf || family_->indexer == IndexerRule::kHalfTail;
    rope.head_dim = width;
    rope.rotary_dim = std::min(main.rotary_dim, width);
    rope.rotary_offset = tail ? width - rope.rotary_dim : 0;
    rope.pairing = parameters.pairing("indexer_rope_interleave", half ? Pairing::kHalf : Pairing::kInterleaved);
    rope.inverse_on_output = false;
    rope.query_scale = {};
    if (auto* yarn = std::get_if<YarnScaling>(&rope.scaling)) yarn->softmax_scale = false;
    return indexer;
  }

  // Kinds of layers that turn alike are one group, named by the first of them, or "all" where there is no other.
  void name_groups() {
    for (const Role role : {role_, Role::kIndexer, Role::kLinearAttention}) {
      std::vector<LayerRope*> firsts;  // of each config
      bool one_kind = true;
      for (LayerRope& rope : tower_.ropes) {
        if (rope.role != role) continue;
        const auto same =
            std::find_if(firsts.begin(), firsts.end(), [&](const LayerRope* f) { return f->config == rope.config; });
        if (same == firsts.end()) {
          firsts.push_back(&rope);
          continue;
        }
        one_kind &= rope.group == (*same)->group;
        rope.group = (*same)->group;
      }
      if (one_kind || firsts.size() != 1) continue;
      for (LayerRope& rope : tower_.ropes) {
        if (rope.role == role) rope.group = "all";
      }
    }
  }

  const Section config_;
  const Family* family_;
  const Sizes* sizes_;
  Role role_;
  Layers layers_;
  Tower tower_;
  // By what can make a difference, so that each rope is read once.
  std::map<std::tuple<std::string, std::optional<double>, std::optional<double>, std::string>, std::vector<LayerRope>>
      configs_;
};

}  // namespace

Tower read_tower(const Section& config, const Family* family, std::string_view type, Role role) {
  return TowerReader(config, family, type, role).read();
}

}  // namespace ropecache::model
