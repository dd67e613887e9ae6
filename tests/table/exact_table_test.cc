// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Profile `exact` against MPFR, bit for bit.
#include "table/exact_table.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <random>
#include <vector>

#include "oracle.h"
#include "ropes.h"

namespace ropecache {
namespace {

using testing_ropes::plain;
using testing_ropes::random_position;
using testing_ropes::with_axes;

std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }

// Compares rows at `positions` with the oracle; returns how many values were compared.
std::size_t expect_exact(const Rope& rope, const std::vector<std::int64_t>& positions) {
  const auto table = build_table(rope);
  EXPECT_TRUE(table.ok()) << table.status().message();
  const auto pairs = static_cast<std::size_t>(rope.pairs());
  std::vector<float> cos(positions.size() * pairs), sin(positions.size() * pairs);
  const auto view = Positions::of(positions.data(), static_cast<std::int64_t>(positions.size()));
  EXPECT_TRUE((*table)->rows(view, cos.data(), sin.data()).ok());
  for (std::size_t t = 0; t < positions.size(); ++t) {
    for (std::size_t i = 0; i < pairs; ++i) {
      const auto want = oracle::point(rope.frequencies[i], rope.magnitude, positions[t]);
      EXPECT_EQ(bits(cos[t * pairs + i]), bits(want.cos)) << "position " << positions[t] << " pair " << i;
      EXPECT_EQ(bits(sin[t * pairs + i]), bits(want.sin)) << "position " << positions[t] << " pair " << i;
    }
  }
  return 2 * positions.size() * pairs;
}

std::vector<std::int64_t> random_positions(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::int64_t> positions(count);
  for (auto& position : positions) position = random_position(random);
  return positions;
}

TEST(ExactTable, equals_mpfr_at_random_positions_and_ropes) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 24; ++i) {
    const double theta = std::pow(10.0, 0.5 + static_cast<double>(random() % 120) / 10.0);
    const int rotary_dim = 2 * static_cast<int>(1 + random() % 64);
    const double magnitude = i % 3 == 0 ? 1.0 : 0.5 + static_cast<double>(random() % 1000) / 700.0;
    SCOPED_TRACE(testing::Message() << theta << " " << rotary_dim << " " << magnitude);
    expect_exact(plain(theta, rotary_dim, magnitude), random_positions(150, random()));
  }
}

TEST(ExactTable, equals_mpfr_around_every_power_of_two_and_at_both_ends) {
  std::vector<std::int64_t> positions{0, 1, -1, kMaxPosition, -kMaxPosition, kMaxPosition - 1};
  for (int bit = 1; bit < 31; ++bit) {
    for (std::int64_t around : {-1, 0, 1}) {
      positions.push_back((std::int64_t{1} << bit) + around);
      positions.push_back(-((std::int64_t{1} << bit) + around));
    }
  }
  expect_exact(plain(10000, 128), positions);
  expect_exact(plain(1e6, 64, 1.3465735902799727), positions);
  expect_exact(plain(1e11, 32), positions);
}

// Frequencies whose angles are exact floats or lie on rounding boundaries, tiny ones, large ones, and none.
TEST(ExactTable, equals_mpfr_for_awkward_frequencies) {
  Rope rope = plain(10000, 32);
  const std::vector<Wide> frequencies = {
      Wide(0),          Wide(1),
      scaled(Wide(1), -1),  scaled(Wide(1), -24),  scaled(Wide(1), -40),
      scaled(Wide(1), -80), scaled(Wide(1), -120), scaled(Wide(1), -149),
      Wide(1000),       scaled(Wide(1), 19),
      Wide::pi(),       scaled(Wide::pi(), -1),
      scaled(Wide::pi(), 3), scaled(Wide::pi(), -12),
      scaled(Wide(16777217), -50), scaled(Wide(16777217), -140)};
  for (std::size_t i = 0; i < frequencies.size(); ++i) rope.frequencies[i] = frequencies[i].to_real();
  auto positions = random_positions(400, 11);
  for (std::int64_t p = -1100; p < 1100; p += 7) positions.push_back(p);
  for (std::int64_t p : {16777217, 16777219, 33554433, 2147483647}) positions.push_back(p);
  expect_exact(rope, positions);
  // A magnitude half way between two floats: position 0 is a tie, to even; every other is just below it.
  rope.magnitude = (Wide(1) + scaled(Wide(3), -24)).to_real();
  expect_exact(rope, positions);
  rope.magnitude = (Wide(1) + scaled(Wide(1), -24)).to_real();
  expect_exact(rope, positions);
}

