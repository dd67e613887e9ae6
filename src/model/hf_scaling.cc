// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "model/hf_scaling.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "text.h"

namespace ropecache::model {

namespace {

enum class Kind : std::uint8_t { kNone, kLinear, kDynamic, kNtk, kYarn, kLlama3, kLongRope, kProportional };

struct TypeName {
  std::string_view name;
  Kind kind;
  double slope = 0.1;  // of YaRN's magnitude
};

// Every spelling that is known. "mrope", "xdrope" and "axial" speak of axes; what they leave to scaling is on the
// right.
constexpr TypeName kTypes[] = {
    {"default", Kind::kNone},
    {"none", Kind::kNone},
    {"mrope", Kind::kNone},
    {"axial", Kind::kNone},
    {"linear", Kind::kLinear},
    {"dynamic", Kind::kDynamic},
    {"xdrope", Kind::kDynamic},
    {"ntk", Kind::kNtk},
    {"yarn", Kind::kYarn},
    {"deepseek_yarn", Kind::kYarn},
    {"llama3", Kind::kLlama3},
    {"longrope", Kind::kLongRope},
    {"su", Kind::kLongRope},
    {"proportional", Kind::kProportional},
    {"telechat3-yarn", Kind::kYarn, 0.07},  // vLLM
};

constexpr std::size_t kMostListed = 400;  // characters of keys in one warning
constexpr int kMostIgnored = 200;         // keys of a block that are listed one by one; a file with more is no model's

// Keys of a block that other functions read.
constexpr std::array<std::string_view, 10> kOthersKeys = {"rope_type",
                                                         "type",
                                                         "rope_theta",
                                                         "partial_rotary_factor",
                                                         "mrope_section",
                                                         "xdrope_section",
                                                         "mrope_interleaved",
                                                         "interleaved",
                                                         "llama_4_scaling_beta",
                                                         "max_position_embeddings"};

const TypeName* find_type(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(kTypes), std::end(kTypes), [&](const TypeName& t) { return t.name == name; });
  return found == std::end(kTypes) ? nullptr : found;
}

std::string known_types() {
  std::string names;
  for (const TypeName& type : kTypes) names += (names.empty() ? "" : ", ") + std::string(type.name);
  return names;
}

// rope_type goes before type, as in transformers; that they disagree is worth a warning unless one is about axes only.
const TypeName& read_type(const Section& block) {
  const auto rope_type = block.text("rope_type");
  const auto older = block.text("type");
  const std::string name = rope_type ? *rope_type : older ? *older : "default";
  const TypeName* type = find_type(name);
  if (type == nullptr) block.refuse(rope_type ? "rope_type" : "type", "one of " + known_types());
  if (!rope_type || !older || *rope_type == *older) return *type;
  const TypeName* other = find_type(*older);
  if (other == nullptr) block.refuse("type", "one of " + known_types());
  // A re-saved M-RoPE file has rope_type "default" beside type "mrope"; HunYuan-VL has "dynamic" beside "xdrope".
  if (other->kind != type->kind && other->name != "mrope") {
    block.audit().warn(
        text(block.path("rope_type"), " is ", *rope_type, " and type is ", *older, "; rope_type is taken"));
  }
  return *type;
}

std::int64_t read_original(const Section& block, const ScalingContext& context) {
  constexpr std::string_view key = "original_max_position_embeddings";
  const std::int64_t most = std::int64_t{1} << 40;
  const auto inside = block.integer(key, 1, most);
  // A value beside a flat block goes before the one inside (transformers; Phi-3 writes it there).
  if (!context.outer.exists() && !block.is_preset()) {
    if (const auto beside = context.config.integer(key, 1, most)) {
      if (inside && *inside != *beside) {
        block.audit().warn(text(context.config.path(key), " is ", *beside, " and ", block.path(key), " is ", *inside,
                                "; the first is taken"));
      }
      return *beside;
    }
  }
  if (inside) return *inside;
  const bool phi3 = context.family != nullptr && (context.family->scaling == ScalingRule::kPhi3);
  const std::int64_t fallback = phi3 ? 4096 : context.max_context;
  if (fallback == 0) block.refuse(key, "the length the model was trained at");
  block.defaulted(key, fallback, phi3 ? "of the model type" : "max_position_embeddings");
  return fallback;
}

double read_factor(const Section& block) {
  const auto factor = block.positive("factor");
  if (!factor) block.refuse("factor", "a number above 0");
  return *factor;
}

// YaRN takes max / original where factor is null. Where all three are there the factor counts.
double read_yarn_factor(const Section& block, const ScalingContext& context, std::int64_t original) {
  const double implied =
      context.max_context > 0 ? static_cast<double>(context.max_context) / static_cast<double>(original) : 0;
  const auto factor = block.positive("factor");
  if (!factor) {
    if (!block.contains("factor") || implied <= 0) block.refuse("factor", "a number above 0");
    block.defaulted("factor", implied, "max_position_embeddings / original_max_position_embeddings");
    return implied;
  }
  if (implied > 1 && implied != *factor) {
    block.audit().warn(text(block.path("factor"), " is ", *factor, " but max_position_embeddings / original is ",
                            implied, "; the factor is taken"));
  }
  return *factor;
}

// Zero counts as missing, as in transformers.
double read_beta(const Section& block, std::string_view key, double standard) {
  const bool zero = block.glance(key) == 0.0 && !block.is_preset();
  if (zero) {
    block.audit().warn(text(block.path(key), " is 0, which counts as missing; ", standard, " is taken"));
    block.ignore(key, "0 counts as missing");
  }
  if (!zero && block.has(key)) return *block.number(key);
  block.defaulted(key, standard, "YaRN");
  return standard;
}

YarnScaling read_yarn(const Section& block, const ScalingContext& context, double slope) {
  YarnScaling yarn;
  yarn.slope = slope;
  yarn.original_context = read_original(block, context);
  yarn.factor = read_yarn_factor(block, context, yarn.original_context);
  yarn.attention_factor = block.positive("attention_factor");
  // The two make the magnitude together; the second alone makes DeepSeek's softmax scale. Unread they are reported.
  yarn.softmax_scale = context.family != nullptr && context.family->softmax_scale;
  const bool both = block.glance("mscale").value_or(0) != 0 && block.glance("mscale_all_dim").value_or(0) != 0;
  const bool mscale_counts = both && !yarn.attention_factor;
  if (mscale_counts) yarn.mscale = block.number("mscale");
  if (mscale_counts || yarn.softmax_scale) yarn.mscale_all_dim = block.number("mscale_all_dim");
  if (const auto multiplier = block.positive("attn_factor")) yarn.attention_multiplier = *multiplier;
  if (const auto ramp = block.positive("extrapolation_factor")) yarn.extrapolation_factor = *ramp;
  yarn.beta_fast = read_beta(block, "beta_fast", yarn.beta_fast);
  yarn.beta_slow = read_beta(block, "beta_slow", yarn.beta_slow);
  if (const auto truncate = block.boolean("truncate")) {
    yarn.truncate = *truncate;
    if (context.outer.exists()) {
      block.audit().warn(block.path("truncate") + " is taken; transformers 5.24 reads it beside the layer types only");
    }
  } else if (const auto outer = context.outer.boolean("truncate")) {
    yarn.truncate = *outer;
  }
  if (context.family != nullptr && context.family->scaling == ScalingRule::kOnCompressed && !yarn.attention_factor) {
    yarn.attention_factor = 1.0;
    block.defaulted("attention_factor", 1.0, "of the model type");
  }
  return yarn;
}

LongRopeScaling read_longrope(const Section& block, const ScalingContext& context) {
  LongRopeScaling longrope;
  const auto short_factor = block.numbers("short_factor");
  const auto long_factor = block.numbers("long_factor");
  if (!short_factor) block.refuse("short_factor", "a list of numbers");
  if (!long_factor) block.refuse("long_factor", "a list of numbers");
  longrope.short_factor = *short_factor;
  longrope.long_factor = *long_factor;
  longrope.original_context = read_original(block, context);
  longrope.max_context = context.max_context;
  longrope.factor = block.positive("factor");
  longrope.attention_factor = block.positive("attention_factor");
  if (!longrope.factor && !longrope.attention_factor && longrope.max_context == 0) {
    block.refuse("factor", "a number above 0, or max_position_embeddings");
  }
  const bool own_magnitudes = context.family == nullptr || context.family->scaling == ScalingRule::kPhiMoe;
  if (own_magnitudes) {
    longrope.short_mscale = block.positive("short_mscale");
    longrope.long_mscale = block.positive("long_mscale");
  }
  return longrope;
}

Llama3Scaling read_llama3(const Section& block, const ScalingContext& context) {
  Llama3Scaling llama3;
  llama3.factor = read_factor(block);
  const auto low = block.positive("low_freq_factor");
  const auto high = block.positive("high_freq_factor");
  if (!low) block.refuse("low_freq_factor", "a number above 0");
  if (!high) block.refuse("high_freq_factor", "a number above 0");
  llama3.low_freq_factor = *low;
  llama3.high_freq_factor = *high;
  llama3.original_context = read_original(block, context);
  return llama3;
}

// "dynamic": by length; but HunYuan's files mean a fixed base by `alpha` (vLLM reads any file with alpha so).
Scaling read_dynamic(const Section& block, const ScalingContext& context) {
  if (const auto alpha = block.positive("alpha")) return NtkAlphaScaling{*alpha};
  DynamicNtkScaling dynamic;
  dynamic.factor = read_factor(block);
  dynamic.original_context = context.max_context;
  if (context.max_context == 0)
    context.config.refuse("max_position_embeddings", "a length: the scaling type is dynamic");
  return dynamic;
}

Scaling read_scaling(Kind kind, double slope, const Section& block, const ScalingContext& context) {
  switch (kind) {
    case Kind::kNone: return {};
    case Kind::kLinear: return LinearScaling{read_factor(block)};
    case Kind::kDynamic: return read_dynamic(block, context);
    case Kind::kNtk: return NtkScaling{read_factor(block), block.number("mixed_b")};
    case Kind::kYarn: return read_yarn(block, context, slope);
    case Kind::kLlama3: return read_llama3(block, context);
    case Kind::kLongRope: return read_longrope(block, context);
    case Kind::kProportional: {
      ProportionalScaling proportional;
      proportional.partial = block.number_or("partial_rotary_factor", proportional.partial, "of the scaling type");
      proportional.factor = block.number_or("factor", proportional.factor, "of the scaling type");
      if (proportional.factor <= 0) block.refuse("factor", "a number above 0");
      return proportional;
    }
  }
  return {};
}

// What no rule asked for has no effect; a reader should hear of it.
void account_for_the_rest(const Section& block, std::string_view type) {
  if (!block.exists() || block.is_preset()) return;
  std::string keys;
  int count = 0;
  for (const auto& [key, value] : block.object()->items()) {
    if (std::find(kOthersKeys.begin(), kOthersKeys.end(), key) != kOthersKeys.end() || value.is_object()) continue;
    if (block.audit().seen.contains(block.path(key))) continue;
    if (++count > kMostIgnored)
      block.audit().refuse(text(block.path(), ": more than ", kMostIgnored, " keys that no scaling type has"));
    block.ignore(key, text("not a key of scaling type ", type));
    if (!value.is_null() && keys.size() < kMostListed) keys += (keys.empty() ? "" : ", ") + key;
  }
  if (!keys.empty()) block.audit().warn(text(block.path(), ": no effect in scaling type ", type, ": ", keys));
}

}  // namespace

RopeBlock read_block(const Section& block, const ScalingContext& context) {
  RopeBlock out;
  if (!block.exists()) return out;
  const TypeName& type = read_type(block);
  Kind kind = type.kind;
  if (context.family != nullptr && context.family->scaling == ScalingRule::kPhi3 && kind == Kind::kYarn) {
    kind = Kind::kLongRope;  // the first 128k files call it so
  }
  out.type = type.name;
  out.scaling = read_scaling(kind, type.slope, block, context);
  out.query_beta = block.number("llama_4_scaling_beta");
  if (out.query_beta) out.query_context = read_original(block, context);
  account_for_the_rest(block, scaling_name(out.scaling));
  return out;
}

}  // namespace ropecache::model
