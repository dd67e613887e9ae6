// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// The fp32 recipe against the bits that transformers itself computes: tests/data/hf-fp32-frequencies.json holds them
// with PyTorch's own pow, which may be an ulp off, and with a correctly rounded one. Other projects' rules: MPFR.
#include <gtest/gtest.h>

#include <bit>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "rope/configs.h"
#include "rope/mp.h"

namespace ropecache {
namespace {

using nlohmann::json;
using oracle::Mp;

RopeConfig config_of(const json& row) {
  const json& p = row["parameters"];
  const std::string type = row["type"];
  RopeConfig config = plain(row["rotary_dim"], p["rope_theta"]);
  const std::int64_t original = p.value("original_max_position_embeddings", std::int64_t{0});
  const std::int64_t max_context = row["max_context"];
  if (type == "linear") config.scaling = LinearScaling{p["factor"]};
  if (type == "dynamic") config.scaling = DynamicNtkScaling{p["factor"], max_context};
  if (type == "llama3") {
    config.scaling = Llama3Scaling{p["factor"], p["low_freq_factor"], p["high_freq_factor"], original};
  }
  if (type == "proportional") {
    config.scaling = ProportionalScaling{p["partial_rotary_factor"], p.value("factor", 1.0)};
  }
  if (type == "yarn") {
    YarnScaling rule = yarn(p["factor"], original, p.value("beta_fast", 32.0), p.value("beta_slow", 1.0));
    rule.truncate = p.value("truncate", true);
    if (p.contains("mscale")) rule.mscale = p["mscale"].get<double>();
    if (p.contains("mscale_all_dim")) rule.mscale_all_dim = p["mscale_all_dim"].get<double>();
    config.scaling = rule;
  }
  if (type == "longrope") {
    LongRopeScaling rule;
    rule.short_factor = p["short_factor"].get<std::vector<double>>();
    rule.long_factor = p["long_factor"].get<std::vector<double>>();
    rule.original_context = original;
    rule.max_context = max_context;
    config.scaling = rule;
  }
  return config;
}

float from_bits(const std::string& hex) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(std::stoul(hex, nullptr, 16)));
}

int ulps(float a, float b) {
  return std::abs(std::bit_cast<std::int32_t>(a) - std::bit_cast<std::int32_t>(b));
}

TEST(Fp32Recipe, agrees_with_transformers) {
  std::ifstream file(TEST_DATA "/hf-fp32-frequencies.json");
  const json data = json::parse(file);
  ASSERT_EQ(data["cases"].size(), 24u);
  int equal = 0;
  int total = 0;
  for (const json& row : data["cases"]) {
    SCOPED_TRACE(row["type"].get<std::string>() + " " + row["parameters"].dump().substr(0, 200));
    ResolveOptions options;
    if (!row["length"].is_null()) options.length = row["length"].get<std::int64_t>();
    const Rope rope = resolved(config_of(row), options);
    ASSERT_EQ(rope.fp32_frequencies.size(), row["frequencies"].size());
    for (std::size_t i = 0; i < rope.fp32_frequencies.size(); ++i) {
      const float theirs = from_bits(row["frequencies"][i]);
      EXPECT_EQ(rope.fp32_frequencies[i], from_bits(row["rounded"][i])) << "pair " << i;
      EXPECT_LE(ulps(rope.fp32_frequencies[i], theirs), 2) << "pair " << i;
      equal += rope.fp32_frequencies[i] == theirs ? 1 : 0;
      ++total;
    }
    EXPECT_EQ(rope.fp32_magnitude, from_bits(row["magnitude"]));
  }
  EXPECT_GT(equal, total * 95 / 100);
}

float f(double value) { return static_cast<float>(value); }
float rounded_pow(float base, float power) {
  return pow(Mp(static_cast<double>(base)), Mp(static_cast<double>(power))).to_float();
}
float inverse_power(double base, int i, int dim) {
  return 1.0f / rounded_pow(f(base), f(2 * i) / f(dim));
}

