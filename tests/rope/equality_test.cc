// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Two configs that mean the same give the same contents of the exact table; fields without effect change nothing.
#include <gtest/gtest.h>

#include <vector>

#include "rope/configs.h"

namespace ropecache {
namespace {

void expect_same_table(const RopeConfig& a, const RopeConfig& b) {
  const Rope x = resolved(a);
  const Rope y = resolved(b);
  EXPECT_EQ(x.frequencies, y.frequencies);
  EXPECT_EQ(x.axes, y.axes);
  EXPECT_EQ(x.magnitude, y.magnitude);
}

TEST(Equality, rules_that_change_nothing_are_none) {
  for (const double theta : {1e4, 1e6, 500000.0, 1000042.0, 123.456}) {
    const RopeConfig none = plain(128, theta);
    const Rope rope = resolved(none);
    EXPECT_EQ(resolved(with(none, LinearScaling{1})), rope);
    EXPECT_EQ(resolved(with(none, NtkAlphaScaling{1})), rope);
    EXPECT_EQ(resolved(with(none, DynamicNtkScaling{4, 4096})), rope);
    EXPECT_EQ(resolved(with(none, ProportionalScaling{1, 1})), rope);
    expect_same_table(with(none, NtkScaling{1, std::nullopt}), none);
    expect_same_table(with(none, NtkScaling{1, 0.7}), none);
    expect_same_table(with(none, yarn(1, 4096)), none);
    expect_same_table(with(none, Llama3Scaling{1, 1, 4, 8192}), none);

    RopeConfig divided = none;
    divided.divisors.assign(64, 1);
    EXPECT_EQ(resolved(divided), rope);
    RopeConfig spelled = none;
    spelled.exponent_dim = 128;
    EXPECT_EQ(resolved(spelled), rope);
  }
}

TEST(Equality, one_rope_told_by_different_rules) {
  const RopeConfig linear = with(plain(96, 1e4), LinearScaling{2.5});
  LongRopeScaling longrope;
  longrope.short_factor.assign(48, 2.5);
  longrope.long_factor.assign(48, 7);
  longrope.original_context = longrope.max_context = 4096;
  expect_same_table(with(plain(96, 1e4), longrope), linear);

  RopeConfig divided = plain(96, 1e4);
  divided.divisors.assign(48, 2.5);
  expect_same_table(divided, linear);

  YarnScaling all_interpolated = yarn(2.5, 4096);
  all_interpolated.extrapolation_factor = 0;
  all_interpolated.magnitude = YarnMagnitude::kOne;
  expect_same_table(with(plain(96, 1e4), all_interpolated), linear);

  expect_same_table(with(plain(96, 1e4), ProportionalScaling{1, 2.5}), linear);
  expect_same_table(with(plain(96, 1e4), NtkScaling{2.5, 0}), linear);
}

// base^(-2i/r) at r and base^2 at 2r: the same numbers by another road.
TEST(Equality, exponent_and_base_cancel) {
  RopeConfig squared = plain(64, 1e8);
  squared.exponent_dim = 128;
  expect_same_table(squared, plain(64, 1e4));
}

TEST(Equality, pairs_that_stand_still_by_two_roads) {
  RopeConfig divided = plain(64, 1e6);
  divided.divisors.assign(32, 1);
  for (std::size_t i = 8; i < 32; ++i) divided.divisors[i] = 1e30;
  expect_same_table(divided, with(plain(64, 1e6), ProportionalScaling{0.25, 1}));
  EXPECT_EQ(resolved(divided), resolved(with(plain(64, 1e6), ProportionalScaling{0.25, 1})));
}

TEST(Equality, proportional_counts_pairs_in_real_arithmetic) {
  const auto turning = [](double partial, int dim) {
    int count = 0;
    for (const Real& f : resolved(with(plain(dim, 1e4), ProportionalScaling{partial, 1})).frequencies) {
      count += !f.is_zero();
    }
    return count;
  };
  EXPECT_EQ(turning(0.35, 80), 14);
  EXPECT_EQ(turning(0.1, 20), 1);
  EXPECT_EQ(turning(0.3, 20), 3);
  EXPECT_EQ(turning(0.29, 20), 2);
  EXPECT_EQ(turning(0, 20), 0);
  EXPECT_EQ(turning(1, 20), 10);
}

TEST(Equality, fields_without_effect_change_nothing) {
  LongRopeScaling a;
  a.short_factor.assign(32, 1.1);
  a.long_factor.assign(32, 3);
  a.original_context = 4096;
  a.factor = 4;
  LongRopeScaling b = a;
  b.max_context = 999999;        // factor is given
  b.long_factor.assign(32, 60);  // the short list is taken
  b.long_mscale = 1.5;
  EXPECT_EQ(resolved(with(plain(64, 1e4), a)), resolved(with(plain(64, 1e4), b)));

  YarnScaling x = yarn(8, 8192);
  YarnScaling y = x;
  y.mscale = 0.7;  // without mscale_all_dim
  EXPECT_EQ(resolved(with(plain(64, 1e4), x)), resolved(with(plain(64, 1e4), y)));
  x.attention_factor = y.attention_factor = 1.25;
  y.mscale_all_dim = 0.7;
  EXPECT_EQ(resolved(with(plain(64, 1e4), x)), resolved(with(plain(64, 1e4), y)));

  RopeConfig silent = plain(64, 1e4);
  silent.query_scale = {QueryScale::Rule::kNone, 0.1, 8192};
  EXPECT_EQ(resolved(silent), resolved(plain(64, 1e4)));
  silent.query_scale = {QueryScale::Rule::kLogFloor, 0, 8192};
  EXPECT_EQ(resolved(silent), resolved(plain(64, 1e4)));
}

TEST(Equality, length_counts_only_where_a_rule_has_one) {
  for (const Scaling& scaling : std::vector<Scaling>{std::monostate(), LinearScaling{4}, NtkAlphaScaling{1000},
                                                     NtkScaling{4, std::nullopt}, yarn(4, 4096), Llama3Scaling(),
                                                     ProportionalScaling{0.5, 2}}) {
    EXPECT_EQ(resolved(with(plain(64, 1e4), scaling), 1 << 20), resolved(with(plain(64, 1e4), scaling)));
  }
  const RopeConfig dynamic = with(plain(64, 1e4), DynamicNtkScaling{4, 4096});
  EXPECT_NE(resolved(dynamic, 8192).frequencies, resolved(dynamic).frequencies);
  EXPECT_NE(resolved(dynamic, 8192).frequencies, resolved(dynamic, 8193).frequencies);
}

TEST(Equality, the_decimal_of_a_number_is_meant) {
  // 0.1 is one tenth: 10 / 0.1 is exactly 100.
  expect_same_table(with(plain(64, 1e4), LinearScaling{0.1}), with(plain(64, 1e4), ProportionalScaling{1, 0.1}));
  EXPECT_EQ(resolved(with(plain(64, 1e4), LinearScaling{0.1})).frequencies[0].to_decimal(50), "10");
}

TEST(Equality, placement_and_the_rest_are_handed_on) {
  RopeConfig config = plain(64, 1.6e5);
  config.head_dim = 512;
  config.rotary_offset = 448;
  config.pairing = Pairing::kInterleaved;
  config.inverse_on_output = true;
  const Rope rope = resolved(config);
  EXPECT_EQ(rope.head_dim, 512);
  EXPECT_EQ(rope.rotary_dim, 64);
  EXPECT_EQ(rope.rotary_offset, 448);
  EXPECT_EQ(rope.pairing, Pairing::kInterleaved);
  EXPECT_TRUE(rope.inverse_on_output);
  EXPECT_EQ(rope.frequencies, resolved(plain(64, 1.6e5)).frequencies);
}

TEST(Equality, scaling_names) {
  EXPECT_EQ(scaling_name(Scaling()), "none");
  EXPECT_EQ(scaling_name(LinearScaling()), "linear");
  EXPECT_EQ(scaling_name(DynamicNtkScaling()), "dynamic");
  EXPECT_EQ(scaling_name(NtkAlphaScaling()), "ntk-alpha");
  EXPECT_EQ(scaling_name(NtkScaling()), "ntk");
  EXPECT_EQ(scaling_name(YarnScaling()), "yarn");
  EXPECT_EQ(scaling_name(Llama3Scaling()), "llama3");
  EXPECT_EQ(scaling_name(LongRopeScaling()), "longrope");
  EXPECT_EQ(scaling_name(ProportionalScaling()), "proportional");
}

}  // namespace
}  // namespace ropecache
