// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// YaRN as other engines got it wrong, as figures; see cases_test.cc.
#include <gtest/gtest.h>

#include <cmath>

#include "rope/configs.h"

namespace ropecache {
namespace {

Rope deepseek(double mscale, double mscale_all_dim) {
  YarnScaling rule = yarn(40, 4096);
  rule.mscale = mscale;
  rule.mscale_all_dim = mscale_all_dim;
  rule.softmax_scale = true;
  return resolved(with(plain(64, 10000), rule));
}

// ggml multiplies by its own magnitude; a table must not hold it twice. ikawrakow/ik_llama.cpp#970
TEST(YarnCases, B4_ggml_attn_factor_cancels_its_own_magnitude) {
  const Rope rope = deepseek(1, 1);
  ASSERT_TRUE(rope.ggml.has_value());
  EXPECT_EQ(rope.ggml->freq_scale, 0.025f);
  EXPECT_EQ(rope.ggml->ext_factor, 1.0f);
  EXPECT_EQ(rope.ggml->n_ctx_orig, 4096);
  expect_digits(static_cast<double>(rope.ggml->attn_factor), 0.7305199840, 7);
}

// vllm-project/vllm#48621: 27 % on every score.
TEST(YarnCases, B13_mscale_ratio_of_ministral_is_one) {
  YarnScaling rule = yarn(16, 16384);
  rule.mscale = rule.mscale_all_dim = 1;
  EXPECT_EQ(resolved(with(plain(128, 1e6), rule)).magnitude, Real::one());
  rule.mscale.reset();
  rule.mscale_all_dim.reset();
  EXPECT_EQ(resolved(with(plain(128, 1e6), rule)).magnitude.to_decimal(11), "1.2772588722");
  rule = yarn(40, 4096);
  rule.mscale = rule.mscale_all_dim = 0.707;
  EXPECT_EQ(resolved(with(plain(64, 1e4), rule)).magnitude, Real::one());
}

// turboderp-org/exllamav3#259: two numbers, not one.
TEST(YarnCases, B14_table_magnitude_and_softmax_scale_are_two_numbers) {
  const Rope v3 = deepseek(1, 1);
  EXPECT_EQ(v3.magnitude, Real::one());
  EXPECT_EQ(v3.softmax_scale_multiplier.to_decimal(11), "1.8738542071");
  const Rope v2 = deepseek(0.707, 0.707);
  EXPECT_EQ(v2.magnitude, Real::one());
  EXPECT_EQ(v2.softmax_scale_multiplier.to_decimal(9), "1.58962617");
}

// vllm-project/vllm#46280
TEST(YarnCases, B16_explicit_attention_factor_wins) {
  YarnScaling rule = yarn(64, 4096);
  EXPECT_EQ(resolved(with(plain(64, 5e5), rule)).magnitude.to_decimal(11), "1.4158883083");
  rule.attention_factor = 1.0;
  EXPECT_EQ(resolved(with(plain(64, 5e5), rule)).magnitude, Real::one());
  rule.attention_factor = 1.2079441541679836;
  EXPECT_EQ(resolved(with(plain(64, 5e5), rule)).magnitude.to_decimal(50), "1.2079441541679836");
}

// vllm-project/vllm#27722
TEST(YarnCases, B17_truncate_false_keeps_fractional_bounds) {
  YarnScaling rule = yarn(32, 4096);
  rule.truncate = false;
  const Rope rope = resolved(with(plain(64, 150000), rule));
  expect_digits(frequency(rope, 9), 0.03170569618, 10);
  expect_digits(frequency(rope, 12), 0.00679495949, 9);
  expect_digits(frequency(rope, 16), 0.0004564839192, 10);
  expect_digits(frequency(rope, 17), 0.0001293187012, 10);
}

TEST(YarnCases, B17_truncate_true_rounds_the_bounds) {
  const Rope rope = resolved(with(plain(64, 150000), yarn(32, 4096)));
  expect_digits(frequency(rope, 9), 0.03162075228, 10);
  expect_digits(frequency(rope, 12), 0.007015713911, 10);
  expect_digits(frequency(rope, 16), 0.0005809475019, 10);
  expect_digits(frequency(rope, 17), 0.0002279477958, 10);
}

// pytorch/torchtitan#4117: YaRN was off when the table was short.
TEST(YarnCases, B19_neither_length_nor_capacity_switches_yarn) {
  const RopeConfig config = with(plain(64, 10000), yarn(40, 4096));
  const Rope rope = resolved(config);
  for (const std::int64_t length : {std::int64_t{1}, std::int64_t{4096}, std::int64_t{4097}, std::int64_t{163840}}) {
    EXPECT_EQ(resolved(config, length), rope) << length;
  }
  expect_digits(frequency(rope, 10), 0.05623413252, 10);
  expect_digits(frequency(rope, 11), 0.03900692657, 10);
  expect_digits(frequency(rope, 16), 0.0055, 10);
  expect_digits(frequency(rope, 23), 3.33380358e-5, 9);
}

// pytorch/torchtitan#4215: legal ranges that touch the ends.
TEST(YarnCases, B20_clamped_and_equal_bounds_are_legal) {
  const Rope clamped = resolved(with(plain(64, 10000), yarn(4, 128)));  // raw -1.57 to 10.47, so 0 to 11
  const Rope unscaled = resolved(plain(64, 10000));
  EXPECT_EQ(clamped.frequencies[0], unscaled.frequencies[0]);
  expect_digits(frequency(clamped, 1), frequency(unscaled, 1) * (10.0 / 11 + 1.0 / 44), 12);
  expect_digits(frequency(clamped, 11), frequency(unscaled, 11) / 4, 12);

  const Rope equal = resolved(with(plain(4, 10000), yarn(4, 4)));  // low = high = 0: a step behind pair 0
  EXPECT_EQ(frequency(equal, 0), 1);
  expect_digits(frequency(equal, 1), 0.01 / 4, 12);

  const Rope inside = resolved(with(plain(64, 10000), yarn(4, 1024)));  // 5 to 18
  EXPECT_EQ(inside.frequencies[5], unscaled.frequencies[5]);
  expect_digits(frequency(inside, 6), frequency(unscaled, 6) * (12.0 / 13 + 1.0 / 52), 12);
  expect_digits(frequency(inside, 18), frequency(unscaled, 18) / 4, 12);
}

// huggingface/transformers#38224: a ratio of lengths took the factor's place.
TEST(YarnCases, B22_the_stated_factor_is_used) {
  const Rope rope = resolved(with(plain(128, 1e6), yarn(4, 32768)));
  EXPECT_EQ(rope.magnitude.to_decimal(11), "1.1386294361");
  expect_digits(frequency(rope, 63), frequency(resolved(plain(128, 1e6)), 63) / 4, 12);
}

// TeleChat3 in vLLM: its own slope.
TEST(YarnCases, B23_slope_of_telechat) {
  YarnScaling rule = yarn(4, 8192);
  rule.slope = 0.07;
  expect_digits(resolved(with(plain(128, 1e6), rule)).magnitude.to_double(), 1 + 0.07 * std::log(4.0), 14);
}

// GaijinEntertainment/daScript#3479: magnitude and betas on interleaved pairs.
TEST(YarnCases, B26_pairing_changes_no_number_of_the_rope) {
  RopeConfig config = with(plain(128, 1e6), yarn(64, 4096, 4, 1));
  Rope half = resolved(config);
  config.pairing = Pairing::kInterleaved;
  const Rope interleaved = resolved(config);
  EXPECT_EQ(interleaved.magnitude.to_decimal(8), "1.4158883");
  EXPECT_NE(half, interleaved);
  half.pairing = Pairing::kInterleaved;
  EXPECT_EQ(half, interleaved);
  const Rope unscaled = resolved(plain(128, 1e6));  // raw 23.5959 to 30.0179, so 23 to 31
  EXPECT_EQ(interleaved.frequencies[23], unscaled.frequencies[23]);
  EXPECT_LT(frequency(interleaved, 24), frequency(unscaled, 24));
  EXPECT_GT(frequency(interleaved, 30), frequency(unscaled, 30) / 64 * 1.01);
  expect_digits(frequency(interleaved, 31), frequency(unscaled, 31) / 64, 12);
}

// OLMo 3's full layers, huggingface/transformers#45945.
TEST(YarnCases, B77_range_and_magnitude_of_olmo_3) {
  const Rope rope = resolved(with(plain(128, 5e5), yarn(8, 8192)));
  const Rope unscaled = resolved(plain(128, 5e5));
  EXPECT_EQ(rope.magnitude.to_decimal(8), "1.2079442");
  EXPECT_EQ(rope.frequencies[18], unscaled.frequencies[18]);
  for (int i = 19; i < 35; ++i) {
    expect_digits(frequency(rope, i), frequency(unscaled, i) * (1 - (i - 18) / 17.0 * 7 / 8), 12);
  }
  expect_digits(frequency(rope, 35), frequency(unscaled, 35) / 8, 12);
}

// The upper clamp is width - 1, not pairs - 1 (31 here): pytorch/torchtitan#4215. Raw 29.59 to 41.63, so 29 to 42.
TEST(YarnCases, U5_ramp_may_end_behind_the_last_pair) {
  const Rope rope = resolved(with(plain(64, 10000), yarn(4, 1000000)));
  expect_digits(frequency(rope, 31), frequency(resolved(plain(64, 10000)), 31) * (11.0 / 13 + 2.0 / 52), 12);
}

}  // namespace
}  // namespace ropecache
