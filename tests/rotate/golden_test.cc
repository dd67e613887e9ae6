// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Vectors worked out by hand: x turned by position times base^(-2i/d).
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "rotate/tensor.h"

namespace ropecache::test {
namespace {

double angle(double position, int i, int dim) { return position * std::pow(10000.0, -2.0 * i / dim); }

template <std::size_t n>
void expect_rotated(const TestRows& rows, const Placement& placement, const std::array<float, n>& expected) {
  std::array<float, n> x;
  for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<float>(i + 1);
  const TensorView view = TensorView::of(x.data(), DType::kF32, 1, 1, static_cast<std::int64_t>(n));
  ASSERT_TRUE(rotate(rows.rows(), placement, Operand::in_place(view)).ok());
  for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(x[i], expected[i], 1e-6) << i;
}

TEST(Golden, Interleaved) {
  const TestRows rows(1, 2, 1, [](std::int64_t, int i) { return angle(1, i, 4); });
  expect_rotated<4>(rows, {4, 0, Pairing::kInterleaved}, {-1.1426396637f, 1.9220755966f, 2.9598506679f, 4.0297995017f});
}

TEST(Golden, Half) {
  const TestRows rows(1, 2, 1, [](std::int64_t, int i) { return angle(1, i, 4); });
  expect_rotated<4>(rows, {4, 0, Pairing::kHalf}, {-1.9841106486f, 1.9599006679f, 2.4623779025f, 4.0197996683f});
}

// The partner is i + rotary_dim / 2, not i + head_dim / 2, and the rest stays.
TEST(Golden, B58_Partial) {
  const TestRows rows(1, 2, 1, [](std::int64_t, int i) { return angle(3, i, 4); });
  expect_rotated<8>(rows, {4, 0, Pairing::kHalf}, {-1.413353f, 1.879118f, -2.828857f, 4.058191f, 5, 6, 7, 8});
}

// The exponent runs over the head, the first pairs turn, the partner is i + head_dim / 2.
TEST(Golden, B59_Proportional) {
  const TestRows rows(1, 4, 1, [](std::int64_t, int i) { return i < 2 ? angle(3, i, 8) : 0; });
  expect_rotated<8>(rows, {8, 0, Pairing::kHalf}, {-1.695593f, 0.137552f, 3, 4, -4.808842f, 6.323059f, 7, 8});
}

}  // namespace
}  // namespace ropecache::test
