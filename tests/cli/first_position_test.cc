// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "first_position.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ropecache::cli {
namespace {

Rope llama(double theta) { return *resolve({.head_dim = 128, .rotary_dim = 128, .theta = theta}); }

// One position after the other, in long double.
std::int64_t by_search(const Rope& a, const Rope& b) {
  for (std::int64_t p = 0;; ++p) {
    for (std::size_t i = 0; i < a.frequencies.size(); ++i) {
      const auto at = [p, i](const Rope& rope) {
        return static_cast<long double>(rope.magnitude.to_double()) *
               std::cos(static_cast<long double>(p) * static_cast<long double>(rope.frequencies[i].to_double()));
      };
      if (std::fabs(at(a) - at(b)) > static_cast<long double>(kVisible)) return p;
    }
  }
}

TEST(FirstPosition, IsTheFirst) {
  for (double theta : {500001.0, 500010.0, 500100.0, 510000.0, 600000.0, 1e6, 1e4, 2.0}) {
    const Rope a = llama(500000);
    const Rope b = llama(theta);
    EXPECT_EQ(first_visible_position(a, b), by_search(a, b)) << theta;
  }
}

TEST(FirstPosition, DoesNotDependOnTheOrder) {
  EXPECT_EQ(first_visible_position(llama(1e4), llama(1.01e4)), first_visible_position(llama(1.01e4), llama(1e4)));
}

TEST(FirstPosition, NoneForEqualRopes) { EXPECT_EQ(first_visible_position(llama(1e4), llama(1e4)), std::nullopt); }

TEST(FirstPosition, NoneWhereTheGapNeverGrowsEnough) {
  EXPECT_EQ(first_visible_position(llama(500000), llama(500000.00000001)), std::nullopt);
}

TEST(FirstPosition, MagnitudeShowsAtOnce) {
  Rope b = llama(1e4);
  b.magnitude = Real{{0, 0, std::uint64_t{3} << 62}, 1};  // 1.5
  EXPECT_EQ(first_visible_position(llama(1e4), b), 0);
}

TEST(FirstPosition, ATurningPairAgainstAStillOne) {
  Rope b = llama(1e4);
  b.frequencies[0] = Real{};
  EXPECT_EQ(first_visible_position(llama(1e4), b), 1);
  b = llama(1e4);
  b.frequencies[63] = Real{};
  EXPECT_EQ(first_visible_position(llama(1e4), b), by_search(llama(1e4), b));
}

}  // namespace
}  // namespace ropecache::cli
