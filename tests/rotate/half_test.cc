// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "ropecache/half.h"

#include <gtest/gtest.h>

#include <set>

#include "ropecache/rotate.h"
#include "rotate/oracle.h"

namespace ropecache {
namespace {

using Narrow = std::uint16_t (*)(float) noexcept;
using Widen = float (*)(std::uint16_t) noexcept;

struct Type {
  const char* name;
  oracle::Format format;
  Narrow narrow;
  Widen widen;
};

void PrintTo(const Type& type, std::ostream* out) { *out << type.name; }

class Half : public testing::TestWithParam<Type> {};
INSTANTIATE_TEST_SUITE_P(Types, Half,
                         testing::Values(Type{"bf16", oracle::kBF16, f32_to_bf16, bf16_to_f32},
                                         Type{"f16", oracle::kF16, f32_to_f16, f16_to_f32}),
                         [](const auto& one) { return std::string(one.param.name); });

std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }

TEST_P(Half, WidensEveryPattern) {
  const Type& type = GetParam();
  for (std::uint32_t i = 0; i < 0x10000; ++i) {
    const auto half = static_cast<std::uint16_t>(i);
    const double expected = oracle::decode(type.format, half);
    if (std::isnan(expected)) {  // the payload moves up unchanged
      const std::uint32_t fraction = i & ((1u << type.format.fraction_bits) - 1);
      EXPECT_EQ(bits_of(type.widen(half)),
                ((i & 0x8000u) << 16) | 0x7f800000u | (fraction << (23 - type.format.fraction_bits)));
    } else {
      EXPECT_EQ(bits_of(type.widen(half)), bits_of(static_cast<float>(expected))) << i;
    }
  }
}

TEST_P(Half, RoundTripsEveryNumber) {
  const Type& type = GetParam();
  for (std::uint32_t i = 0; i < 0x10000; ++i) {
    const auto half = static_cast<std::uint16_t>(i);
    const float wide = type.widen(half);
    EXPECT_EQ(type.narrow(wide), std::isnan(wide) ? oracle::encode(type.format, NAN) : half) << i;
  }
}

// Between two neighbours the boundary is a float: one step below it goes down, one above goes up, itself to even.
TEST_P(Half, RoundsAtEveryBoundary) {
  const Type& type = GetParam();
  const auto inf = static_cast<std::uint16_t>(0x7fff & ~((1 << type.format.fraction_bits) - 1));
  for (std::uint32_t sign : {0u, 0x8000u}) {
    for (std::uint32_t i = 0; i < inf; ++i) {
      const auto low = static_cast<std::uint16_t>(sign | i);
      const auto high = static_cast<std::uint16_t>(sign | (i + 1));
      // The neighbour of the largest number is infinity; it is rounded to as if it were the next number.
      const double above =
          i + 1 == inf ? std::ldexp(sign != 0 ? -1.0 : 1.0, type.format.bias + 1) : oracle::decode(type.format, high);
      const auto boundary = static_cast<float>((oracle::decode(type.format, low) + above) / 2);
      EXPECT_EQ(type.narrow(boundary), i % 2 == 0 ? low : high) << low;
      EXPECT_EQ(type.narrow(std::bit_cast<float>(bits_of(boundary) - 1)), low) << low;
      EXPECT_EQ(type.narrow(std::bit_cast<float>(bits_of(boundary) + 1)), high) << low;
    }
  }
}

TEST_P(Half, RoundsFloatsAllOverTheRange) {
  const Type& type = GetParam();
  for (std::uint64_t i = 0; i < 0x100000000u; i += 4093) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(i));
    ASSERT_EQ(type.narrow(value), oracle::encode(type.format, value)) << i;
  }
}

TEST_P(Half, NarrowsEveryNanToOne) {
  const Type& type = GetParam();
  for (const std::uint32_t nan : {0x7f800001u, 0x7fc00000u, 0xff800001u, 0xffffffffu, 0x7f80ffffu}) {
    EXPECT_EQ(type.narrow(std::bit_cast<float>(nan)), type.format.bias == 127 ? 0x7fc0 : 0x7e00);
  }
}

// bf16 as a type of positions, and a result of f16 that lies in the middle of two.
TEST(HalfCases, B107_U8_positions_collide_in_bf16) {
  const auto stored = [](int position) { return bf16_to_f32(f32_to_bf16(static_cast<float>(position))); };
  EXPECT_EQ(stored(257), 256.0f);
  EXPECT_EQ(stored(259), 260.0f);
  EXPECT_EQ(stored(4095), 4096.0f);
  EXPECT_EQ(stored(15962), 15936.0f);
  EXPECT_EQ(bf16_to_f32(static_cast<std::uint16_t>(f32_to_bf16(15936.0f) + 1)), 16000.0f);  // neighbours are 64 apart
  const auto distinct = [&](int end) {
    std::set<float> values;
    for (int p = 0; p < end; ++p) values.insert(stored(p));
    return values.size();
  };
  EXPECT_EQ(distinct(4096), 769u);
  EXPECT_EQ(distinct(32768), 1153u);
}

TEST(HalfCases, B113_results_of_f16_round_ties_to_even) {
  const float cos = 1, sin = -0x1p-11f;  // u' = u + v / 2048
  Rows rows;
  rows.magic = Rows::kMagic;
  rows.uses = 1;
  rows.pairs = 1;
  rows.tokens = 1;
  rows.key.bytes[0] = 1;
  rows.cos = &cos;
  rows.sin = &sin;
  const auto turned = [&](float u) {
    std::uint16_t x[2] = {f32_to_f16(u), f32_to_f16(1)};
    EXPECT_TRUE(rotate(rows, {2, 0, Pairing::kHalf}, Operand::in_place(TensorView::of(x, DType::kF16, 1, 1, 2))).ok());
    return f16_to_f32(x[0]);
  };
  EXPECT_EQ(turned(1), 1.0f);                        // between 1 and 1 + 2^-10
  EXPECT_EQ(turned(1 + 0x1p-10f), 1 + 0x1p-9f);      // between 1 + 2^-10 and 1 + 2^-9
  EXPECT_EQ(turned(1 + 0x1p-9f), 1 + 0x1p-9f);
}

// A second oracle, where the compiler has the type.
#if defined(__GNUC__) && !defined(__clang__) && defined(__FLT16_MAX__)
#if defined(__aarch64__)
using CompilersF16 = __fp16;
#else
using CompilersF16 = _Float16;
#endif
TEST(HalfAgainstCompiler, F16) {
  for (std::uint32_t i = 0; i < 0x10000; ++i) {
    const auto half = static_cast<std::uint16_t>(i);
    const auto wide = static_cast<float>(std::bit_cast<CompilersF16>(half));
    if (!std::isnan(wide)) {
      EXPECT_EQ(bits_of(f16_to_f32(half)), bits_of(wide));
    }
  }
  for (std::uint64_t i = 0; i < 0x100000000u; i += 4091) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(i));
    if (!std::isnan(value)) {
      ASSERT_EQ(f32_to_f16(value), std::bit_cast<std::uint16_t>(static_cast<CompilersF16>(value))) << i;
    }
  }
}
#endif

}  // namespace
}  // namespace ropecache
