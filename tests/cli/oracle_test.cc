// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// verify's oracle must notice: one wrong bit in a row, one wrong digit in a frequency, another rule.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "verify.h"

namespace ropecache::cli {
namespace {

RopeConfig yarn() {
  YarnScaling scaling;
  scaling.factor = 32;
  scaling.original_context = 4096;
  return {.head_dim = 64, .rotary_dim = 64, .theta = 150000, .scaling = scaling};
}

struct Row {
  std::vector<float> cos, sin;
};

Row row_of(const Rope& rope, Profile profile, std::int64_t position) {
  const auto pairs = static_cast<std::size_t>(rope.pairs());
  Row row{std::vector<float>(pairs), std::vector<float>(pairs)};
  EXPECT_TRUE((*build_table(rope, profile))->rows(Positions::of(&position, 1), row.cos.data(), row.sin.data()).ok());
  return row;
}

Tally checked(const Rope& rope, Profile profile, std::int64_t position, const Row& row) {
  const OracleRope oracle = oracle_rope(yarn(), std::nullopt);
  const OracleAngles angles(rope, oracle, profile);
  RowChecker checker(angles);
  checker.check(position, row.cos.data(), row.sin.data());
  return checker.tally();
}

TEST(OracleRows, AcceptsTheLibrarysRows) {
  const Rope rope = *resolve(yarn());
  for (Profile profile : {Profile::kExact, Profile::kFp32, Profile::kGgml}) {
    for (std::int64_t p : {std::int64_t{0}, std::int64_t{1}, std::int64_t{-131071}, kMaxPosition}) {
      const Tally tally = checked(rope, profile, p, row_of(rope, profile, p));
      EXPECT_EQ(tally.values, 64u);
      EXPECT_EQ(tally.wrong, 0u) << profile_name(profile) << " at " << p;
      EXPECT_LE(tally.worst_ulp, 0.5);
    }
  }
}

TEST(OracleRows, NoticesTheLastBitOfEachValue) {
  const Rope rope = *resolve(yarn());
  const Row right = row_of(rope, Profile::kExact, 4097);
  for (std::size_t i = 0; i < right.cos.size(); ++i) {
    for (const bool sine : {false, true}) {
      Row wrong = right;
      float& value = sine ? wrong.sin[i] : wrong.cos[i];
      value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) ^ 1u);
      const Tally tally = checked(rope, Profile::kExact, 4097, wrong);
      EXPECT_EQ(tally.wrong, 1u);
      EXPECT_GT(tally.worst_ulp, 0.5);
      EXPECT_LT(tally.worst_ulp, 1.6);
    }
  }
}

TEST(OracleRows, ANanIsWrongAndTheWorst) {
  const Rope rope = *resolve(yarn());
  Row row = row_of(rope, Profile::kExact, 5);
  row.cos[3] = std::nanf("");
  const Tally tally = checked(rope, Profile::kExact, 5, row);
  EXPECT_EQ(tally.wrong, 1u);
  EXPECT_TRUE(std::isinf(tally.worst_ulp));
}

TEST(OracleRows, ProfilesAreNotEachOther) {
  const Rope rope = *resolve(yarn());
  EXPECT_GT(checked(rope, Profile::kExact, 131071, row_of(rope, Profile::kFp32, 131071)).wrong, 0u);
  EXPECT_GT(checked(rope, Profile::kFp32, 131071, row_of(rope, Profile::kGgml, 131071)).wrong, 0u);
  EXPECT_GT(checked(rope, Profile::kGgml, 131071, row_of(rope, Profile::kExact, 131071)).wrong, 0u);
}

TEST(OracleRows, DecidesValuesNearTheMiddleOfTwoFloats) {
  // Angle 1/4096: cos = 1 - 2^-25 + 2^-48 / 24 - ..., and 1 - 2^-25 is the middle between 1 and the float below. The
  // double nearest to the cosine is that middle itself, so only more bits can tell.
  RopeConfig config = {.head_dim = 2, .rotary_dim = 2, .theta = 10000};
  config.divisors = {4096};
  const Rope rope = *resolve(config);
  const OracleRope oracle = oracle_rope(config, std::nullopt);
  const OracleAngles angles(rope, oracle, Profile::kExact);
  RowChecker checker(angles);
  const float cos = 1.0f;
  const auto sin = static_cast<float>(std::sin(1.0 / 4096));
  checker.check(1, &cos, &sin);
  EXPECT_EQ(checker.tally().wrong, 0u);
  EXPECT_EQ(checker.tally().retried, 1u);
  const float below = std::nextafter(1.0f, 0.0f);
  checker.check(1, &below, &sin);
  EXPECT_EQ(checker.tally().wrong, 1u);
}

TEST(OracleRules, NoticeTheLastBitsOfAFrequency) {
  const OracleRope oracle = oracle_rope(yarn(), std::nullopt);
  Rope rope = *resolve(yarn());
  EXPECT_EQ(verify_frequencies(rope, oracle).wrong, 0u);
  rope.frequencies[7].significand[0] ^= 2;  // the 191st bit
  const FrequencyResult found = verify_frequencies(rope, oracle);
  EXPECT_EQ(found.wrong, 1u);
  EXPECT_EQ(found.values, 33u);
  EXPECT_LT(found.worst_bits, 192);
}

TEST(OracleRules, NoticeAnotherRule) {
  RopeConfig other = yarn();
  std::get<YarnScaling>(other.scaling).truncate = false;
  EXPECT_GT(verify_frequencies(*resolve(yarn()), oracle_rope(other, std::nullopt)).wrong, 0u);
}

TEST(OracleKernels, AgreeWithTheLibrary) {
  const auto found = verify_kernels(*resolve(yarn()), Profile::kExact, Kernels::kAll);
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_EQ(found->size(), 2u * 3u * 3u);  // pairings, placements, dtypes
  for (const KernelResult& one : *found) {
    EXPECT_EQ(one.wrong, 0u);
    // four turns, two layouts, in place and not
    EXPECT_EQ(one.values, 16u * 67u * 3u * static_cast<unsigned>(one.head_dim));
  }
}

}  // namespace
}  // namespace ropecache::cli