TEST(ExactTable, negative_positions_mirror_and_still_pairs_stay) {
  Rope rope = plain(10000, 8);
  rope.frequencies[3] = Real{};
  const auto table = build_table(rope);
  for (std::int64_t p : {1, 5000, 3000000, 2000000000}) {
    const std::int64_t both[2] = {p, -p};
    float cos[8], sin[8];
    ASSERT_TRUE((*table)->rows(Positions::of(both, 2), cos, sin).ok());
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(bits(cos[i]), bits(cos[4 + i]));
      EXPECT_EQ(bits(sin[i]), bits(-sin[4 + i]));
    }
    for (int row : {0, 4}) {
      EXPECT_EQ(bits(cos[row + 3]), bits(1.0f));
      EXPECT_EQ(bits(sin[row + 3]), bits(0.0f));
    }
  }
}

TEST(ExactTable, is_small_whatever_the_context) {
  const auto table = build_table(plain(1e6, 128));
  EXPECT_LE((*table)->bytes(), static_cast<std::size_t>(2.1 * 1024 * 1024));
  EXPECT_EQ((*table)->bytes(), ExactTable::bytes_for(64));
  const std::size_t before = (*table)->bytes();
  EXPECT_TRUE((*table)->reserve(1 << 30).ok());
  EXPECT_EQ((*table)->bytes(), before);
}

TEST(ExactTable, B106_ten_million_positions_allocate_nothing_more) {
  const auto table = build_table(plain(500000, 128));
  const std::int64_t positions[3] = {10485759, 10485760, 10485761};
  std::vector<float> cos(192), sin(192);
  const std::size_t before = (*table)->bytes();
  ASSERT_TRUE((*table)->rows(Positions::of(positions, 3), cos.data(), sin.data()).ok());
  EXPECT_EQ((*table)->bytes(), before);
}

TEST(ExactTable, B101_B97_positions_past_any_length_are_answered_or_refused) {
  const auto table = build_table(plain(10000, 4));
  const std::int64_t inside[3] = {2047, 2048, 4096};
  float cos[6], sin[6];
  EXPECT_TRUE((*table)->rows(Positions::of(inside, 3), cos, sin).ok());
  const std::int64_t outside[3] = {0, kMaxPosition + 1, 0};
  cos[0] = 7.0f;
  const Status status = (*table)->rows(Positions::of(outside, 3), cos, sin);
  EXPECT_EQ(status.code(), StatusCode::kOutOfRange);
  EXPECT_NE(status.message().find("2147483648"), std::string::npos) << status.message();
  EXPECT_EQ(cos[0], 7.0f) << "written before the check";
  const std::int64_t lowest[1] = {-kMaxPosition - 1};
  EXPECT_EQ((*table)->rows(Positions::of(lowest, 1), cos, sin).code(), StatusCode::kOutOfRange);
}

TEST(ExactTable, each_pair_turns_by_its_own_axis) {
  const Rope rope = with_axes(plain(10000, 16), 3);
  const auto table = build_table(rope);
  const std::int32_t thw[3] = {7, 3, 500000};
  const Positions view{thw, PositionType::kInt32, 1, 3, 1, 1, 3};
  float cos[8], sin[8];
  ASSERT_TRUE((*table)->rows(view, cos, sin).ok());
  for (std::size_t i = 0; i < 8; ++i) {
    const auto want = oracle::point(rope.frequencies[i], rope.magnitude, thw[i % 3]);
    EXPECT_EQ(bits(cos[i]), bits(want.cos));
    EXPECT_EQ(bits(sin[i]), bits(want.sin));
  }
}

