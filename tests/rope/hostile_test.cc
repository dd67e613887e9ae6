// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <climits>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include "rope/configs.h"

namespace ropecache {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Any mixture of sane and absurd values: an answer within the stated bounds, or a clean refusal.
class Hostile {
 public:
  double number() {
    constexpr double kValues[] = {0,     -0.0, 1,    -1,    0.5,    2,    8,     32,   4096, 1e4,     1e-12, 1e12,
                                  1e-13, 1e13, 1e30, 1e300, 5e-324, kInf, -kInf, kNan, 1e-7, 3.14159, 5e5,
                                  1.0000000000000002};
    return kValues[pick(std::size(kValues))];
  }
  std::int64_t integer() {
    constexpr std::int64_t kValues[] = {0, 1, -1, 2, 3, 64, 4096, 8192, 131072, INT_MAX, INT_MIN, INT64_MAX, INT64_MIN,
                                        std::int64_t{1} << 31};
    return kValues[pick(std::size(kValues))];
  }
  int small() {
    constexpr int kValues[] = {0, 2, 4, 6, 8, 64, 63, -2, INT_MAX, INT_MIN};
    return kValues[pick(std::size(kValues))];
  }
  std::optional<double> maybe() { return pick(2) == 0 ? std::optional<double>() : number(); }
  std::vector<double> list() {
    std::vector<double> result(pick(3) == 0 ? pick(6) : 4, 1.5);
    if (!result.empty() && pick(2) == 0) result[pick(result.size())] = number();
    return result;
  }
  std::size_t pick(std::size_t count) { return static_cast<std::size_t>(random_() % count); }

  Scaling scaling() {
    switch (pick(9)) {
      case 1: return LinearScaling{number()};
      case 2: return DynamicNtkScaling{number(), integer()};
      case 3: return NtkAlphaScaling{number()};
      case 4: return NtkScaling{number(), maybe()};
      case 5: {
        YarnScaling rule = yarn(number(), integer(), number(), number());
        rule.truncate = pick(2) == 0;
        rule.attention_factor = maybe();
        rule.mscale = maybe();
        rule.mscale_all_dim = maybe();
        if (pick(4) == 0) rule.extrapolation_factor = number();
        if (pick(4) == 0) rule.attention_multiplier = number();
        if (pick(4) == 0) rule.slope = number();
        rule.softmax_scale = pick(2) == 0;
        return rule;
      }
      case 6: return Llama3Scaling{number(), number(), number(), integer()};
      case 7: return LongRopeScaling{list(), list(), integer(), integer(), maybe(), maybe(), maybe(), maybe()};
      case 8: return ProportionalScaling{number(), number()};
      default: return {};
    }
  }
  RopeConfig config() {
    RopeConfig result = plain(8, pick(3) == 0 ? number() : 1e4);
    if (pick(4) == 0) result.head_dim = small();
    if (pick(4) == 0) result.rotary_dim = small();
    if (pick(4) == 0) result.rotary_offset = small();
    if (pick(4) == 0) result.exponent_dim = small();
    if (pick(4) == 0) result.divisors = list();
    if (pick(2) == 0) result.axes.layout = static_cast<AxisLayout>(pick(11));
    for (std::size_t n = pick(5); n > 0; --n) result.axes.sections.push_back(pick(3) == 0 ? small() : 2);
    if (pick(4) == 0) result.query_scale = {static_cast<QueryScale::Rule>(pick(4)), number(), number()};
    result.scaling = scaling();
    return result;
  }

 private:
  std::mt19937_64 random_{11};
};

TEST(HostileConfigs, are_answered_or_refused) {
  Hostile hostile;
  int answered = 0;
  for (int n = 0; n < 20000; ++n) {
    const RopeConfig config = hostile.config();
    std::optional<std::int64_t> length;
    if (hostile.pick(3) == 0) length = hostile.integer();
    const Result<Rope> rope = resolve(config, {length});
    if (!rope.ok()) {
      EXPECT_EQ(rope.status().code(), StatusCode::kInvalidArgument) << rope.status().message();
      EXPECT_LT(rope.status().message().size(), 300u);
      continue;
    }
    ++answered;
    EXPECT_EQ(rope->pairs(), config.rotary_dim / 2);
    EXPECT_EQ(rope->axes.size(), rope->frequencies.size());
    EXPECT_EQ(rope->fp32_frequencies.size(), rope->frequencies.size());
    for (std::size_t i = 0; i < rope->frequencies.size(); ++i) {
      const double turn = rope->frequencies[i].to_double();
      EXPECT_TRUE(turn == 0 || (turn >= 0x1p-100 && turn < 0x1p20)) << turn;
      EXPECT_GE(rope->fp32_frequencies[i], 0.0f);
      EXPECT_LE(rope->fp32_frequencies[i], 0x1p20f);
      EXPECT_LT(rope->axes[i], rope->axis_count);
    }
    EXPECT_GT(rope->fp32_magnitude, 0.0f);
  }
  EXPECT_GT(answered, 200);
}

}  // namespace
}  // namespace ropecache
