// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// B148: a backend claimed modes that it computed as something else. Here every combination of axis layout, pairing,
// element type, partial width, divisors, scaling and tensor layout is right, or an error that says so. What is right is
// written out again in double, from the definitions in rope.h.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <tuple>
#include <vector>

#include "ropecache/half.h"
#include "ropecache/rotate.h"
#include "ropecache/table.h"

namespace ropecache {
namespace {

constexpr int kRotaryDim = 24, kPairs = 12, kTokens = 3, kHeads = 2;
constexpr double kTheta = 10000, kFactor = 4, kContext = 4096;

struct Mode {
  AxisLayout layout;
  std::vector<int> sections;
};

const Mode kModes[] = {
    {AxisLayout::kSingle, {}},
    {AxisLayout::kSectioned, {2, 4, 6}},
    {AxisLayout::kInterleaved, {6, 4, 2}},
    {AxisLayout::kInterleavedGgml, {5, 4, 2, 1}},
    {AxisLayout::kSectionedGgml, {2, 3, 2, 1}},
    {AxisLayout::kErnie, {4, 4, 4}},
    {AxisLayout::kAxial, {6, 6}},
    {AxisLayout::kAxialAlternating, {6, 6}},
    {AxisLayout::kAlternating, {4, 4, 4}},
    {AxisLayout::kAxialPairs, {6, 6}},
};

enum class Rule { kNone, kLinear, kYarn };

// Axis, and numerator and denominator of the exponent, of pair i.
struct Pair {
  int axis;
  int index;
  int width;
};

Pair pair_of(const Mode& mode, int i) {
  const std::vector<int>& s = mode.sections;
  const auto section = [&](int q) {
    int axis = 0;
    for (int end = s[0]; q >= end; end += s[static_cast<std::size_t>(axis)]) ++axis;
    return axis;
  };
  switch (mode.layout) {
    case AxisLayout::kSingle: return {0, i, kRotaryDim};
    case AxisLayout::kSectioned: return {section(i), i, kRotaryDim};
    case AxisLayout::kSectionedGgml: return {section(i % 8), i, kRotaryDim};
    case AxisLayout::kInterleaved: {
      const int axis = i % 3 == 1 && i < 3 * s[1] ? 1 : i % 3 == 2 && i < 3 * s[2] ? 2 : 0;
      return {axis, i, kRotaryDim};
    }
    case AxisLayout::kInterleavedGgml: {
      const int axis = i % 3 == 0 && i < 3 * s[0]   ? 0
                       : i % 3 == 1 && i < 3 * s[1] ? 1
                       : i % 3 == 2 && i < 3 * s[2] ? 2
                                                    : 3;
      return {axis, i, kRotaryDim};
    }
    case AxisLayout::kErnie: return {i >= s[0] + s[1] ? 0 : 1 + i % 2, i, kRotaryDim};
    case AxisLayout::kAxial: return {i / 6, i % 6, kRotaryDim / 2};
    case AxisLayout::kAxialAlternating: return {i / 6, 2 * (i % 6) + i / 6, kRotaryDim};
    case AxisLayout::kAlternating: return {i % 3, i, kRotaryDim};
    case AxisLayout::kAxialPairs: return {i % 2, i / 2, kRotaryDim / 2};
  }
  return {};
}

double yarn_kept(int i) {
  const auto bound = [](double turns) {
    return kRotaryDim * std::log(kContext / (2 * std::numbers::pi * turns)) / (2 * std::log(kTheta));
  };
  const double low = std::max(std::floor(bound(32)), 0.0), high = std::min(std::ceil(bound(1)), kRotaryDim - 1.0);
  return 1 - std::clamp((i - low) / (high - low), 0.0, 1.0);
}

double divisor(int i) { return 1 + 0.5 * (i % 3); }

double frequency_of(const Pair& pair, int i, Rule rule, bool divided) {
  double f = std::pow(kTheta, -2.0 * pair.index / pair.width);
  if (rule == Rule::kLinear) f /= kFactor;
  if (rule == Rule::kYarn) f = yarn_kept(i) * f + (1 - yarn_kept(i)) * f / kFactor;
  return divided ? f / divisor(i) : f;
}

std::int64_t position(int token, int axis) {
  return 7 * token + std::array{5, 2, 11, 3}[static_cast<std::size_t>(axis)];
}

std::size_t element(const TensorView& x, int t, int h, int d) {
  return static_cast<std::size_t>(t * x.token_stride + h * x.head_stride + d);
}

double load(const TensorView& x, std::size_t at) {
  if (x.dtype == DType::kF32) return static_cast<double>(static_cast<const float*>(x.data)[at]);
  const std::uint16_t bits = static_cast<const std::uint16_t*>(x.data)[at];
  return static_cast<double>(x.dtype == DType::kBF16 ? bf16_to_f32(bits) : f16_to_f32(bits));
}

void store(const TensorView& x, std::size_t at, float value) {
  if (x.dtype == DType::kF32) {
    static_cast<float*>(x.data)[at] = value;
  } else {
    static_cast<std::uint16_t*>(x.data)[at] = x.dtype == DType::kBF16 ? f32_to_bf16(value) : f32_to_f16(value);
  }
}

// Half a unit in the last place of values below 4, and the table's own rounding.
double tolerance(DType dtype) { return dtype == DType::kF32 ? 1e-6 : dtype == DType::kBF16 ? 0x1p-7 : 0x1p-10; }

class Matrix : public testing::TestWithParam<std::tuple<std::size_t, Rule, bool>> {};

void expect_rotated(const Rope& rope, const Mode& mode, Rule rule, bool divided, DType dtype, bool head_major) {
  const int head_dim = rope.head_dim;
  std::vector<std::byte> memory(static_cast<std::size_t>(kTokens * kHeads * head_dim) * dtype_size(dtype));
  TensorView x = TensorView::of(memory.data(), dtype, kTokens, kHeads, head_dim);
  if (head_major) {
    x.token_stride = head_dim;
    x.head_stride = kTokens * head_dim;
  }
  std::vector<double> in;
  for (std::size_t i = 0; i < static_cast<std::size_t>(kTokens * kHeads * head_dim); ++i) {
    store(x, i, static_cast<float>((i * 37 + 11) % 101) / 64 - 0.75f);
    in.push_back(load(x, i));
  }
  const auto table = build_table(rope).value();
  Step step(kTokens);
  std::vector<std::int64_t> ids;
  for (int t = 0; t < kTokens; ++t) {
    for (int axis = 0; axis < 4; ++axis) ids.push_back(position(t, axis));
  }
  ASSERT_TRUE(step.add(table).ok());
  ASSERT_TRUE(step.begin({ids.data(), PositionType::kInt64, kTokens, 4, 4, 1, 4 * kTokens}).ok());
  ASSERT_TRUE(rotate(*step.rows(*table), Placement::of(rope), Operand::in_place(x)).ok());

  const double magnitude = rule == Rule::kYarn ? 1 + 0.1 * std::log(kFactor) : 1;
  for (int t = 0; t < kTokens; ++t) {
    for (int h = 0; h < kHeads; ++h) {
      for (int d = kRotaryDim; d < head_dim; ++d) EXPECT_EQ(load(x, element(x, t, h, d)), in[element(x, t, h, d)]);
      for (int i = 0; i < kPairs; ++i) {
        const bool half = rope.pairing == Pairing::kHalf;
        const std::size_t u = element(x, t, h, half ? i : 2 * i), v = element(x, t, h, half ? i + kPairs : 2 * i + 1);
        const Pair pair = pair_of(mode, i);
        const double angle = static_cast<double>(position(t, pair.axis)) * frequency_of(pair, i, rule, divided);
        const double c = magnitude * std::cos(angle), s = magnitude * std::sin(angle);
        ASSERT_NEAR(load(x, u), in[u] * c - in[v] * s, tolerance(dtype)) << "pair " << i;
        ASSERT_NEAR(load(x, v), in[u] * s + in[v] * c, tolerance(dtype)) << "pair " << i;
      }
    }
  }
}

TEST_P(Matrix, B148_every_combination_is_right_or_refused) {
  const auto& [number, rule, divided] = GetParam();
  const Mode& mode = kModes[number];
  const bool axial = mode.layout == AxisLayout::kAxial || mode.layout == AxisLayout::kAxialAlternating ||
                     mode.layout == AxisLayout::kAxialPairs;
  for (const Pairing pairing : {Pairing::kHalf, Pairing::kInterleaved}) {
    for (const int head_dim : {kRotaryDim, 40}) {
      RopeConfig config{.head_dim = head_dim, .rotary_dim = kRotaryDim, .pairing = pairing, .theta = kTheta};
      config.axes = {mode.layout, mode.sections};
      for (int i = 0; divided && i < kPairs; ++i) config.divisors.push_back(divisor(i));
      if (rule == Rule::kLinear) config.scaling = LinearScaling{kFactor};
      if (rule == Rule::kYarn) {
        YarnScaling yarn;
        yarn.factor = kFactor;
        yarn.original_context = static_cast<std::int64_t>(kContext);
        config.scaling = yarn;
      }
      const auto rope = resolve(config);
      if (axial && rule == Rule::kYarn) {
        EXPECT_EQ(rope.status().code(), StatusCode::kInvalidArgument);
        continue;
      }
      ASSERT_TRUE(rope.ok()) << rope.status().message();
      const StatusCode ggml = build_table(*rope, Profile::kGgml).status().code();
      EXPECT_EQ(ggml, rope->ggml ? StatusCode::kOk : StatusCode::kUnsupported);
      for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
        for (const bool head_major : {false, true}) expect_rotated(*rope, mode, rule, divided, dtype, head_major);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Matrix,
                         testing::Combine(testing::Range(std::size_t{0}, std::size(kModes)),
                                          testing::Values(Rule::kNone, Rule::kLinear, Rule::kYarn), testing::Bool()));

}  // namespace
}  // namespace ropecache
