// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Figures of real models, computed elsewhere with 60 digits: YaRN ranges, llama3 bands, bases, magnitudes.
#include <gtest/gtest.h>

#include <cmath>
#include <ostream>
#include <string>
#include <utility>

#include "rope/configs.h"
#include "rope/rules.h"

namespace ropecache {
namespace {

// ---- YaRN --------------------------------------------------------------------------------------------------------

struct YarnRow {
  const char* model;
  int dim;
  double theta;
  double factor;
  std::int64_t context;
  double beta_fast;
  double beta_slow;
  double low;
  double high;
  int rounded_low;
  int rounded_high;
  const char* magnitude;
};
std::ostream& operator<<(std::ostream& out, const YarnRow& row) { return out << row.model; }

class YarnAnchors : public testing::TestWithParam<YarnRow> {
 protected:
  std::pair<double, double> range(bool truncate) const {
    const YarnRow& row = GetParam();
    YarnScaling rule = yarn(row.factor, row.context, row.beta_fast, row.beta_slow);
    rule.truncate = truncate;
    const Result<rope::YarnRange> found = rope::yarn_range(rule, row.dim, log(Wide::decimal(row.theta)));
    EXPECT_TRUE(found.ok());
    return {found->low.to_double(), found->high.to_double()};
  }
};

TEST_P(YarnAnchors, range) {
  const auto [low, high] = range(false);
  expect_digits(low, GetParam().low, 12);
  if (GetParam().high > GetParam().low) expect_digits(high, GetParam().high, 12);
}

TEST_P(YarnAnchors, rounded_range) {
  EXPECT_EQ(range(true), std::make_pair(double(GetParam().rounded_low), double(GetParam().rounded_high)));
}

TEST_P(YarnAnchors, pairs_outside_the_range_are_kept_or_divided) {
  const YarnRow& row = GetParam();
  const Rope scaled = resolved(with(plain(row.dim, row.theta), yarn(row.factor, row.context, row.beta_fast,
                                                                   row.beta_slow)));
  const Rope unscaled = resolved(plain(row.dim, row.theta));
  const Rope divided = resolved(with(plain(row.dim, row.theta), LinearScaling{row.factor}));
  for (int i = 0; i < scaled.pairs(); ++i) {
    const auto n = static_cast<std::size_t>(i);
    if (i <= row.rounded_low) {
      EXPECT_EQ(scaled.frequencies[n], unscaled.frequencies[n]) << i;
    } else if (i >= row.rounded_high) {
      EXPECT_EQ(scaled.frequencies[n], divided.frequencies[n]) << i;
    } else {
      EXPECT_LT(frequency(scaled, i), frequency(unscaled, i));
      EXPECT_GT(frequency(scaled, i), frequency(divided, i));
    }
  }
}

TEST_P(YarnAnchors, magnitude) {
  const YarnRow& row = GetParam();
  const Rope rope = resolved(with(plain(row.dim, row.theta), yarn(row.factor, row.context)));
  EXPECT_EQ(to_digits_of(rope.magnitude, row.magnitude), row.magnitude);
}

INSTANTIATE_TEST_SUITE_P(
    Models, YarnAnchors,
    testing::Values(
        YarnRow{"Ministral3", 128, 1e6, 16, 16384, 32, 1, 20.3849609879, 36.43989409, 20, 37, "1.277258872223978"},
        YarnRow{"MistralSmall4", 64, 1e4, 128, 8192, 32, 1, 12.8804807756, 24.9216806022, 12, 25, "1.485203026391962"},
        YarnRow{"Qwen25", 128, 1e6, 4, 32768, 32, 1, 23.5959476083, 39.6508807104, 23, 40, "1.138629436111989"},
        YarnRow{"GptOss", 64, 150000, 32, 4096, 32, 1, 8.09277911551, 17.3980245016, 8, 18, "1.346573590279973"},
        YarnRow{"DeepSeekV3", 64, 1e4, 40, 4096, 32, 1, 10.4722408103, 22.5134406369, 10, 23, "1.368887945411394"},
        YarnRow{"DeepSeekV4", 64, 160000, 16, 65536, 32, 1, 15.453295265, 24.7084237914, 15, 25, "1.277258872223978"},
        YarnRow{"KimiK2", 64, 50000, 32, 4096, 1, 1, 19.1645748886, 19.1645748886, 19, 20, "1.346573590279973"},
        YarnRow{"KimiK2_0905", 64, 50000, 64, 4096, 32, 1, 8.91449896522, 19.1645748886, 8, 20, "1.415888308335967"},
        YarnRow{"Olmo3", 128, 5e5, 8, 8192, 32, 1, 18.0811350343, 34.9841190015, 18, 35, "1.207944154167984"},
        YarnRow{"Laguna", 64, 5e5, 64, 4096, 64, 1, 5.65997072374, 15.801761104, 5, 16, "1.415888308335967"}),
    [](const testing::TestParamInfo<YarnRow>& row) { return std::string(row.param.model); });

// A step, but never of no width.
TEST(YarnRange, equal_ends_are_a_thousandth_of_a_pair_apart) {
  YarnScaling rule = yarn(4, 4);
  const auto width = [&](int dim, double theta) {
    const Result<rope::YarnRange> found = rope::yarn_range(rule, dim, log(Wide::decimal(theta)));
    EXPECT_TRUE(found.ok());
    return (found->high - found->low).to_double();
  };
  EXPECT_EQ(width(4, 10000), 0.001);
  rule = yarn(32, 4096, 1, 1);
  EXPECT_EQ(width(64, 50000), 1);
  rule.truncate = false;
  EXPECT_EQ(width(64, 50000), 0.001);
}

// ---- llama3 ------------------------------------------------------------------------------------------------------

struct BandRow {
  const char* model;
  int dim;
  double theta;
  Llama3Scaling rule;
  int kept;
  int blended;
  int divided;
};
std::ostream& operator<<(std::ostream& out, const BandRow& row) { return out << row.model; }

class Llama3Bands : public testing::TestWithParam<BandRow> {};

TEST_P(Llama3Bands, count_of_pairs_kept_blended_divided) {
  const BandRow& row = GetParam();
  const Rope scaled = resolved(with(plain(row.dim, row.theta), row.rule));
  const Rope unscaled = resolved(plain(row.dim, row.theta));
  const Rope linear = resolved(with(plain(row.dim, row.theta), LinearScaling{row.rule.factor}));
  int kept = 0;
  int divided = 0;
  for (std::size_t i = 0; i < scaled.frequencies.size(); ++i) {
    if (scaled.frequencies[i] == unscaled.frequencies[i]) ++kept;
    if (scaled.frequencies[i] == linear.frequencies[i]) ++divided;
  }
  EXPECT_EQ(kept, row.kept);
  EXPECT_EQ(divided, row.divided);
  EXPECT_EQ(scaled.pairs() - kept - divided, row.blended);
  EXPECT_EQ(scaled.magnitude, Real::one());
}

INSTANTIATE_TEST_SUITE_P(
    Models, Llama3Bands,
    testing::Values(BandRow{"Llama31", 128, 5e5, {8, 1, 4, 8192}, 29, 6, 29},
                    BandRow{"Llama32_1B", 64, 5e5, {32, 1, 4, 8192}, 15, 3, 14},
                    BandRow{"Llama32_3B", 128, 5e5, {32, 1, 4, 8192}, 29, 6, 29},
                    BandRow{"Llama4Scout", 128, 5e5, {16, 1, 1, 8192}, 35, 0, 29},
                    BandRow{"Exaone12B", 64, 1e6, {16, 1, 4, 8192}, 14, 3, 15},
                    BandRow{"Exaone32B", 128, 1e6, {16, 1, 4, 8192}, 27, 7, 30},
                    BandRow{"Step35", 64, 5e6, {2, 1, 32, 131072}, 14, 7, 11}),
    [](const testing::TestParamInfo<BandRow>& row) { return std::string(row.param.model); });

// ---- Bases and magnitudes ----------------------------------------------------------------------------------------

// The base that a rope's second frequency shows: its inverse to the power of the pairs.
double base_of(const Rope& rope) { return std::pow(frequency(rope, 1), -rope.pairs()); }

TEST(Anchors, alpha_bases) {
  expect_digits(base_of(resolved(with(plain(128, 10000), NtkAlphaScaling{1000}))), 11158839.925077484729, 12);
  expect_digits(base_of(resolved(with(plain(128, 10000), NtkAlphaScaling{100000}))), 1200508057.7484075048, 12);
  expect_digits(base_of(resolved(with(plain(80, 10000), NtkAlphaScaling{1000}))), 11937766.417144365061, 12);
}

TEST(Anchors, longrope_magnitude) {
  LongRopeScaling rule;
  rule.short_factor = rule.long_factor = std::vector<double>(48, 1.0);
  rule.original_context = 4096;
  rule.max_context = 131072;
  EXPECT_EQ(resolved(with(plain(96, 10000), rule)).magnitude.to_decimal(19), "1.190238071423808333");
}

TEST(Anchors, softmax_multipliers) {
  const auto multiplier = [](double factor, double mscale, double theta) {
    YarnScaling rule = yarn(factor, 4096);
    rule.mscale = rule.mscale_all_dim = mscale;
    rule.softmax_scale = true;
    return resolved(with(plain(64, theta), rule)).softmax_scale_multiplier.to_decimal(16);
  };
  EXPECT_EQ(multiplier(40, 0.707, 10000), "1.589626165120874");
  EXPECT_EQ(multiplier(40, 1, 10000), "1.873854207092627");
  EXPECT_EQ(multiplier(32, 1, 50000), "1.813260434039496");
  EXPECT_EQ(multiplier(64, 1, 50000), "2.004739701682487");
}

}  // namespace
}  // namespace ropecache