// Image rope of HunyuanImage 3: y and x take turns pair by pair. In two blocks half of the pairs are elsewhere.
TEST(ExactTable, B71_two_axes_take_turns) {
  const Rope turns = with_axes(plain(10000, 16), 2);
  Rope blocks = turns;
  blocks.axes = {0, 0, 0, 0, 1, 1, 1, 1};
  EXPECT_NE(*table_key(turns), *table_key(blocks));
  const std::int32_t yx[2] = {2, 5};
  float cos[8], sin[8], cos_blocks[8], sin_blocks[8];
  const Positions view{yx, PositionType::kInt32, 1, 2, 1, 1, 2};
  ASSERT_TRUE(build_table(turns).value()->rows(view, cos, sin).ok());
  ASSERT_TRUE(build_table(blocks).value()->rows(view, cos_blocks, sin_blocks).ok());
  int different = 0;
  for (int i = 0; i < 8; ++i) {
    const double angle = (i % 2 == 0 ? 2 : 5) * std::pow(10000.0, -i / 8.0);
    EXPECT_NEAR(cos[i], std::cos(angle), 1e-7);
    EXPECT_NEAR(sin[i], std::sin(angle), 1e-7);
    different += bits(sin[i]) != bits(sin_blocks[i]);
  }
  EXPECT_EQ(different, 4);
}

// Section-major positions of a sub-batch keep the whole batch's axis stride.
TEST(Positions, B64_sections_are_not_cut_at_the_wrong_place) {
  const std::int32_t thwe[24] = {10, 10, 10, 10, 13, 14, 10, 10, 11, 11, 13, 14, 10, 11, 10, 11, 13, 14, 0, 0, 0, 0, 0, 0};
  const Positions first{thwe, PositionType::kInt32, 4, 4, 1, 6, 24};
  const Positions second{thwe + 4, PositionType::kInt32, 2, 4, 1, 6, 20};
  const std::int64_t h_first[4] = {10, 10, 11, 11};
  for (std::int64_t t = 0; t < 4; ++t) EXPECT_EQ(first.at(t, 1), h_first[t]);
  for (std::int64_t t = 0; t < 2; ++t) {
    EXPECT_EQ(second.at(t, 0), 13 + t);
    EXPECT_EQ(second.at(t, 1), 13 + t);
    EXPECT_EQ(second.at(t, 2), 13 + t);
    EXPECT_EQ(second.at(t, 3), 0);
  }
  EXPECT_TRUE(check_positions(first, 4).ok());
  EXPECT_TRUE(check_positions(second, 4).ok());
}

