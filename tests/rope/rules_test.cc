// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Every rule against MPFR over random configs: each frequency and magnitude is the Real nearest to the true number.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <random>
#include <vector>

#include "rope/configs.h"
#include "rope/oracle.h"

namespace ropecache {
namespace {

class RulesTest : public testing::Test {
 protected:
  int integer(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  bool coin() { return integer(0, 1) == 1; }
  // A double as a file would say it, some short ("8"), some with all digits, on a logarithmic scale.
  double number(double low, double high) {
    const double x = low * std::pow(high / low, std::uniform_real_distribution<double>(0, 1)(random_));
    return coin() ? x : std::max(low, std::round(x * 8) / 8);
  }
  std::vector<double> list(int count, double low, double high) {
    std::vector<double> result;
    for (int n = 0; n < count; ++n) result.push_back(number(low, high));
    return result;
  }
  std::int64_t context() { return coin() ? std::int64_t{1} << integer(8, 20) : integer(300, 200000); }
  RopeConfig config() {
    RopeConfig result = plain(2 * integer(2, 40), number(500, 1e8));
    if (integer(0, 3) == 0) result.exponent_dim = integer(result.rotary_dim, 2 * result.rotary_dim);
    if (integer(0, 4) == 0) {
      result.divisors = list(result.rotary_dim / 2, 0.5, 64);
      result.divisors.back() = 1e30;
    }
    return result;
  }

  void check(const RopeConfig& config, std::optional<std::int64_t> length = std::nullopt) {
    const Result<Rope> rope = resolve(config, {length});
    ASSERT_TRUE(rope.ok()) << rope.status().message();
    const oracle::Answer want = oracle::answer(config, length);
    ASSERT_EQ(rope->frequencies.size(), want.frequencies.size());
    for (std::size_t i = 0; i < want.frequencies.size(); ++i) {
      const Real& got = rope->frequencies[i];
      EXPECT_TRUE(oracle::Mp::of(got) == want.frequencies[i].rounded_to_real())
          << "pair " << i << " of " << want.frequencies.size() << ", theta " << config.theta << ": "
          << got.to_decimal(50);
    }
    EXPECT_TRUE(oracle::Mp::of(rope->magnitude) == want.magnitude.rounded_to_real()) << rope->magnitude.to_decimal();
    EXPECT_TRUE(oracle::Mp::of(rope->softmax_scale_multiplier) == want.softmax_multiplier.rounded_to_real());
  }

  std::mt19937_64 random_{7};
  static constexpr int kRounds = 40;
};

TEST_F(RulesTest, none) {
  for (int n = 0; n < kRounds; ++n) check(config());
}

TEST_F(RulesTest, linear) {
  for (int n = 0; n < kRounds; ++n) check(with(config(), LinearScaling{number(0.5, 100)}));
}

TEST_F(RulesTest, dynamic) {
  for (int n = 0; n < kRounds; ++n) {
    const DynamicNtkScaling rule{number(0.5, 20), context()};
    check(with(config(), rule));
    check(with(config(), rule), rule.original_context / 2);
    check(with(config(), rule), rule.original_context + integer(1, 1000000));
  }
}

TEST_F(RulesTest, ntk_alpha) {
  for (int n = 0; n < kRounds; ++n) check(with(config(), NtkAlphaScaling{number(0.5, 1e5)}));
}

TEST_F(RulesTest, ntk) {
  for (int n = 0; n < kRounds; ++n) {
    check(with(config(), NtkScaling{number(0.5, 50), std::nullopt}));
    check(with(config(), NtkScaling{number(0.5, 50), number(0.125, 2)}));
  }
}

TEST_F(RulesTest, yarn) {
  int checked = 0;
  for (int n = 0; n < 4 * kRounds; ++n) {
    YarnScaling rule = yarn(number(0.5, 64), context(), number(8, 64), number(0.5, 8));
    rule.truncate = coin();
    if (coin()) rule.extrapolation_factor = integer(0, 8) / 8.0;
    if (coin()) rule.mscale = number(0.1, 2);
    if (coin()) rule.mscale_all_dim = number(0.1, 2);
    if (integer(0, 3) == 0) rule.attention_factor = number(0.5, 2);
    if (integer(0, 3) == 0) rule.attention_multiplier = number(0.5, 2);
    if (coin()) rule.slope = 0.07;
    rule.magnitude = static_cast<YarnMagnitude>(integer(0, 2));
    rule.softmax_scale = coin();
    const RopeConfig chosen = with(config(), rule);
    const int r = chosen.exponent_dim != 0 ? chosen.exponent_dim : chosen.rotary_dim;
    if (oracle::correction_dim(rule.beta_fast, r, chosen.theta, rule.original_context) > oracle::Mp(r - 2)) continue;
    ++checked;
    check(chosen);
  }
  EXPECT_GT(checked, 2 * kRounds);
}

TEST_F(RulesTest, llama3) {
  for (int n = 0; n < kRounds; ++n) {
    Llama3Scaling rule{number(0.5, 64), number(0.25, 2), number(2, 40), context()};
    check(with(config(), rule));
    rule.high_freq_factor = rule.low_freq_factor;
    check(with(config(), rule));
  }
}

TEST_F(RulesTest, longrope) {
  for (int n = 0; n < kRounds; ++n) {
    RopeConfig chosen = config();
    LongRopeScaling rule;
    rule.short_factor = list(chosen.rotary_dim / 2, 1, 2);
    rule.long_factor = list(chosen.rotary_dim / 2, 1, 70);
    rule.original_context = context();
    rule.max_context = context();
    if (coin()) rule.factor = number(0.5, 40);
    if (integer(0, 3) == 0) rule.short_mscale = number(0.5, 2);
    if (integer(0, 3) == 0) rule.long_mscale = number(0.5, 2);
    if (integer(0, 4) == 0) rule.attention_factor = number(0.5, 2);
    chosen.scaling = rule;
    check(chosen);
    check(chosen, rule.original_context);
    check(chosen, rule.original_context + 1);
  }
}

TEST_F(RulesTest, proportional) {
  for (int n = 0; n < kRounds; ++n) {
    check(with(config(), ProportionalScaling{integer(0, 20) / 20.0, coin() ? 1 : number(0.5, 16)}));
  }
}

}  // namespace
}  // namespace ropecache
