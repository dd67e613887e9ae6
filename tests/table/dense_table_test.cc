// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Profiles `fp32` and `ggml`: their angles by the recipe, rounded correctly; storing rows changes no value.
#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <random>
#include <thread>
#include <vector>

#include "oracle.h"
#include "ropecache/table.h"
#include "ropes.h"

namespace ropecache {
namespace {

using testing_ropes::plain;
using testing_ropes::random_position;

std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }

oracle::Point of_angle(float angle, float magnitude) {
  oracle::Big x(200), c(400), s(400);
  mpfr_set_flt(x, angle, MPFR_RNDN);
  mpfr_sin_cos(s, c, x, MPFR_RNDN);
  mpfr_mul_d(c, c, static_cast<double>(magnitude), MPFR_RNDN);
  mpfr_mul_d(s, s, static_cast<double>(magnitude), MPFR_RNDN);
  return {oracle::to_float(c), oracle::to_float(s)};
}

void expect_row(const Table& table, std::int64_t position, const std::vector<float>& angles, float magnitude) {
  std::vector<float> cos(angles.size()), sin(angles.size());
  ASSERT_TRUE(table.rows(Positions::of(&position, 1), cos.data(), sin.data()).ok());
  for (std::size_t i = 0; i < angles.size(); ++i) {
    const auto want = of_angle(angles[i], magnitude);
    EXPECT_EQ(bits(cos[i]), bits(want.cos)) << "position " << position << " pair " << i;
    EXPECT_EQ(bits(sin[i]), bits(want.sin)) << "position " << position << " pair " << i;
  }
}

TEST(Fp32Profile, angle_is_the_rounded_product_and_values_are_rounded_once) {
  for (double magnitude : {1.0, 1.2772588722239781}) {
    const Rope rope = plain(10000, 128, magnitude);
    const auto table = build_table(rope, Profile::kFp32);
    std::mt19937_64 random(5);
    for (int n = 0; n < 300; ++n) {
      const std::int64_t position = random_position(random);
      std::vector<float> angles;
      for (float frequency : rope.fp32_frequencies) {
        volatile float p = static_cast<float>(position);  // keep the two roundings apart
        angles.push_back(p * frequency);
      }
      expect_row(**table, position, angles, rope.fp32_magnitude);
    }
  }
}

// The angle of the running product is wrong by much more than a direct one; figures from the report, to half of their
// last digit.
TEST(GgmlProfile, B112_running_product_drifts_and_is_reproduced) {
  const Rope rope = plain(10000, 128);
  const auto exact = build_table(rope), fp32 = build_table(rope, Profile::kFp32), ggml = build_table(rope, Profile::kGgml);
  const auto largest = [&](const Table& table, std::int64_t position) {
    std::vector<float> a(64), b(64), sin(64);
    EXPECT_TRUE((*exact)->rows(Positions::of(&position, 1), a.data(), sin.data()).ok());
    EXPECT_TRUE(table.rows(Positions::of(&position, 1), b.data(), sin.data()).ok());
    float difference = 0;
    for (std::size_t i = 0; i < 64; ++i) difference = std::max(difference, std::fabs(a[i] - b[i]));
    return difference;
  };
  EXPECT_NEAR(largest(**fp32, 131071), 1.5e-3, 5e-5);
  EXPECT_NEAR(largest(**ggml, 131071), 1.2e-2, 5e-4);
  EXPECT_NEAR(largest(**fp32, 32767), 4.8e-4, 5e-6);
  EXPECT_NEAR(largest(**ggml, 32767), 2.3e-3, 1e-4);
}

// ggml-cpu/ops.cpp written out again: theta *= theta_scale, theta / freq_factor, rope_yarn().
TEST(GgmlProfile, equals_the_operator_step_by_step) {
  Rope rope = plain(10000, 64, 1.0);
  GgmlRecipe& recipe = *rope.ggml;
  recipe.freq_scale = 0.025f;
  recipe.ext_factor = 1.0f;
  recipe.attn_factor = 0.73051998f;
  for (int i = 0; i < 32; ++i) recipe.freq_factors.push_back(1.0f + 0.25f * static_cast<float>(i % 3));
  const auto table = build_table(rope, Profile::kGgml);
  ASSERT_TRUE(table.ok());
  for (std::int64_t position : {0, 1, 257, 4096, 131071}) {
    const float theta_scale = 0.74989420933245582730f;  // 10000^(-2/64)
    volatile float theta = static_cast<float>(position);
    std::vector<float> angles;
    for (int i = 0; i < 32; ++i) {
      volatile float extrapolated = theta / recipe.freq_factors[static_cast<std::size_t>(i)];
      volatile float interpolated = 0.025f * extrapolated;
      // Correction range of (10.47, 22.51): floor and ceil.
      volatile float y = (static_cast<float>(i) - 10.0f) / 13.0f;
      volatile float ramp = 1.0f - std::fmin(1.0f, std::fmax(0.0f, y));
      volatile float kept = 1.0f - ramp;
      volatile float p = interpolated * kept;
      volatile float q = extrapolated * ramp;
      angles.push_back(p + q);
      theta = theta * theta_scale;
    }
    // 0.1 ln 40 + 1 in fp32, times the factor that cancels it.
    volatile float log40 = 3.68887945f;
    volatile float tenth = 0.1f * log40;
    volatile float own = 1.0f + tenth;
    expect_row(**table, position, angles, 0.73051998f * own);
  }
}

TEST(GgmlProfile, vision_sections_start_the_product_again) {
  Rope rope = plain(10000, 16);
  rope.ggml->restarts = {1, 0, 0, 0, 1, 0, 0, 0};
  const auto table = build_table(rope, Profile::kGgml);
  const std::int64_t position = 12345;
  float cos[8], sin[8];
  ASSERT_TRUE((*table)->rows(Positions::of(&position, 1), cos, sin).ok());
  for (int i = 0; i < 4; ++i) EXPECT_EQ(bits(cos[i]), bits(cos[4 + i]));
}

// What is stored, and how it grew, changes no bit, and nothing past it is garbage; tests/flow has it for every rule.
TEST(DenseTable, B98_growing_equals_building_and_computing) {
  const Rope rope = plain(1e6, 32, 1.1386294361119891);
  for (Profile profile : {Profile::kFp32, Profile::kGgml}) {
    const auto never = build_table(rope, profile), once = build_table(rope, profile), grown = build_table(rope, profile);
    ASSERT_TRUE((*once)->reserve(300).ok());
    for (std::int64_t n : {1, 2, 100, 150, 300}) ASSERT_TRUE((*grown)->reserve(n).ok());
    std::vector<std::int64_t> positions;
    for (std::int64_t p = -310; p < 310; ++p) positions.push_back(p);
    positions.push_back(kMaxPosition);
    const auto view = Positions::of(positions.data(), static_cast<std::int64_t>(positions.size()));
    const std::size_t size = positions.size() * 16;
    std::vector<float> c0(size), s0(size), c(size), s(size);
    ASSERT_TRUE((*never)->rows(view, c0.data(), s0.data()).ok());
    for (const auto& table : {*once, *grown}) {
      ASSERT_TRUE(table->rows(view, c.data(), s.data()).ok());
      for (std::size_t i = 0; i < size; ++i) {
        ASSERT_EQ(bits(c[i]), bits(c0[i]));
        ASSERT_EQ(bits(s[i]), bits(s0[i]));
      }
    }
    EXPECT_GT((*grown)->bytes(), (*never)->bytes());
  }
}

TEST(DenseTable, bad_reservations_are_refused) {
  const auto table = build_table(plain(10000, 4), Profile::kFp32);
  EXPECT_EQ((*table)->reserve(-1).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ((*table)->reserve(kMaxPosition + 2).code(), StatusCode::kInvalidArgument);
}

// Readers while the table grows; meant for ThreadSanitizer.
TEST(DenseTable, B160_readers_do_not_mind_growth) {
  const auto table = build_table(plain(10000, 8), Profile::kFp32);
  float want_cos[4], want_sin[4];
  const std::int64_t fixed = 777;
  ASSERT_TRUE((*table)->rows(Positions::of(&fixed, 1), want_cos, want_sin).ok());
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 8; ++i) {
    readers.emplace_back([&] {
      float cos[4], sin[4];
      for (int n = 0; n < 12500 || !stop.load(std::memory_order_relaxed); ++n) {  // 10^5 reads by eight, at least
        if (!(*table)->rows(Positions::of(&fixed, 1), cos, sin).ok() || bits(cos[1]) != bits(want_cos[1]) ||
            bits(sin[3]) != bits(want_sin[3])) {
          ++wrong;
        }
      }
    });
  }
  for (std::int64_t n = 1; n < 4000; n += 37) ASSERT_TRUE((*table)->reserve(n).ok());
  stop = true;
  for (auto& reader : readers) reader.join();
  EXPECT_EQ(wrong.load(), 0);
}

}  // namespace
}  // namespace ropecache
