// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Special values, and the elements that do not turn.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "rotate/tensor.h"

namespace ropecache::test {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kTiny = std::numeric_limits<float>::denorm_min();

std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }

// rotate() has two forms.
constexpr Status (*one_operand)(const Rows&, const Placement&, const Operand&, Part) noexcept = rotate;

// One pair of fp32 turned by (c, s), or turned back.
std::pair<std::uint32_t, std::uint32_t> turned(float u, float v, float c, float s, bool back = false) {
  TestRows rows(1, 1);
  rows.cos[0] = c;
  rows.sin[0] = s;
  float x[2] = {u, v};
  const Operand operand = Operand::in_place(TensorView::of(x, DType::kF32, 1, 1, 2));
  EXPECT_TRUE((back ? rotate_backward : one_operand)(rows.rows(), {2, 0, Pairing::kHalf}, operand, {}).ok());
  return {bits_of(x[0]), bits_of(x[1])};
}

TEST(Values, NanResultsAreOneQuietNan) {
  for (const std::uint32_t nan : {0x7fc00000u, 0xffc00000u, 0x7f800001u, 0xff812345u, 0x7fffffffu}) {
    const auto [u, v] = turned(std::bit_cast<float>(nan), 1, 0.6f, 0.8f);
    EXPECT_EQ(u, 0x7fc00000u);
    EXPECT_EQ(v, 0x7fc00000u);
  }
  EXPECT_EQ(turned(kInf, kInf, 0.6f, 0.8f), (std::pair{0x7fc00000u, bits_of(kInf)}));  // inf - inf
  EXPECT_EQ(turned(kInf, 1, 0, 1), (std::pair{0x7fc00000u, bits_of(kInf)}));           // inf * 0
  EXPECT_EQ(turned(1, 2, kNan, 1), (std::pair{0x7fc00000u, 0x7fc00000u}));
}

TEST(Values, SubnormalsAreKept) {
  EXPECT_EQ(turned(kTiny, 3 * kTiny, 1, 0), (std::pair{1u, 3u}));
  EXPECT_EQ(turned(8 * kTiny, 2 * kTiny, 0.5f, 0.5f), (std::pair{3u, 5u}));
  EXPECT_EQ(turned(kTiny, 0, 0.5f, 0), (std::pair{0u, 0u}));  // half a unit goes to even
}

// u' = u*c - v*s: zero minus zero is +0, and -0 only comes from -0 - +0.
TEST(Values, SignsOfZero) {
  EXPECT_EQ(turned(0.0f, 0.0f, 1, 1), (std::pair{0u, 0u}));
  EXPECT_EQ(turned(-0.0f, 0.0f, 1, 1), (std::pair{0x80000000u, 0u}));
  EXPECT_EQ(turned(-0.0f, -0.0f, 1, 1), (std::pair{0u, 0x80000000u}));
  EXPECT_EQ(turned(1, 1, 1, 1), (std::pair{0u, bits_of(2)}));
}

// u' = u*c + v*s, v' = v*c - u*s.
TEST(Values, SignsOfZeroBackwards) {
  EXPECT_EQ(turned(1, 1, 1, 1, true), (std::pair{bits_of(2), 0u}));
  EXPECT_EQ(turned(0.0f, 0.0f, 1, 1, true), (std::pair{0u, 0u}));
  EXPECT_EQ(turned(0.0f, -0.0f, 1, 1, true), (std::pair{0u, 0x80000000u}));
  EXPECT_EQ(turned(-0.0f, -0.0f, 1, 1, true), (std::pair{0x80000000u, 0u}));
  EXPECT_EQ(turned(1, -1, 1, 1, true), (std::pair{0u, bits_of(-2)}));
}

// Where a fused multiply-add would give other bits: u*c and v*s cancel except for their rounding errors.
TEST(Values, ProductsAreRoundedBeforeTheSum) {
  const float third = 1.0f / 3;
  EXPECT_EQ(turned(third, third, third, third).first, 0u);
  EXPECT_NE(bits_of(std::fma(third, third, -(third * third))), 0u);
}

TEST(Values, OverflowOfHalfTypes) {
  TestRows rows(1, 1);
  rows.cos[0] = 1;
  rows.sin[0] = 1;
  const Placement placement{2, 0, Pairing::kInterleaved};
  std::uint16_t f16[2] = {0x7bff, 0x7bff};  // 65504 each
  ASSERT_TRUE(rotate(rows.rows(), placement, Operand::in_place(TensorView::of(f16, DType::kF16, 1, 1, 2))).ok());
  EXPECT_EQ(f16[0], 0);
  EXPECT_EQ(f16[1], 0x7c00);
  std::uint16_t bf16[2] = {0xff7f, 0x7f7f};  // the largest, -x and x
  ASSERT_TRUE(rotate(rows.rows(), placement, Operand::in_place(TensorView::of(bf16, DType::kBF16, 1, 1, 2))).ok());
  EXPECT_EQ(bf16[0], 0xff80);
  EXPECT_EQ(bf16[1], 0);
}

// Elements outside the rotary part: every NaN payload, signaling ones too, and -0, bit for bit.
TEST(Values, B55_UntouchedElementsKeepEveryBit) {
  const TestRows rows(1, 1);
  for (const DType dtype : kDTypes) {
    const bool wide = dtype == DType::kF32;
    const std::uint32_t patterns[] = {0x7f800001u, 0xff800001u, 0x7fc12345u, 0xffffffffu, 0x80000000u, 0x00000001u};
    const std::uint16_t half_patterns[] = {0x7c01, 0xfc01, 0x7f81, 0xff81, 0xffff, 0x8000};
    const Shape shape{dtype, 1, 1, 14};
    Tensor in(shape, Layout::kTokenMajor);
    in.fill(1);
    Bytes packed = in.packed();
    for (std::size_t i = 0; i < 6; ++i) {  // in front of the rotary part at 6, and behind it
      for (const std::size_t at : {i, i + 8}) {
        if (wide) {
          std::memcpy(packed.data() + 4 * at, &patterns[i], 4);
        } else {
          std::memcpy(packed.data() + 2 * at, &half_patterns[i], 2);
        }
      }
    }
    in.unpack(packed);
    Tensor out(shape, Layout::kTokenMajor);
    ASSERT_TRUE(rotate(rows.rows(), {2, 6, Pairing::kHalf}, {in.view(), out.view()}).ok());
    Bytes result = out.packed();
    const auto part = static_cast<std::ptrdiff_t>(6 * dtype_size(dtype));
    EXPECT_TRUE(std::equal(result.begin(), result.begin() + part, packed.begin()));
    EXPECT_TRUE(std::equal(result.end() - part, result.end(), packed.end() - part));
    ASSERT_TRUE(rotate(rows.rows(), {2, 6, Pairing::kHalf}, Operand::in_place(in.view())).ok());
    EXPECT_EQ(in.packed(), result);
  }
}

}  // namespace
}  // namespace ropecache::test
