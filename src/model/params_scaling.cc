// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// vLLM's mapping of Mistral's yarn keys (transformers_utils/configs/mistral.py), which refuses those it does not know;
// Meta's llama and llama-models (model.py, args.py), whose code has the numbers that a file leaves out.
#include "model/params_scaling.h"

#include <array>
#include <string>
#include <utility>

#include "text.h"

namespace ropecache::model {
namespace {

constexpr std::int64_t kMaxContext = std::int64_t{1} << 31;

// The key of the files, and what the same number is called elsewhere.
struct Names {
  std::string_view key;
  std::string_view other;
};
constexpr Names kFactor = {"rope_scaling_factor", "scale_factor"};
constexpr Names kLow = {"rope_low_freq_factor", "low_freq_factor"};
constexpr Names kHigh = {"rope_high_freq_factor", "high_freq_factor"};
constexpr Names kOriginal = {"original_max_position_embeddings", "old_context_len"};
constexpr Names kFast = {"beta", "beta_fast"};
constexpr Names kSlow = {"alpha", "beta_slow"};

// How other formats write a scaling; no reader of params.json follows them.
constexpr std::array<std::string_view, 5> kForeign = {"rope_scaling", "rope_parameters", "rope_type",
                                                      "rope_scaling_type", "scaling_type"};
// Of YaRN in other formats; each would change the rope.
constexpr std::array<std::string_view, 6> kForeignYarn = {
    "mscale", "mscale_all_dim", "attention_factor", "attention_scaling", "truncate", "extrapolation_factor"};

[[noreturn]] void unsupported(const Section& section, std::string_view key, std::string_view expected) {
  section.audit().refuse(text(section.path(key), ": ", short_text(*section.peek(key)), ", expected ", expected),
                         StatusCode::kUnsupported);
}

bool has_either(const Section& section, const Names& names) {
  return section.has(names.key) || section.has(names.other);
}

std::optional<double> either(const Section& section, const Names& names) {
  const auto first = section.positive(names.key);
  const auto second = section.positive(names.other);
  if (first && second && *first != *second) {
    section.refuse(names.other, text("the same as ", section.path(names.key), ", ", *first));
  }
  return first ? first : second;
}

std::optional<std::int64_t> original_context(const Section& section) {
  if (!either(section, kOriginal)) return std::nullopt;
  const std::string_view key = section.has(kOriginal.key) ? kOriginal.key : kOriginal.other;
  return section.integer(key, 1, kMaxContext);
}

void ignore_either(const Section& section, const Names& names, std::string_view reason) {
  section.ignore_if_present(names.key, reason);
  section.ignore_if_present(names.other, reason);
}

Llama3Scaling read_llama3(const Section& file) {
  const bool llama4 = file.has("nope_layer_interval");
  Llama3Scaling rule;
  rule.factor = llama4 ? 16 : 8;
  rule.high_freq_factor = llama4 ? 1 : 4;
  if (const auto factor = either(file, kFactor)) {
    rule.factor = *factor;
  } else {
    file.defaulted(kFactor.key, rule.factor, llama4 ? "of Llama 4 Scout" : "of Llama 3.1 and 3.3");
    file.audit().warn(text("use_scaled_rope without rope_scaling_factor: ", rule.factor, " is assumed",
                           llama4 ? "" : "; Llama 3.2 needs 32"));
  }
  if (const auto high = either(file, kHigh)) {
    rule.high_freq_factor = *high;
  } else {
    file.defaulted(kHigh.key, rule.high_freq_factor, "of this release");
  }
  if (const auto original = original_context(file)) {
    rule.original_context = *original;
  } else {
    file.defaulted(kOriginal.key, rule.original_context, "in the code of every release");
  }
  if (const auto low = either(file, kLow)) {
    rule.low_freq_factor = *low;
  } else {
    file.defaulted(kLow.other, rule.low_freq_factor, "in the code of every release");
  }
  return rule;
}

double beta(const Section& yarn, const Names& names, double standard) {
  const auto given = either(yarn, names);
  if (!given) yarn.defaulted(names.key, standard, "of YaRN");
  return given.value_or(standard);
}

YarnScaling read_yarn(const Section& yarn, bool latent) {
  for (const std::string_view key : {"type", "rope_type"}) {
    if (const auto type = yarn.text(key); type && *type != "yarn") unsupported(yarn, key, "\"yarn\"");
  }
  for (const std::string_view key : kForeignYarn) {
    if (yarn.has(key)) {
      unsupported(yarn, key, "of yarn only factor, original_max_position_embeddings, beta, alpha and apply_scale");
    }
  }
  YarnScaling rule;
  const auto factor = yarn.positive("factor");
  if (!factor) yarn.refuse("factor", "a number above 0");
  const auto original = original_context(yarn);
  if (!original) yarn.refuse(kOriginal.key, "the original context length");
  rule.factor = *factor;
  rule.original_context = *original;
  rule.beta_fast = beta(yarn, kFast, 32);
  rule.beta_slow = beta(yarn, kSlow, 1);
  const auto scale = yarn.boolean("apply_scale");
  if (!scale) yarn.defaulted("apply_scale", true, "YaRN's magnitude is on cos and sin unless the file says otherwise");
  rule.magnitude = scale.value_or(true) ? YarnMagnitude::kPlain : YarnMagnitude::kOne;
  if (latent) {
    // Latent attention carries the magnitude, squared, in the softmax scale (DeepSeek-V3's rule with mscale 1).
    rule.softmax_scale = true;
    rule.mscale_all_dim = 1;
  }
  return rule;
}

// Whether Meta's rule is on. Its numbers without its switch are a question that the file does not answer.
bool is_scaled(const Section& file, bool meta) {
  const auto scaled = file.boolean("use_scaled_rope");
  for (const Names& names : {kFactor, kLow, kHigh}) {
    if (scaled.value_or(false)) break;
    if (scaled) {
      ignore_either(file, names, "use_scaled_rope is false");
    } else if (has_either(file, names)) {
      const std::string_view key = file.has(names.key) ? names.key : names.other;
      file.refuse("use_scaled_rope", text("true or false beside ", key, ", which is ", short_text(*file.peek(key))));
    }
  }
  if (!scaled && meta) file.defaulted("use_scaled_rope", false, "of the reference code");
  return scaled.value_or(false);
}

}  // namespace

Scaling read_params_scaling(const Section& file, bool meta, bool latent) {
  for (const std::string_view key : kForeign) {
    if (file.has(key)) unsupported(file, key, "the scaling of params.json: yarn (Mistral) or use_scaled_rope (Meta)");
  }
  const Section yarn = file.child("yarn");
  if (is_scaled(file, meta)) {
    if (yarn.exists()) unsupported(file, "yarn", "none beside use_scaled_rope");
    return read_llama3(file);
  }
  if (yarn.exists()) {
    YarnScaling rule = read_yarn(yarn, latent);
    const auto original = original_context(file);
    if (original && *original != rule.original_context) {
      file.refuse(file.has(kOriginal.key) ? kOriginal.key : kOriginal.other,
                  text("the same as in yarn, ", rule.original_context));
    }
    return rule;
  }
  ignore_either(file, kOriginal, "no scaling rule of this file needs it");
  return {};
}

}  // namespace ropecache::model
