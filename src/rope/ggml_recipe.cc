// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// What ggml's rope operator is given for a rope, as llama.cpp gives it (ggml rope_yarn, ggml_mrope_cache_init;
// llama.cpp's converter and llama-context for the parameters).
#include <algorithm>
#include <cstddef>
#include <variant>

#include "rope/check.h"
#include "rope/rules.h"

namespace ropecache::rope {
namespace {

// ggml VISION: two blocks of one width, each with its own running product.
bool is_ggml_vision(const RopeConfig& config) {
  const std::vector<int>& sections = config.axes.sections;
  return config.axes.layout == AxisLayout::kAxial && sections.size() == 2 && sections[0] == sections[1] &&
         config.exponent_dim == 0;
}

bool has_rule(const RopeConfig& config, const Pairs& pairs) {
  if (const auto* ntk = std::get_if<NtkScaling>(&config.scaling); ntk != nullptr && ntk->mixed_b) return false;
  switch (config.axes.layout) {
    case AxisLayout::kErnie:
    case AxisLayout::kAxialAlternating:
    case AxisLayout::kAlternating:
    case AxisLayout::kAxialPairs: return false;
    case AxisLayout::kAxial: return is_ggml_vision(config);
    default: return pairs.axis_count <= 4;
  }
}

// Divisors of the rule and of the config together; a factor of 1e30 is how GGUF files say "does not turn".
std::vector<float> freq_factors(const Terms& terms, const std::vector<double>& divisors, int pairs) {
  std::vector<float> factors;
  for (int pair = 0; pair < pairs; ++pair) {
    const auto i = static_cast<std::size_t>(pair);
    Wide factor = terms.divisors.empty() ? Wide(1) : terms.divisors[i];
    const bool turns = !factor.is_zero() && (divisors.empty() || divisors[i] < kNoTurn);
    if (turns && !divisors.empty()) factor = factor * Wide::decimal(divisors[i]);
    factors.push_back(turns ? factor.to_float() : static_cast<float>(kNoTurn));
  }
  const bool all_one = std::all_of(factors.begin(), factors.end(), [](float f) { return f == 1.0f; });
  return all_one ? std::vector<float>() : factors;
}

}  // namespace

std::optional<GgmlRecipe> ggml_recipe_of(const RopeConfig& config, const Pairs& pairs, Length length) {
  if (!has_rule(config, pairs)) return std::nullopt;
  const Terms terms = terms_of(config, pairs, length);
  const bool vision = is_ggml_vision(config);

  GgmlRecipe recipe;
  recipe.n_dims = vision ? config.rotary_dim / 2 : config.rotary_dim;
  // The operator's exponent is always 2i / n_dims.
  const Wide log_base = terms.log_base * Wide(config.rotary_dim) / Wide(exponent_dim(config));
  const auto* dynamic = std::get_if<DynamicNtkScaling>(&config.scaling);
  const bool base_as_given = exponent_dim(config) == config.rotary_dim &&
                             !std::holds_alternative<NtkAlphaScaling>(config.scaling) &&
                             !std::holds_alternative<NtkScaling>(config.scaling) &&
                             (dynamic == nullptr || dynamic_length(*dynamic, length) == dynamic->original_context);
  recipe.freq_base = base_as_given ? static_cast<float>(config.theta) : exp(log_base).to_float();
  recipe.freq_scale = 1.0f / terms.divisor.to_float();
  recipe.freq_factors = freq_factors(terms, config.divisors, pairs.count());

  Wide magnitude = magnitude_of(config, length);
  if (const auto* yarn = std::get_if<YarnScaling>(&config.scaling)) {
    recipe.freq_scale = 1.0f / static_cast<float>(yarn->factor);
    recipe.ext_factor = static_cast<float>(yarn->extrapolation_factor);
    if (recipe.ext_factor != 0.0f) {
      recipe.n_ctx_orig = yarn->original_context;
      recipe.beta_fast = static_cast<float>(yarn->beta_fast);
      recipe.beta_slow = static_cast<float>(yarn->beta_slow);
      // The operator multiplies by this by itself, for factors below 1 too.
      const Wide own = 1 + log(Wide::decimal(yarn->factor)) / Wide(10);
      if (own.sign() <= 0) return std::nullopt;
      magnitude = magnitude / own;
    }
  }
  recipe.attn_factor = magnitude.to_float();
  if (vision) {
    recipe.restarts.assign(static_cast<std::size_t>(pairs.count()), 0);
    recipe.restarts[static_cast<std::size_t>(config.axes.sections[0])] = 1;
  }
  return recipe;
}

}  // namespace ropecache::rope