// transformers, modeling_hunyuan_v1_dense.py: the base is a Python float.
TEST(Fp32Recipe, ntk_alpha_stretches_the_base_in_float64) {
  const Rope rope = resolved(with(plain(128, 10000), NtkAlphaScaling{1000}));
  const double base = 10000 * pow(Mp(1000), Mp(128.0 / 126.0)).to_double();
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(rope.fp32_frequencies[static_cast<std::size_t>(i)], inverse_power(base, i, 128)) << i;
  }
}

// vLLM, ntk_scaling_rope.py.
TEST(Fp32Recipe, ntk_divides_by_a_float64_power) {
  const Rope rope = resolved(with(plain(64, 10000), NtkScaling{2.5, std::nullopt}));
  const float divisor = f(pow(Mp(2.5), Mp(2.0 / 64)).to_double());
  for (int i = 0; i < 32; ++i) {
    EXPECT_EQ(rope.fp32_frequencies[static_cast<std::size_t>(i)], inverse_power(25000, i, 64) / divisor) << i;
  }
}

TEST(Fp32Recipe, ntk_with_mixed_b) {
  const Rope rope = resolved(with(plain(64, 10000), NtkScaling{2.5, 0.625}));
  const float a = log(Mp(2.5)).to_float() / f(pow(Mp(32), Mp(0.625)).to_double());
  for (int i = 0; i < 32; ++i) {
    const float power = a * rounded_pow(f(i + 1), 0.625f);
    const float divisor = exp(Mp(static_cast<double>(power))).to_float();
    EXPECT_EQ(rope.fp32_frequencies[static_cast<std::size_t>(i)], inverse_power(10000, i, 64) / divisor) << i;
  }
}

TEST(Fp32Recipe, divisors_divide_last) {
  RopeConfig config = with(plain(64, 10000), LinearScaling{3});
  for (int i = 0; i < 32; ++i) config.divisors.push_back(1 + i / 10.0);
  config.divisors[31] = 1e30;
  const Rope rope = resolved(config);
  for (int i = 0; i < 31; ++i) {
    const auto n = static_cast<std::size_t>(i);
    EXPECT_EQ(rope.fp32_frequencies[n], inverse_power(10000, i, 64) / 3.0f / f(config.divisors[n])) << i;
  }
  EXPECT_EQ(rope.fp32_frequencies[31], 0.0f);
}

TEST(Fp32Recipe, stays_near_the_true_frequencies) {
  for (const Scaling& scaling :
       std::vector<Scaling>{std::monostate(), LinearScaling{3}, NtkAlphaScaling{1000}, NtkScaling{3, 0.5},
                            NtkScaling{3, std::nullopt}, yarn(40, 4096), Llama3Scaling(),
                            ProportionalScaling{0.5, 3}}) {
    const Rope rope = resolved(with(plain(128, 5e5), scaling));
    for (std::size_t i = 0; i < 64; ++i) {
      const double truth = rope.frequencies[i].to_double();
      EXPECT_NEAR(static_cast<double>(rope.fp32_frequencies[i]), truth, 3e-6 * truth) << scaling_name(scaling) << i;
    }
  }
}

TEST(Fp32Recipe, magnitudes) {
  YarnScaling rule = yarn(40, 4096);
  rule.attention_multiplier = 0.5;
  const auto magnitude = [&] { return resolved(with(plain(64, 10000), rule)).fp32_magnitude; };
  EXPECT_EQ(magnitude(), f((0.1 * 3.6888794541139363 + 1.0) * 0.5));
  rule.magnitude = YarnMagnitude::kOne;
  EXPECT_EQ(magnitude(), 1.0f);
  rule.magnitude = YarnMagnitude::kPlain;
  rule.attention_factor = 3;
  EXPECT_EQ(magnitude(), f((0.1 * 3.6888794541139363 + 1.0) * 0.5));
  rule.magnitude = YarnMagnitude::kHf;
  EXPECT_EQ(magnitude(), 1.5f);
}

}  // namespace
}  // namespace ropecache