TEST(Positions, B65_too_few_positions_are_refused) {
  const std::int32_t text[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  const auto table = build_table(with_axes(plain(10000, 16), 4));
  std::vector<float> cos(64), sin(64);
  // One axis for a rope of four; then four axes with only N values behind them.
  EXPECT_EQ((*table)->rows(Positions::of(text, 8), cos.data(), sin.data()).code(), StatusCode::kInvalidArgument);
  const Positions short_view{text, PositionType::kInt32, 8, 4, 1, 8, 8};
  EXPECT_EQ((*table)->rows(short_view, cos.data(), sin.data()).code(), StatusCode::kInvalidArgument);
  // Saying "equal ids on all axes" is an explicit stride of 0.
  const Positions equal_ids{text, PositionType::kInt32, 8, 4, 1, 0, 8};
  EXPECT_TRUE((*table)->rows(equal_ids, cos.data(), sin.data()).ok());
}

TEST(Positions, equal_ids_on_all_axes_are_the_plain_rope) {
  const Rope one = plain(1e6, 64);
  const auto plain_table = build_table(one);
  const auto axes_table = build_table(with_axes(one, 3));
  const std::int64_t text[4] = {0, 17, 131071, 1048576};
  std::vector<float> a(128), b(128), c(128), d(128);
  ASSERT_TRUE((*plain_table)->rows(Positions::of(text, 4), a.data(), b.data()).ok());
  ASSERT_TRUE((*axes_table)->rows({text, PositionType::kInt64, 4, 3, 1, 0, 4}, c.data(), d.data()).ok());
  for (std::size_t i = 0; i < 128; ++i) {
    EXPECT_EQ(bits(a[i]), bits(c[i]));
    EXPECT_EQ(bits(b[i]), bits(d[i]));
  }
}

TEST(Positions, bad_views_are_refused) {
  const std::int64_t p[2] = {0, 1};
  const auto table = build_table(plain(10000, 4));
  float out[4];
  const auto code = [&](const Positions& view) { return (*table)->rows(view, out, out).code(); };
  EXPECT_EQ(code({nullptr, PositionType::kInt32, 1, 1, 1, 0, -1}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({p, PositionType::kInt64, -1, 1, 1, 0, -1}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({p, static_cast<PositionType>(7), 2, 1, 1, 0, -1}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({p, PositionType::kInt64, 2, 0, 1, 0, -1}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({p, PositionType::kInt64, INT64_MAX, 1, INT64_MAX, 0, 2}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({p + 1, PositionType::kInt64, 2, 1, -1, 0, 1}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({nullptr, PositionType::kInt32, 0, 1, 1, 0, 0}), StatusCode::kOk);
  EXPECT_EQ((*table)->rows(Positions::of(p, 2), nullptr, out).code(), StatusCode::kInvalidArgument);
}

TEST(BuildTable, ropes_that_resolve_cannot_make_are_refused) {
  const auto code = [](const Rope& rope, Profile profile = Profile::kExact) {
    return build_table(rope, profile).status().code();
  };
  EXPECT_EQ(code(Rope{}), StatusCode::kInvalidArgument);
  Rope rope = plain(10000, 8);
  rope.axes.pop_back();
  EXPECT_EQ(code(rope), StatusCode::kInvalidArgument);
  rope = plain(10000, 8);
  rope.axes[0] = kMaxAxes;
  EXPECT_EQ(code(rope), StatusCode::kInvalidArgument);
  rope = plain(10000, 8);
  rope.frequencies[1].significand[2] = 1;
  EXPECT_EQ(code(rope), StatusCode::kInvalidArgument);
  rope = plain(10000, 8);
  rope.frequencies[1].exponent = 21;
  EXPECT_EQ(code(rope), StatusCode::kInvalidArgument);
  rope = plain(10000, 8);
  rope.magnitude = Real{};
  EXPECT_EQ(code(rope), StatusCode::kInvalidArgument);
  rope = plain(10000, 8);
  rope.ggml.reset();
  EXPECT_EQ(code(rope, Profile::kGgml), StatusCode::kUnsupported);
  rope.fp32_frequencies.clear();
  EXPECT_EQ(code(rope, Profile::kFp32), StatusCode::kUnsupported);
  EXPECT_EQ(code(rope), StatusCode::kOk);
  // Refused at once, however far out the number: its text takes no time that grows with it.
  for (int exponent : {2000000000, -2000000000, INT32_MIN, INT32_MAX}) {
    rope = plain(10000, 8);
    rope.frequencies[0].exponent = exponent;
    EXPECT_EQ(code(rope), StatusCode::kInvalidArgument);
    rope = plain(10000, 8);
    rope.magnitude.exponent = exponent;
    EXPECT_EQ(code(rope), StatusCode::kInvalidArgument);
  }
  rope = plain(10000, 8);
  EXPECT_EQ(code(rope, static_cast<Profile>(9)), StatusCode::kInvalidArgument);
  EXPECT_EQ(build_table(rope, Profile::kExact, static_cast<Use>(9)).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace ropecache
