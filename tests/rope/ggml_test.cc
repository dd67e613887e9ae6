// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// The ggml recipe: put through ggml's own formulas (rope_yarn, ggml_rope_cache_init; here in float64) it must give the
// rope's frequencies and magnitude.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "rope/configs.h"

namespace ropecache {
namespace {

struct Turn {
  double angle = 0;  // at position 1
  double magnitude = 0;
};

double corr_dim(const GgmlRecipe& g, double rotations) {
  return g.n_dims * std::log(static_cast<double>(g.n_ctx_orig) / (rotations * 2 * 3.14159265358979)) /
         (2 * std::log(static_cast<double>(g.freq_base)));
}

std::vector<Turn> as_ggml_would(const GgmlRecipe& g, int pairs) {
  const double theta_scale = std::pow(static_cast<double>(g.freq_base), -2.0 / g.n_dims);
  double low = 0;
  double high = 0;
  if (g.ext_factor != 0) {
    low = std::max(0.0, std::floor(corr_dim(g, static_cast<double>(g.beta_fast))));
    high = std::min(g.n_dims - 1.0, std::ceil(corr_dim(g, static_cast<double>(g.beta_slow))));
  }
  std::vector<Turn> turns;
  double theta = 1;
  for (int pair = 0; pair < pairs; ++pair) {
    const auto i = static_cast<std::size_t>(pair);
    if (!g.restarts.empty() && g.restarts[i] != 0) theta = 1;
    const double extrap = theta / (g.freq_factors.empty() ? 1 : static_cast<double>(g.freq_factors[i]));
    const double interp = static_cast<double>(g.freq_scale) * extrap;
    Turn turn{interp, static_cast<double>(g.attn_factor)};
    if (g.ext_factor != 0) {
      const double y = (pair - low) / std::max(0.001, high - low);
      const double mix = (1 - std::clamp(y, 0.0, 1.0)) * static_cast<double>(g.ext_factor);
      turn.angle = interp * (1 - mix) + extrap * mix;
      turn.magnitude *= 1 + 0.1 * std::log(1 / static_cast<double>(g.freq_scale));
    }
    turns.push_back(turn);
    theta *= theta_scale;
  }
  return turns;
}

void expect_same_rope(const RopeConfig& config, const ResolveOptions& options = {}) {
  const Rope rope = resolved(config, options);
  ASSERT_TRUE(rope.ggml.has_value()) << scaling_name(config.scaling);
  const std::vector<Turn> turns = as_ggml_would(*rope.ggml, rope.pairs());
  for (int i = 0; i < rope.pairs(); ++i) {
    const Turn& turn = turns[static_cast<std::size_t>(i)];
    EXPECT_NEAR(turn.angle, frequency(rope, i), 3e-6 * frequency(rope, i) + 1e-29)
        << scaling_name(config.scaling) << " pair " << i;
    EXPECT_NEAR(turn.magnitude, rope.magnitude.to_double(), 3e-7);
  }
}

LongRopeScaling longrope() {
  LongRopeScaling rule;
  for (int i = 0; i < 32; ++i) {
    rule.short_factor.push_back(1 + i / 100.0);
    rule.long_factor.push_back(1 + i * 2.0);
  }
  rule.original_context = 4096;
  rule.max_context = 131072;
  return rule;
}

TEST(GgmlRecipe, gives_the_rope_back_under_every_rule) {
  for (const Scaling& scaling :
       std::vector<Scaling>{std::monostate(), LinearScaling{8}, DynamicNtkScaling{4, 4096}, NtkAlphaScaling{1000},
                            NtkScaling{4, std::nullopt}, yarn(40, 4096), yarn(0.5, 4096), yarn(32, 4096, 1, 1),
                            Llama3Scaling(), Llama3Scaling{16, 1, 1, 8192}, longrope(), ProportionalScaling{0.25, 2}}) {
    expect_same_rope(with(plain(64, 5e4), scaling));
    expect_same_rope(with(plain(64, 5e4), scaling), {10000});
    RopeConfig other_exponent = with(plain(64, 5e4), scaling);
    other_exponent.exponent_dim = 80;
    if (!std::holds_alternative<YarnScaling>(scaling)) expect_same_rope(other_exponent);
    RopeConfig divided = with(plain(64, 5e4), scaling);
    for (int i = 0; i < 32; ++i) divided.divisors.push_back(i == 31 ? 1e30 : 1 + i / 7.0);
    expect_same_rope(divided);
  }
  expect_same_rope(with_axes(plain(80, 1e4), AxisLayout::kAxial, {20, 20}));
}

TEST(GgmlRecipe, carries_every_yarn_magnitude) {
  for (const YarnMagnitude magnitude : {YarnMagnitude::kHf, YarnMagnitude::kOne, YarnMagnitude::kPlain}) {
    for (const double extrapolation : {0.0, 0.5, 1.0}) {
      YarnScaling rule = yarn(40, 4096);
      rule.magnitude = magnitude;
      rule.extrapolation_factor = extrapolation;
      rule.attention_multiplier = 1.25;
      expect_same_rope(with(plain(64, 1e4), rule));
      rule.mscale = 0.7;
      rule.mscale_all_dim = 1;
      expect_same_rope(with(plain(64, 1e4), rule));
    }
  }
}

TEST(GgmlRecipe, plain_yarn_needs_no_correction) {
  EXPECT_EQ(resolved(with(plain(64, 150000), yarn(32, 4096))).ggml->attn_factor, 1.0f);
}

// ggml has no switch for it: gpt-oss runs with 8 to 18 there.
TEST(GgmlRecipe, U6_rounds_the_yarn_range_whatever_truncate_says) {
  YarnScaling rule = yarn(32, 4096);
  const Rope rounded = resolved(with(plain(64, 150000), rule));
  rule.truncate = false;
  const Rope fractional = resolved(with(plain(64, 150000), rule));
  EXPECT_NE(fractional.frequencies, rounded.frequencies);
  EXPECT_EQ(fractional.ggml, rounded.ggml);
}

TEST(GgmlRecipe, values_without_effect_have_their_defaults) {
  const GgmlRecipe plain_recipe = *resolved(plain(128, 1e6)).ggml;
  GgmlRecipe expected;
  expected.n_dims = 128;
  expected.freq_base = 1e6f;
  EXPECT_EQ(plain_recipe, expected);
  YarnScaling rule = yarn(4, 4096, 16, 2);
  rule.extrapolation_factor = 0;
  rule.magnitude = YarnMagnitude::kOne;
  expected.freq_scale = 0.25f;
  EXPECT_EQ(*resolved(with(plain(128, 1e6), rule)).ggml, expected);
}

TEST(GgmlRecipe, is_absent_where_ggml_has_no_such_rule) {
  EXPECT_FALSE(resolved(with(plain(64, 1e4), NtkScaling{4, 0.5})).ggml.has_value());
  EXPECT_FALSE(resolved(with_axes(plain(128, 5e5), AxisLayout::kErnie, {22, 22, 20})).ggml.has_value());
  EXPECT_FALSE(resolved(with_axes(plain(64, 1e4), AxisLayout::kAxialAlternating, {16, 16})).ggml.has_value());
  EXPECT_FALSE(resolved(with_axes(plain(64, 1e4), AxisLayout::kAxial, {8, 24})).ggml.has_value());
  EXPECT_FALSE(resolved(with_axes(plain(64, 1e4), AxisLayout::kSectioned, {8, 8, 8, 4, 4})).ggml.has_value());
  EXPECT_TRUE(resolved(with_axes(plain(64, 1e4), AxisLayout::kSectioned, {8, 8, 8, 8})).ggml.has_value());
  // ggml's own magnitude of such a factor is negative.
  YarnScaling rule = yarn(1e-5, 4096);
  EXPECT_FALSE(resolved(with(plain(64, 1e4), rule)).ggml.has_value());
}

}  // namespace
}  // namespace ropecache
