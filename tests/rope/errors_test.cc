// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// What no rope can have is refused, with one line that names the field, its value and what was expected.
#include <gtest/gtest.h>

#include <climits>
#include <limits>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "rope/configs.h"

namespace ropecache {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Row {
  std::string name;
  RopeConfig config;
  std::string field;
  std::string value;
  std::optional<std::int64_t> length = std::nullopt;
};
std::ostream& operator<<(std::ostream& out, const Row& row) { return out << row.name; }

class Errors : public testing::TestWithParam<Row> {};

TEST_P(Errors, are_refused_with_field_and_value) {
  const Row& row = GetParam();
  const Result<Rope> rope = resolve(row.config, {row.length});
  ASSERT_FALSE(rope.ok());
  EXPECT_EQ(rope.status().code(), StatusCode::kInvalidArgument);
  const std::string start = row.field + " is " + row.value;
  EXPECT_EQ(rope.status().message().substr(0, start.size()), start) << rope.status().message();
  EXPECT_NE(rope.status().message().find(", expected "), std::string::npos) << rope.status().message();
  EXPECT_EQ(rope.status().message().find('\n'), std::string::npos);
}

template <class T>
RopeConfig changed(RopeConfig config, T RopeConfig::*member, T value) {
  config.*member = value;
  return config;
}

LongRopeScaling longrope() {
  LongRopeScaling rule;
  rule.short_factor.assign(32, 1);
  rule.long_factor.assign(32, 2);
  rule.original_context = 4096;
  rule.factor = 4;
  return rule;
}

template <class Rule, class T>
Row rule_row(const std::string& name, Rule rule, T Rule::*member, T value, const std::string& field,
             const std::string& text) {
  rule.*member = value;
  return {name, with(plain(64, 1e4), rule), "scaling." + field, text};
}

std::vector<Row> shapes() {
  const RopeConfig good = plain(64, 1e4);
  RopeConfig tail = good;
  tail.head_dim = 512;
  tail.rotary_offset = 449;
  RopeConfig hostile = good;
  hostile.head_dim = INT_MAX;
  hostile.rotary_offset = INT_MIN;
  return {
      {"HeadDimZero", changed(good, &RopeConfig::head_dim, 0), "head_dim", "0"},
      {"HeadDimHuge", changed(good, &RopeConfig::head_dim, INT_MAX), "head_dim", "2147483647"},
      {"RotaryZero", changed(good, &RopeConfig::rotary_dim, 0), "rotary_dim", "0"},
      {"RotaryNegative", changed(good, &RopeConfig::rotary_dim, -64), "rotary_dim", "-64"},
      {"RotaryOdd", changed(good, &RopeConfig::rotary_dim, 63), "rotary_dim", "63"},
      {"RotaryWiderThanHead", changed(good, &RopeConfig::rotary_dim, 66), "rotary_dim", "66"},
      {"RotaryHuge", plain(65538, 1e4), "head_dim", "65538"},
      {"OffsetNegative", changed(good, &RopeConfig::rotary_offset, -1), "rotary_offset", "-1"},
      {"OffsetTooFar", tail, "rotary_dim", "64"},
      {"Hostile", hostile, "head_dim", "2147483647"},
      {"ExponentNegative", changed(good, &RopeConfig::exponent_dim, -2), "exponent_dim", "-2"},
      {"ExponentHuge", changed(good, &RopeConfig::exponent_dim, 1 << 20), "exponent_dim", "1048576"},
      {"Pairing", changed(good, &RopeConfig::pairing, static_cast<Pairing>(7)), "pairing", "7"},
      {"Layout", with_axes(good, static_cast<AxisLayout>(10), {32}), "axes.layout", "10"},
      {"LengthZero", good, "length", "0", 0},
      {"LengthHuge", good, "length", "2147483649", (std::int64_t{1} << 31) + 1},
  };
}

std::vector<Row> thetas() {
  return {
      {"Zero", plain(64, 0), "theta", "0"},
      {"Negative", plain(64, -1e4), "theta", "-10000"},
      {"Nan", plain(64, kNan), "theta", "nan"},
      {"Inf", plain(64, kInf), "theta", "inf"},
      {"One", plain(64, 1), "theta", "1"},
      {"Half", plain(64, 0.5), "theta", "0.5"},
      {"Huge", plain(64, 1e31), "theta", "1e+31"},
  };
}

std::vector<Row> rules() {
  const DynamicNtkScaling dynamic{4, 4096};
  const YarnScaling good_yarn = yarn(4, 4096);
  const Llama3Scaling llama3;
  const NtkScaling ntk{4, 0.5};
  std::vector<Row> rows = {
      rule_row("LinearZero", LinearScaling(), &LinearScaling::factor, 0.0, "factor", "0"),
      rule_row("LinearNegative", LinearScaling(), &LinearScaling::factor, -2.5, "factor", "-2.5"),
      rule_row("LinearNan", LinearScaling(), &LinearScaling::factor, kNan, "factor", "nan"),
      rule_row("LinearInf", LinearScaling(), &LinearScaling::factor, kInf, "factor", "inf"),
      rule_row("DynamicFactor", dynamic, &DynamicNtkScaling::factor, 0.0, "factor", "0"),
      rule_row("DynamicContext", dynamic, &DynamicNtkScaling::original_context, std::int64_t{0}, "original_context",
               "0"),
      rule_row("AlphaZero", NtkAlphaScaling(), &NtkAlphaScaling::alpha, 0.0, "alpha", "0"),
      rule_row("AlphaNan", NtkAlphaScaling(), &NtkAlphaScaling::alpha, kNan, "alpha", "nan"),
      rule_row("NtkFactor", ntk, &NtkScaling::factor, -1.0, "factor", "-1"),
      rule_row("NtkMixedB", ntk, &NtkScaling::mixed_b, std::optional<double>(-1), "mixed_b", "-1"),
      rule_row("YarnFactor", good_yarn, &YarnScaling::factor, 0.0, "factor", "0"),
      rule_row("YarnContext", good_yarn, &YarnScaling::original_context, std::int64_t{0}, "original_context", "0"),
      rule_row("YarnContextHuge", good_yarn, &YarnScaling::original_context, INT64_MAX, "original_context",
               "9223372036854775807"),
      rule_row("YarnBetaFastZero", good_yarn, &YarnScaling::beta_fast, 0.0, "beta_fast", "0"),
      rule_row("YarnBetaSlowNegative", good_yarn, &YarnScaling::beta_slow, -1.0, "beta_slow", "-1"),
      rule_row("YarnBetasSwapped", good_yarn, &YarnScaling::beta_slow, 64.0, "beta_fast", "32"),
      rule_row("YarnExtrapolation", good_yarn, &YarnScaling::extrapolation_factor, -1.0, "extrapolation_factor", "-1"),
      rule_row("YarnAttention", good_yarn, &YarnScaling::attention_factor, std::optional<double>(0),
               "attention_factor", "0"),
      rule_row("YarnMscale", good_yarn, &YarnScaling::mscale, std::optional<double>(-1), "mscale", "-1"),
      rule_row("YarnMscaleAllDim", good_yarn, &YarnScaling::mscale_all_dim, std::optional<double>(kNan),
               "mscale_all_dim", "nan"),
      rule_row("YarnMultiplier", good_yarn, &YarnScaling::attention_multiplier, 0.0, "attention_multiplier", "0"),
      rule_row("YarnSlope", good_yarn, &YarnScaling::slope, -0.1, "slope", "-0.1"),
      rule_row("YarnMagnitudeRule", good_yarn, &YarnScaling::magnitude, static_cast<YarnMagnitude>(3), "magnitude",
               "3"),
      // Wavelengths of this theta are all shorter than the context by far: the ramp would run backwards.
      {"YarnBackwards", with(plain(64, 10), yarn(4, 1 << 20)), "scaling.original_context", "1048576"},
      {"YarnShorterThanATurn", with(plain(128, 1e4), yarn(4, 1)), "scaling.original_context", "1"},
      rule_row("Llama3Factor", llama3, &Llama3Scaling::factor, 0.0, "factor", "0"),
      rule_row("Llama3Low", llama3, &Llama3Scaling::low_freq_factor, 0.0, "low_freq_factor", "0"),
      rule_row("Llama3High", llama3, &Llama3Scaling::high_freq_factor, kInf, "high_freq_factor", "inf"),
      rule_row("Llama3Swapped", llama3, &Llama3Scaling::high_freq_factor, 0.5, "high_freq_factor", "0.5"),
      rule_row("Llama3Context", llama3, &Llama3Scaling::original_context, std::int64_t{-8192}, "original_context",
               "-8192"),
      rule_row("LongRopeShort", longrope(), &LongRopeScaling::short_factor, std::vector<double>(31, 1.0),
               "short_factor", "a list of 31"),
      rule_row("LongRopeLong", longrope(), &LongRopeScaling::long_factor, std::vector<double>(), "long_factor",
               "a list of 0"),
      rule_row("LongRopeZero", longrope(), &LongRopeScaling::long_factor, std::vector<double>(32, 0.0),
               "long_factor[0]", "0"),
      rule_row("LongRopeContext", longrope(), &LongRopeScaling::original_context, std::int64_t{1}, "original_context",
               "1"),
      rule_row("LongRopeNoRatio", longrope(), &LongRopeScaling::factor, std::optional<double>(), "max_context", "0"),
      rule_row("LongRopeFactor", longrope(), &LongRopeScaling::factor, std::optional<double>(kNan), "factor", "nan"),
      rule_row("LongRopeMscale", longrope(), &LongRopeScaling::long_mscale, std::optional<double>(0), "long_mscale",
               "0"),
      rule_row("ProportionalPartial", ProportionalScaling(), &ProportionalScaling::partial, 1.5, "partial", "1.5"),
      rule_row("ProportionalNan", ProportionalScaling(), &ProportionalScaling::partial, kNan, "partial", "nan"),
      rule_row("ProportionalFactor", ProportionalScaling(), &ProportionalScaling::factor, 0.0, "factor", "0"),
      {"DynamicNeedsMorePairs", with(plain(2, 1e4), dynamic), "rotary_dim", "2"},
      {"AlphaNeedsMorePairs", with(plain(2, 1e4), NtkAlphaScaling{1000}), "rotary_dim", "2"},
      {"AlphaNeedsAnExponent", with(changed(plain(64, 1e4), &RopeConfig::exponent_dim, 2), NtkAlphaScaling{1000}),
       "exponent_dim", "2"},
  };
  return rows;
}

RopeConfig with_divisor(std::size_t count, std::size_t at, double value) {
  RopeConfig config = plain(64, 1e4);
  config.divisors.assign(count, 1);
  config.divisors[at] = value;
  return config;
}

std::vector<Row> lists() {
  const RopeConfig base = plain(128, 1e6);
  RopeConfig scale = base;
  scale.query_scale = {QueryScale::Rule::kLogFloor, 0.1, 0};
  RopeConfig beta = base;
  beta.query_scale = {QueryScale::Rule::kLogFloorPlusOne, kNan, 8192};
  return {
      {"DivisorsShort", with_divisor(31, 0, 1), "divisors", "a list of 31"},
      {"DivisorsLong", with_divisor(64, 0, 1), "divisors", "a list of 64"},
      {"DivisorZero", with_divisor(32, 5, 0), "divisors[5]", "0"},
      {"DivisorNegative", with_divisor(32, 31, -8), "divisors[31]", "-8"},
      {"DivisorNan", with_divisor(32, 0, kNan), "divisors[0]", "nan"},
      {"DivisorBeyondAnyTurn", with_divisor(32, 31, 9e29), "frequency of pair 31", "1.48"},
      {"SectionsForSingle", with_axes(base, AxisLayout::kSingle, {64}), "axes.sections", "[64]"},
      {"SectionsMissing", with_axes(base, AxisLayout::kSectioned, {}), "axes.sections", "[]"},
      {"SectionsShort", with_axes(base, AxisLayout::kSectioned, {16, 24, 23}), "axes.sections", "[16, 24, 23]"},
      {"SectionsLong", with_axes(base, AxisLayout::kInterleaved, {24, 20, 21}), "axes.sections", "[24, 20, 21]"},
      {"SectionsNegative", with_axes(base, AxisLayout::kSectioned, {80, -16}), "axes.sections", "[80, -16]"},
      {"SectionsOverflow", with_axes(base, AxisLayout::kSectioned, {INT_MAX, INT_MAX, INT_MAX}), "axes.sections",
       "[2147483647, 2147483647, 2147483647]"},
      {"SectionsTwoInterleaved", with_axes(base, AxisLayout::kInterleaved, {32, 32}), "axes.sections", "[32, 32]"},
      {"SectionsFiveGgml", with_axes(base, AxisLayout::kSectionedGgml, {16, 16, 16, 8, 8}), "axes.sections", "[16"},
      {"SectionsZeroGgml", with_axes(base, AxisLayout::kInterleavedGgml, {0, 0, 0, 0}), "axes.sections",
       "[0, 0, 0, 0]"},
      {"SectionsHugeGgml", with_axes(base, AxisLayout::kInterleavedGgml, {INT_MAX, 0, 0, 1}), "axes.sections",
       "[2147483647, 0, 0, 1]"},
      {"SectionsMany", with_axes(base, AxisLayout::kSectioned, std::vector<int>(64, 1)), "axes.sections",
       "[1, 1, 1, 1, 1, 1, 1, 1, ...]"},
      {"ErnieUnequal", with_axes(base, AxisLayout::kErnie, {20, 24, 20}), "axes.sections", "[20, 24, 20]"},
      {"AlternatingUnequal", with_axes(base, AxisLayout::kAxialAlternating, {30, 34}), "axes.sections", "[30, 34]"},
      {"AxialWithYarn", with(with_axes(base, AxisLayout::kAxial, {32, 32}), yarn(4, 4096)), "scaling", "yarn"},
      {"AlternatingWithLlama3", with(with_axes(base, AxisLayout::kAxialAlternating, {32, 32}), Llama3Scaling()),
       "scaling", "llama3"},
      {"QueryScaleContext", scale, "query_scale.context", "0"},
      {"QueryScaleBeta", beta, "query_scale.beta", "nan"},
  };
}

std::vector<Row> results() {
  YarnScaling rule = yarn(4, 4096);
  rule.attention_factor = 1e12;
  return {
      {"TooFast", with(plain(64, 1e4), LinearScaling{1e-7}), "frequency of pair 0", "10000000"},
      {"TooSlow", with(plain(64, 1e30), LinearScaling{1e12}), "frequency of pair 20", "1.77828e-31"},
      {"MagnitudeTooLarge", with(plain(64, 1e4), rule), "magnitude", "1000000000000"},
  };
}

std::string name_of(const testing::TestParamInfo<Row>& row) { return row.param.name; }

INSTANTIATE_TEST_SUITE_P(Shape, Errors, testing::ValuesIn(shapes()), name_of);
INSTANTIATE_TEST_SUITE_P(Theta, Errors, testing::ValuesIn(thetas()), name_of);
INSTANTIATE_TEST_SUITE_P(Rule, Errors, testing::ValuesIn(rules()), name_of);
INSTANTIATE_TEST_SUITE_P(List, Errors, testing::ValuesIn(lists()), name_of);
INSTANTIATE_TEST_SUITE_P(Outcome, Errors, testing::ValuesIn(results()), name_of);

TEST(Bounds, what_lies_inside_is_taken) {
  EXPECT_EQ(resolved(plain(2, 1e4)).pairs(), 1);
  EXPECT_EQ(resolved(plain(64, 1.0000001)).pairs(), 32);
  EXPECT_EQ(resolved(plain(64, 1e30)).pairs(), 32);
  EXPECT_EQ(frequency(resolved(with(plain(64, 1e4), LinearScaling{1e-6})), 0), 1e6);
  RopeConfig tail = plain(64, 1e4);
  tail.head_dim = 512;
  tail.rotary_offset = 448;
  EXPECT_EQ(resolved(tail).rotary_offset, 448);
  RopeConfig still = plain(64, 1e4);
  still.divisors.assign(32, kInf);
  for (const Real& f : resolved(still).frequencies) EXPECT_TRUE(f.is_zero());
  EXPECT_EQ(resolved(plain(64, 1e4), std::int64_t{1} << 31), resolved(plain(64, 1e4)));
}

TEST(Bounds, the_widest_rope_resolves) { EXPECT_EQ(resolved(plain(65536, 1e4)).pairs(), 32768); }

TEST(ResolveErrors, says_what_turns_the_whole_head) {
  const Result<Rope> rope = resolve({.head_dim = 80, .theta = 1e4});
  EXPECT_EQ(rope.status().message(),
            "rotary_dim is 0, expected an even number from 2 to head_dim, 80, which turns the whole head");
}

}  // namespace
}  // namespace ropecache
