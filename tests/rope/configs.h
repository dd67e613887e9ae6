// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Short ways to say a config in a test.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ropecache/rope.h"

namespace ropecache {

inline RopeConfig plain(int dim, double theta) {
  RopeConfig config;
  config.head_dim = dim;
  config.rotary_dim = dim;
  config.theta = theta;
  return config;
}

inline RopeConfig with(RopeConfig config, Scaling scaling) {
  config.scaling = std::move(scaling);
  return config;
}

inline RopeConfig with_axes(RopeConfig config, AxisLayout layout, std::vector<int> sections) {
  config.axes = {layout, std::move(sections)};
  return config;
}

inline YarnScaling yarn(double factor, std::int64_t original_context, double beta_fast = 32, double beta_slow = 1) {
  YarnScaling rule;
  rule.factor = factor;
  rule.original_context = original_context;
  rule.beta_fast = beta_fast;
  rule.beta_slow = beta_slow;
  return rule;
}

inline Rope resolved(const RopeConfig& config, const ResolveOptions& options = {}) {
  Result<Rope> rope = resolve(config, options);
  EXPECT_TRUE(rope.ok()) << rope.status().message();
  return *rope;
}
inline Rope resolved(const RopeConfig& config, std::int64_t length) { return resolved(config, ResolveOptions{length}); }

inline double frequency(const Rope& rope, int pair) {
  return rope.frequencies[static_cast<std::size_t>(pair)].to_double();
}

// The decimal with as many significant digits as `expected` shows.
inline std::string to_digits_of(const Real& value, const std::string& expected) {
  int digits = 0;
  bool leading = true;
  for (const char c : expected) {
    if (c == 'e') break;
    if (c < '0' || c > '9') continue;
    leading = leading && c == '0';
    if (!leading) ++digits;
  }
  return value.to_decimal(digits == 0 ? 1 : digits);
}

// Within half a unit of the last of `digits` significant digits of `expected`.
inline void expect_digits(double value, double expected, double digits) {
  EXPECT_NEAR(value, expected, std::abs(expected) * std::pow(10.0, 1 - digits) * 0.51) << expected;
}

}  // namespace ropecache
