// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Backward, inverse and shift: three functions, three magnitudes.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "rotate/tensor.h"

namespace ropecache::test {
namespace {

constexpr double kMagnitude = 1.3688879;  // of a YaRN factor 40

class Backward : public testing::TestWithParam<Pairing> {};
INSTANTIATE_TEST_SUITE_P(Pairings, Backward, testing::ValuesIn(kPairings));

TestRows negated(TestRows rows) {
  for (float& s : rows.sin) s = -s;
  return rows;
}

TEST_P(Backward, IsForwardWithSinNegated) {
  const Placement placement{16, 4, GetParam()};
  const TestRows rows(5, 8, kMagnitude);
  for (const DType dtype : kDTypes) {
    Tensor x({dtype, 5, 3, 24}, Layout::kTokenMajor);
    x.fill(8);
    const Bytes expected = rotated(x.packed(), {dtype, 5, 3, 24}, negated(rows).rows(), placement);
    Tensor out(x);
    ASSERT_TRUE(rotate_backward(rows.rows(), placement, {x.view(), out.view()}).ok());
    EXPECT_TRUE(out.packed() == expected);
    ASSERT_TRUE(rotate_inverse(rows.rows(), placement, {x.view(), out.view()}).ok());
    EXPECT_TRUE(out.packed() == expected);
    ASSERT_TRUE(rotate_backward(rows.rows(), placement, Operand::in_place(x.view())).ok());
    EXPECT_TRUE(x.packed() == expected);
  }
}

// <R x, y> == <x, R^T y>, with small integers and dyadic cos and sin, so that every step is exact.
TEST_P(Backward, B149_IsTheTranspose) {
  constexpr int kDim = 12;
  const Placement placement{8, 2, GetParam()};
  std::mt19937 random(3);
  TestRows rows(1, 4);
  for (std::size_t i = 0; i < 4; ++i) {
    rows.cos[i] = static_cast<float>(random() % 17) / 8 - 1;
    rows.sin[i] = static_cast<float>(random() % 17) / 8 - 1;
  }
  for (int round = 0; round < 100; ++round) {
    float x[kDim], y[kDim], rx[kDim], ry[kDim];
    for (int i = 0; i < kDim; ++i) {
      x[i] = static_cast<float>(random() % 64) - 32;
      y[i] = static_cast<float>(random() % 64) - 32;
    }
    const auto view = [](float* data) { return TensorView::of(data, DType::kF32, 1, 1, kDim); };
    ASSERT_TRUE(rotate(rows.rows(), placement, {view(x), view(rx)}).ok());
    ASSERT_TRUE(rotate_backward(rows.rows(), placement, {view(y), view(ry)}).ok());
    double left = 0;
    double right = 0;
    for (int i = 0; i < kDim; ++i) {
      left += static_cast<double>(rx[i]) * static_cast<double>(y[i]);
      right += static_cast<double>(x[i]) * static_cast<double>(ry[i]);
    }
    EXPECT_EQ(left, right);
  }
}

// Length of (u, v) after forward and one of the ways back.
TEST_P(Backward, B149_MultipliesByTheMagnitudeAgainAndInverseDividesByIt) {
  const Placement placement{2, 0, GetParam()};
  const auto angle = [](std::int64_t, int) { return 2.5; };
  const TestRows forward(1, 1, kMagnitude, angle);
  const TestRows inverse(1, 1, 1 / kMagnitude, angle);
  float x[2] = {3, 4};
  const Operand operand = Operand::in_place(TensorView::of(x, DType::kF32, 1, 1, 2));
  ASSERT_TRUE(rotate(forward.rows(), placement, operand).ok());
  ASSERT_TRUE(rotate_inverse(inverse.rows(), placement, operand).ok());
  EXPECT_NEAR(x[0], 3, 2e-6);
  EXPECT_NEAR(x[1], 4, 2e-6);
  ASSERT_TRUE(rotate(forward.rows(), placement, operand).ok());
  ASSERT_TRUE(rotate_backward(forward.rows(), placement, operand).ok());
  EXPECT_NEAR(x[0], 3 * kMagnitude * kMagnitude, 4e-6);
  EXPECT_NEAR(x[1], 4 * kMagnitude * kMagnitude, 4e-6);
}

// rope(k, p) shifted by delta is rope(k, p + delta): the shift has magnitude 1.
TEST_P(Backward, B155_ShiftMovesARotatedKey) {
  const Placement placement{8, 0, GetParam()};
  const auto at = [](double position) {
    return
        [position](std::int64_t t, int i) { return (position + static_cast<double>(t)) * std::pow(100.0, -i / 4.0); };
  };
  const auto by = [](std::int64_t, int i) { return -5 * std::pow(100.0, -i / 4.0); };
  Tensor moved({DType::kF32, 3, 2, 8}, Layout::kTokenMajor);
  float* data = static_cast<float*>(moved.view().data);
  for (int i = 0; i < 48; ++i) data[i] = static_cast<float>(i % 7) - 3;
  Tensor direct(moved);
  ASSERT_TRUE(rotate(TestRows(3, 4, kMagnitude, at(20)).rows(), placement, Operand::in_place(moved.view())).ok());
  ASSERT_TRUE(rotate_shift(TestRows(3, 4, 1, by).rows(), placement, Operand::in_place(moved.view())).ok());
  ASSERT_TRUE(rotate(TestRows(3, 4, kMagnitude, at(15)).rows(), placement, Operand::in_place(direct.view())).ok());
  const float* expected = static_cast<const float*>(direct.view().data);
  for (int i = 0; i < 48; ++i) EXPECT_NEAR(data[i], expected[i], 4e-6) << i;
}

// A gradient from sum() is one element or one head for all; one that was transposed is [B, H, S, D] in memory.
TEST_P(Backward, B152_ExpandedAndTransposedGradients) {
  const Placement placement{16, 4, GetParam()};
  const Shape shape{DType::kF32, 5, 3, 24};
  const TestRows rows(5, 8, kMagnitude);
  const std::vector<float> one(24, 1.0f);
  TensorView ones = TensorView::of(const_cast<float*>(one.data()), DType::kF32, 5, 3, 24);
  ones.token_stride = ones.head_stride = 0;
  Bytes packed(5 * 3 * 24 * sizeof(float));
  for (std::size_t i = 0; i < 5 * 3 * 24; ++i) std::memcpy(packed.data() + 4 * i, one.data(), 4);
  Tensor out(shape, Layout::kTokenMajor);
  out.poison();
  ASSERT_TRUE(rotate_backward(rows.rows(), placement, {ones, out.view()}).ok());
  EXPECT_TRUE(out.packed() == rotated(packed, shape, negated(rows).rows(), placement));

  Tensor transposed(shape, Layout::kHeadMajor);
  const Bytes dy = transposed.fill(11).packed();
  out.poison();
  ASSERT_TRUE(rotate_backward(rows.rows(), placement, {transposed.view(), out.view()}).ok());
  EXPECT_TRUE(out.packed() == rotated(dy, shape, negated(rows).rows(), placement));
}

}  // namespace
}  // namespace ropecache::test
