// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Random configs over every scaling rule and axis layout, and one call that turns a tensor by one.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "ropecache/cache.h"
#include "ropecache/rotate.h"

namespace ropecache::flow {

class RandomRopes {
 public:
  explicit RandomRopes(std::uint64_t seed) : random_(seed) {}

  // Scaling rules that go with any layout of the axes; `axes` false: one position per token.
  RopeConfig next(bool axes = false) {
    RopeConfig config;
    config.rotary_dim = 2 * in(2, 64);
    config.head_dim = config.rotary_dim + 2 * in(0, 32);
    config.rotary_offset = in(0, config.head_dim - config.rotary_dim);
    config.pairing = in(0, 1) == 0 ? Pairing::kHalf : Pairing::kInterleaved;
    const double thetas[] = {10000, 100000, 500000, 1e6, 1e7, 640000, 1000042};
    config.theta = thetas[in(0, 6)];
    config.scaling = scaling(config.rotary_dim / 2);
    if (axes) config.axes = layout(config.rotary_dim / 2);
    return config;
  }

  int in(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  double real(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random_); }
  std::int64_t position() {
    const auto size = static_cast<std::int64_t>(random_() & ((std::uint64_t{1} << in(1, 30)) - 1));
    return in(0, 1) == 0 ? size : -size;
  }

 private:
  Scaling scaling(int pairs) {
    switch (in(0, 9)) {
      case 1: return LinearScaling{real(1, 16)};
      case 2: return DynamicNtkScaling{real(1, 8), 4096};
      case 3: return NtkAlphaScaling{real(1, 1000)};
      case 4: return NtkScaling{real(1, 8), std::nullopt};
      case 5: {
        YarnScaling yarn;
        yarn.factor = real(1, 64);
        yarn.original_context = 4096 * in(1, 8);
        yarn.truncate = in(0, 1) == 0;
        return yarn;
      }
      case 6: return Llama3Scaling{real(2, 32), 1, 4, 8192};
      case 7: {
        LongRopeScaling longrope;
        for (int i = 0; i < pairs; ++i) {
          longrope.short_factor.push_back(real(1, 3));
          longrope.long_factor.push_back(real(1, 60));
        }
        longrope.original_context = 4096;
        longrope.max_context = 131072;
        return longrope;
      }
      case 8: return ProportionalScaling{real(0.2, 1), 1};
      default: return std::monostate{};
    }
  }

  Axes layout(int pairs) {
    const int h = in(0, pairs / 3), w = in(0, pairs / 3);
    switch (in(0, 2)) {
      case 0: return {AxisLayout::kSectioned, {pairs - h - w, h, w}};
      case 1: return {AxisLayout::kInterleaved, {pairs - 2 * (pairs / 3), pairs / 3, pairs / 3}};
      default: return {AxisLayout::kSectionedGgml, {pairs - h - w, h, w, 0}};
    }
  }

  std::mt19937_64 random_;
};

// Rows of a rope at some positions, owned.
class RowsOf {
 public:
  RowsOf(const Rope& rope, const std::vector<std::int64_t>& positions, Use use = Use::kRotate)
      : step_(static_cast<std::int64_t>(positions.size())) {
    RopeCache cache;
    table_ = cache.get(rope, Profile::kExact, use).value();
    EXPECT_TRUE(step_.add(table_).ok());
    const auto tokens = static_cast<std::int64_t>(positions.size());
    const Status status =
        step_.begin({positions.data(), PositionType::kInt64, tokens, table_->axis_count(), 1, 0, tokens});
    EXPECT_TRUE(status.ok()) << status.message();
  }
  Rows rows() const { return step_.rows(*table_).value(); }

 private:
  TableRef table_;
  Step step_;
};

// [tokens, heads, head_dim] of fp32 values in [-1, 1].
inline std::vector<float> random_tensor(std::uint64_t seed, std::int64_t tokens, int heads, int head_dim) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<float> value(-1, 1);
  std::vector<float> x(static_cast<std::size_t>(tokens * heads * head_dim));
  for (float& element : x) element = value(random);
  return x;
}

using Turn = Status (*)(const Rows&, const Placement&, const Operand&, Part) noexcept;

// A copy of x, turned.
inline std::vector<float> turned(Turn turn, const Rows& rows, const Rope& rope, std::vector<float> x, int heads) {
  const auto tokens = static_cast<std::int64_t>(x.size()) / heads / rope.head_dim;
  const TensorView view = TensorView::of(x.data(), DType::kF32, tokens, heads, rope.head_dim);
  const Status status = turn(rows, Placement::of(rope), Operand::in_place(view), Part{});
  EXPECT_TRUE(status.ok()) << status.message();
  return x;
}

}  // namespace ropecache::flow
