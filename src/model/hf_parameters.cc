// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "model/hf_parameters.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "model/hf_scaling.h"
#include "text.h"

namespace ropecache::model {

namespace {

constexpr std::array<std::string_view, 4> kThetaKeys = {"rope_theta", "rotary_emb_base", "rope_base", "rotary_base"};
constexpr std::array<std::string_view, 3> kPairingKeys = {"rope_interleave", "rope_interleaved",
                                                          "rotary_emb_interleaved"};

bool is_nested(const Section& block, const std::vector<std::string>& kinds) {
  if (!block.exists()) return false;
  return std::any_of(block.object()->begin(), block.object()->end(),
                     [](const Json& value) { return value.is_object(); }) ||
         std::any_of(kinds.begin(), kinds.end(), [&](const std::string& kind) { return block.contains(kind); });
}

// rope_scaling, unless it is empty, replaces rope_parameters (transformers).
Section find_block(const Section& config) {
  const Section older = config.child("rope_scaling");
  const Section newer = config.child("rope_parameters");
  const bool older_says = older.exists() && !older.object()->empty();
  const bool newer_says = newer.exists() && !newer.object()->empty();
  if (older_says && newer_says && *older.object() != *newer.object() && !is_nested(newer, {})) {
    config.audit().warn(text(config.path("rope_scaling"), " and rope_parameters differ; rope_scaling is taken"));
  }
  return older_says && !is_nested(newer, {}) ? older : newer_says ? newer : Section(&config.audit());
}

}  // namespace

Parameters::Parameters(const Section& config, const Family* family, std::int64_t context,
                       const std::vector<std::string>& kinds)
    : config_(config), family_(family), context_(context), block_(find_block(config)) {
  if (!block_.exists() && family != nullptr && !family->preset.empty()) {
    preset_ = std::make_shared<const Json>(Json::parse(family->preset));
    block_ = Section::preset(preset_.get(), config.path("rope_parameters"), text("class default of ", family->type),
                             &config.audit());
  }
  nested_ = is_nested(block_, kinds);
  if (const Json* names = config.take("yarn_only_types")) {
    if (!names->is_array()) config.refuse("yarn_only_types", "a list of layer kinds");
    for (const Json& name : *names) {
      if (!name.is_string()) config.refuse("yarn_only_types", "a list of layer kinds");
      const auto& kind = name.get_ref<const std::string&>();
      if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
        config.audit().warn(text(config.path("yarn_only_types"), ": no layer that rotates is of kind ", short_text(name)));
      }
      scaled_kinds_.push_back(kind);
    }
  }
}

bool Parameters::is_local(std::string_view kind) const {
  const bool sliding = kind == "sliding_attention" || kind == "hybrid_sliding";
  // DeepSeek-V4: the compressed layers are those with the other base.
  return family_ != nullptr && family_->scaling == ScalingRule::kOnCompressed ? !sliding : sliding;
}

bool Parameters::scaling_reaches(std::string_view kind) const {
  if (!scaled_kinds_.empty()) return std::find(scaled_kinds_.begin(), scaled_kinds_.end(), kind) != scaled_kinds_.end();
  if (family_ == nullptr) return true;
  if (family_->scaling == ScalingRule::kOnFullOnly) return !is_local(kind);
  if (family_->scaling == ScalingRule::kOnCompressed) return is_local(kind);
  return true;
}

std::string Parameters::label(std::string_view kind) const {
  if (family_ == nullptr || family_->scaling != ScalingRule::kOnCompressed) return std::string(kind);
  return is_local(kind) ? "compress" : "main";
}

std::optional<Section> Parameters::block(std::string_view kind) const {
  if (!nested_) return block_;
  const std::string label = this->label(kind);
  if (!block_.contains(label)) {
    // Types with two ropes fill in the one that is not there.
    const bool filled =
        family_ != nullptr && (family_->local_theta != 0 || family_->scaling == ScalingRule::kOnFullOnly);
    if (!filled) block_.refuse(label, text("the rope parameters of ", kind, " layers"));
    return Section(&config_.audit());
  }
  if (!block_.has(label)) {
    block_.use(label);
    return std::nullopt;
  }
  return block_.child(label);
}

double Parameters::theta(const Layer& layer, const Section& block) const {
  if (layer.theta) return *layer.theta;
  const bool local = family_ != nullptr && family_->local_theta != 0 && is_local(layer.kind);
  // In a flat block rope_theta is the base of the kinds without one of their own.
  std::optional<double> inside;
  if (!local || nested_) inside = block.positive("rope_theta");
  std::optional<double> beside;
  std::string_view key;
  if (local) {
    if (!family_->local_theta_key.empty()) beside = config_.positive(key = family_->local_theta_key);
  } else if (family_ == nullptr) {
    key = config_.one_of(kThetaKeys);
    if (!key.empty()) beside = config_.positive(key);
  } else if (!family_->theta_factor_key.empty()) {
    const auto factor = config_.positive(key = family_->theta_factor_key);
    if (factor) beside = family_->theta * *factor;
  } else {
    const std::array<std::string_view, 2> keys = {"rope_theta", family_->theta_key};
    const std::size_t first = family_->theta_key_only ? 1 : 0;
    key = config_.one_of(std::span(keys).subspan(first, (family_->theta_key.empty() ? 1 : 2) - first));
    if (!key.empty()) beside = config_.positive(key);
  }
  if (inside && beside && *inside != *beside && !block.is_preset()) {
    config_.audit().warn(text(block.path("rope_theta"), " is ", *inside, " but ", config_.path(key), " is ", *beside,
                              "; the first is taken"));
  }
  if (inside) return *inside;
  if (beside) return *beside;
  const double fallback = family_ == nullptr ? 10000 : local ? family_->local_theta : family_->theta;
  config_.defaulted(local && !family_->local_theta_key.empty() ? family_->local_theta_key : "rope_theta", fallback,
                    family_ == nullptr ? "common default" : text("class default of ", family_->type));
  return fallback;
}

Pairing Parameters::pairing(std::string_view key, Pairing otherwise) const {
  const std::string reason = family_ == nullptr ? "common default" : text("class default of ", family_->type);
  const bool interleaved = config_.boolean_or(key, otherwise == Pairing::kInterleaved, reason);
  return interleaved ? Pairing::kInterleaved : Pairing::kHalf;
}

std::optional<RopeConfig> Parameters::rope(const Layer& layer) const {
  const std::optional<Section> block = this->block(layer.kind);
  if (!block) return std::nullopt;
  RopeConfig rope;
  rope.theta = theta(layer, *block);
  if (nested_ || scaling_reaches(layer.kind)) {
    const RopeBlock read =
        read_block(*block, {family_, config_, nested_ ? block_ : Section(&config_.audit()), context_});
    rope.scaling = read.scaling;
    if (read.query_beta && (family_ == nullptr || family_->query == QueryRule::kScalingBeta)) {
      rope.query_scale = {QueryScale::Rule::kLogFloor, *read.query_beta, static_cast<double>(read.query_context)};
    }
  }
  if (family_ == nullptr) {
    const std::string_view key = config_.one_of(kPairingKeys);
    rope.pairing = pairing(key.empty() ? kPairingKeys[0] : key, Pairing::kHalf);
  } else {
    rope.pairing = family_->pairing_key.empty() ? family_->pairing : pairing(family_->pairing_key, family_->pairing);
    rope.inverse_on_output = family_->inverse_on_output;
  }
  return rope;
}

}  // namespace ropecache::model
