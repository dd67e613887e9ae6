// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Every target of this machine gives the bits of target "scalar", for random shapes, strides, offsets, types and values.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstring>
#include <random>
#include <string>

#include "ropecache/target.h"
#include "rotate/tensor.h"

namespace ropecache::test {
namespace {

// Chooses a target until the end of the scope.
class On {
 public:
  explicit On(std::string_view target) : before_(active_target()) { EXPECT_TRUE(use_target(target).ok()); }
  ~On() { EXPECT_TRUE(use_target(before_).ok()); }
  On(const On&) = delete;
  On& operator=(const On&) = delete;

 private:
  std::string before_;
};

enum class Values { kOrdinary, kAnyBits, kSpecial };

constexpr std::array<std::uint32_t, 20> kSpecials = {
    0x00000000, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345, 0x7f800001, 0xff81ffff, 0x00000001, 0x807fffff,
    0x00008000, 0x007f8000, 0x33000000, 0x38800000, 0x387fe000, 0x477fefff, 0x477ff000, 0x7f7fffff, 0xff7f8000, 0x3f808000};

void fill(Tensor& x, Values values, std::mt19937& random) {
  Bytes packed = x.packed();
  const std::size_t size = dtype_size(x.view().dtype);
  for (std::size_t at = 0; at < packed.size(); at += size) {
    std::uint32_t bits = static_cast<std::uint32_t>(random());
    if (values == Values::kSpecial && bits % 3 == 0) {
      bits = kSpecials[random() % kSpecials.size()];
      if (size == 2) bits >>= 16;
    } else if (values != Values::kAnyBits) {
      const float value = static_cast<float>(static_cast<std::int32_t>(bits)) * 0x1p-30f;
      bits = std::bit_cast<std::uint32_t>(value);
      if (x.view().dtype == DType::kBF16) bits = f32_to_bf16(value);
      if (x.view().dtype == DType::kF16) bits = f32_to_f16(value);
    }
    std::memcpy(packed.data() + at, &bits, size);
  }
  x.unpack(packed);
}

struct Case {
  Shape shape;
  Layout in;
  Layout out;
  Placement placement;
  bool in_place;
  int parts;
};

Case random_case(std::mt19937& random) {
  const auto up_to = [&random](int most) { return static_cast<int>(random() % static_cast<unsigned>(most + 1)); };
  Case c;
  const int pairs = 1 + up_to(random() % 3 == 0 ? 150 : 40);
  c.placement.rotary_dim = 2 * pairs;
  c.placement.rotary_offset = random() % 2 == 0 ? 0 : up_to(20);
  c.placement.pairing = kPairings[random() % 2];
  c.shape.dtype = kDTypes[random() % 3];
  c.shape.tokens = 1 + up_to(random() % 4 == 0 ? 40 : 4);
  c.shape.heads = 1 + up_to(6);
  c.shape.head_dim = c.placement.rotary_offset + c.placement.rotary_dim + (random() % 2 == 0 ? 0 : up_to(20));
  c.in = kLayouts[random() % std::size(kLayouts)];
  c.out = kLayouts[random() % std::size(kLayouts)];
  c.in_place = random() % 2 == 0;
  c.parts = random() % 3 == 0 ? 1 + up_to(9) : 1;
  return c;
}

using Function = Status (*)(const Rows&, const Placement&, const Operand&, Part) noexcept;
constexpr std::array<Function, 4> kFunctions = {rotate, rotate_backward, rotate_inverse, rotate_shift};

// All memory around and in the result, so that a byte too many shows.
Bytes run(const Case& c, const Tensor& x, const Rows& rows, Function function) {
  Tensor in(x);
  Tensor out(c.shape, c.out);
  out.poison();
  const Operand operand = c.in_place ? Operand::in_place(in.view()) : Operand{in.view(), out.view()};
  for (int part = 0; part < c.parts; ++part) {
    EXPECT_TRUE(function(rows, c.placement, operand, {part, c.parts}).ok());
  }
  Bytes result = in.memory();
  result.insert(result.end(), out.memory().begin(), out.memory().end());
  return result;
}

TEST(Ladder, EveryTargetEqualsScalar) {
  std::mt19937 random(20);
  for (int n = 0; n < 3000; ++n) {
    const Case c = random_case(random);
    const TestRows rows(c.shape.tokens, c.placement.rotary_dim / 2, n % 3 == 0 ? 1.4 : 1.0, static_cast<std::uint32_t>(random()));
    Tensor x(c.shape, c.in);
    fill(x, static_cast<Values>(random() % 3), random);
    const Function function = kFunctions[random() % kFunctions.size()];
    Bytes expected;
    {
      const On on("scalar");
      Case whole = c;
      whole.parts = 1;
      expected = run(whole, x, rows.rows(), function);
    }
    for (const std::string_view target : targets()) {
      const On on(target);
      ASSERT_TRUE(run(c, x, rows.rows(), function) == expected)
          << target << " dtype " << static_cast<int>(c.shape.dtype) << " [" << c.shape.tokens << ", " << c.shape.heads
          << ", " << c.shape.head_dim << "] rotary " << c.placement.rotary_offset << " + " << c.placement.rotary_dim
          << " pairing " << static_cast<int>(c.placement.pairing) << " layouts " << static_cast<int>(c.in) << " "
          << static_cast<int>(c.out) << " in place " << c.in_place << " parts " << c.parts << " case " << n;
    }
  }
}

// Each 16-bit pattern as u beside each of some as v: no conversion has an input that was not tried.
TEST(Ladder, EveryHalfPrecisionInput) {
  constexpr std::int64_t kAll = 0x10000;
  const TestRows rows(1, static_cast<int>(kAll), 1.0, 5);
  for (const DType dtype : {DType::kBF16, DType::kF16}) {
    for (const Pairing pairing : kPairings) {
      std::vector<std::uint16_t> x(2 * kAll);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const bool u = pairing == Pairing::kHalf ? i < kAll : i % 2 == 0;
        const std::size_t pair = pairing == Pairing::kHalf ? i % kAll : i / 2;
        x[i] = static_cast<std::uint16_t>(u ? pair : pair * 40503u);
      }
      const Placement placement{2 * kAll, 0, pairing};
      const auto turned = [&](std::string_view target) {
        const On on(target);
        std::vector<std::uint16_t> y = x;
        EXPECT_TRUE(
            rotate(rows.rows(), placement, Operand::in_place(TensorView::of(y.data(), dtype, 1, 1, 2 * kAll))).ok());
        return y;
      };
      const auto expected = turned("scalar");
      for (const std::string_view target : targets()) EXPECT_TRUE(turned(target) == expected) << target;
    }
  }
}

// Products that are exact (c = 1 or s = 1 beside 0) leave rounding to the conversion alone: every class of fp32 numbers.
TEST(Ladder, EveryRoundingOfAResult) {
  std::mt19937 random(6);
  constexpr int kPairs = 512;
  for (int n = 0; n < 200; ++n) {
    TestRows rows(1, kPairs, 1.0, static_cast<std::uint32_t>(random()));
    // c is any number, u = 1 and v = 0: u' = c, rounded to x's type.
    for (float& c : rows.cos) {
      std::uint32_t bits = static_cast<std::uint32_t>(random());
      if (n % 2 == 0) bits = (bits & 0xffff0000u) | (0x8000u ^ (random() % 4 == 0 ? 1u : 0u));  // ties and their neighbours
      if (n % 4 == 1) bits = (bits & 0x8fffffffu) | 0x30000000u;                                // f16's range
      c = std::bit_cast<float>(bits);
    }
    for (const DType dtype : {DType::kBF16, DType::kF16}) {
      for (const Pairing pairing : kPairings) {
        std::vector<std::uint16_t> x(2 * kPairs);
        for (std::size_t i = 0; i < x.size(); ++i) {
          const bool u = pairing == Pairing::kHalf ? i < kPairs : i % 2 == 0;
          x[i] = u ? (dtype == DType::kBF16 ? 0x3f80 : 0x3c00) : 0;
        }
        const Placement placement{2 * kPairs, 0, pairing};
        const auto turned = [&](std::string_view target) {
          const On on(target);
          std::vector<std::uint16_t> y = x;
          EXPECT_TRUE(
              rotate(rows.rows(), placement, Operand::in_place(TensorView::of(y.data(), dtype, 1, 1, 2 * kPairs))).ok());
          return y;
        };
        const auto expected = turned("scalar");
        for (const std::string_view target : targets()) EXPECT_TRUE(turned(target) == expected) << target;
      }
    }
  }
}

TEST(Target, OthersAreRefused) {
  const std::string before(active_target());
  for (const char* name : {"", "AVX2", "avx1024", "avx2 "}) {
    EXPECT_EQ(use_target(name).code(), StatusCode::kUnsupported);
    EXPECT_EQ(active_target(), before);
  }
}

}  // namespace
}  // namespace ropecache::test
