// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "table/recipe.h"

#include <algorithm>
#include <cmath>

#include "rope/wide.h"

namespace ropecache {
namespace {

float rounded_log(float x) { return log(Wide::exactly(static_cast<double>(x))).to_float(); }

// ggml.c, ggml_rope_yarn_corr_dim: all in fp32.
float correction_dim(const GgmlRecipe& recipe, float rotations) {
  const float two_pi_rotations = rotations * 2.0f * 3.14159265358979323846f;
  const float numerator =
      static_cast<float>(recipe.n_dims) * rounded_log(static_cast<float>(recipe.n_ctx_orig) / two_pi_rotations);
  return numerator / (2.0f * rounded_log(recipe.freq_base));
}

}  // namespace

float ggml_magnitude(const GgmlRecipe& recipe) {
  if (recipe.ext_factor == 0) return recipe.attn_factor;
  return recipe.attn_factor * (1.0f + 0.1f * rounded_log(1.0f / recipe.freq_scale));
}

GgmlAngles::GgmlAngles(const GgmlRecipe& recipe, int pairs) : recipe_(recipe) {
  const float exponent = -2.0f / static_cast<float>(recipe.n_dims);
  theta_scale_ = pow(Wide::exactly(static_cast<double>(recipe.freq_base)), Wide::exactly(static_cast<double>(exponent)))
                     .to_float();
  if (recipe.ext_factor != 0) {
    const float low = std::max(0.0f, std::floor(correction_dim(recipe, recipe.beta_fast)));
    const float high =
        std::min(static_cast<float>(recipe.n_dims - 1), std::ceil(correction_dim(recipe, recipe.beta_slow)));
    for (int i = 0; i < pairs; ++i) {
      const float y = (static_cast<float>(i) - low) / std::max(0.001f, high - low);
      ramp_.push_back((1.0f - std::min(1.0f, std::max(0.0f, y))) * recipe.ext_factor);
    }
  }
}

float GgmlAngles::at(float position, std::size_t pair) const noexcept {
  std::size_t first = pair;  // where the running product starts
  while (first > 0 && (recipe_.restarts.empty() || recipe_.restarts[first] == 0)) --first;
  float theta = position;
  for (std::size_t i = first; i < pair; ++i) theta *= theta_scale_;
  const float extrapolated = recipe_.freq_factors.empty() ? theta : theta / recipe_.freq_factors[pair];
  const float interpolated = recipe_.freq_scale * extrapolated;
  return ramp_.empty() ? interpolated : interpolated * (1.0f - ramp_[pair]) + extrapolated * ramp_[pair];
}

}  // namespace ropecache
