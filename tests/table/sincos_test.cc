// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// The slow path by itself, and the rounding of fp32 angles, against MPFR.
#include "table/sincos.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "oracle.h"
#include "ropecache/positions.h"
#include "table/round.h"

namespace ropecache {
namespace {

using oracle::Big;

// log2 of |got - want|; want in [-1, 1].
double error_log2(const Wide& got, mpfr_ptr want) {
  Big value(600);
  oracle::set_real(value, (got.sign() < 0 ? -got : got).to_real());  // 192 bits of it
  if (got.sign() < 0) mpfr_neg(value, value, MPFR_RNDN);
  mpfr_sub(value, value, want, MPFR_RNDN);
  if (mpfr_zero_p(static_cast<mpfr_ptr>(value))) return -9999;
  mpfr_abs(value, value, MPFR_RNDN);
  mpfr_log2(value, value, MPFR_RNDN);
  return mpfr_get_d(value, MPFR_RNDN);
}

TEST(SinCos, wide_points_are_good_to_190_bits_at_any_position) {
  std::mt19937_64 random(1);
  for (int n = 0; n < 2000; ++n) {
    const Real frequency = pow(Wide(10000), -divided(Wide(static_cast<std::int64_t>(random() % 64)), 64)).to_real();
    const auto position = static_cast<std::uint32_t>((random() % kMaxPosition) >> (random() % 31)) + 1;
    const WidePoint point = wide_point(times(turns_of(Wide::from(frequency)), position));
    Big angle(600), c(600), s(600);
    oracle::set_real(angle, frequency);
    mpfr_mul_ui(angle, angle, position, MPFR_RNDN);
    mpfr_sin_cos(s, c, angle, MPFR_RNDN);
    EXPECT_LT(error_log2(point.cos, c), -190);
    EXPECT_LT(error_log2(point.sin, s), -190);
  }
}

TEST(SinCos, negative_angles_are_turned_the_other_way) {
  const WidePoint plus = wide_point(turns_of(Wide::decimal(2.5))), minus = wide_point(turns_of(Wide::decimal(-2.5)));
  EXPECT_EQ(plus.cos.to_double(), minus.cos.to_double());
  EXPECT_EQ(plus.sin.to_double(), -minus.sin.to_double());
  EXPECT_EQ(plus.sin.to_double(), std::sin(2.5));
}

TEST(SinCos, small_angles_keep_relative_accuracy) {
  for (int exponent : {-3, -20, -60, -100, -140}) {
    const Wide x = scaled(Wide::decimal(1.7), exponent);
    Big angle(600), s(600);
    oracle::set_real(angle, x.to_real());
    mpfr_sin(s, angle, MPFR_RNDN);
    EXPECT_LT(error_log2(wide_point_small(Wide::from(x.to_real())).sin, s), exponent - 185);
  }
}

TEST(SinCos, a_cosine_that_is_almost_one_stays_below_it) {
  const WidePoint point = wide_point_small(scaled(Wide(1), -149));
  EXPECT_LT(point.cos, Wide(1));
  EXPECT_EQ(point.cos.to_float(), 1.0f);
}

TEST(RoundedPoint, any_fp32_angle_is_rounded_correctly) {
  std::mt19937_64 random(2);
  for (double magnitude : {1.0, 1.2772588722239781, 0.73051998}) {
    const Real real = Wide::decimal(magnitude).to_real();
    const RoundedPoint rounded(real);
    for (int n = 0; n < 20000; ++n) {
      // Any exponent that a position times a frequency can have; below 2^-126 too.
      const auto exponent = static_cast<std::uint32_t>(random() % 168);
      const auto bits = static_cast<std::uint32_t>(exponent << 23 | (random() & 0x807fffffu));
      const float angle = std::bit_cast<float>(bits);
      float cos = 0, sin = 0;
      rounded.at(angle, &cos, &sin);
      Big x(200), c(500), s(500), m(200);
      mpfr_set_flt(x, angle, MPFR_RNDN);
      mpfr_sin_cos(s, c, x, MPFR_RNDN);
      oracle::set_real(m, real);
      mpfr_mul(c, c, m, MPFR_RNDN);
      mpfr_mul(s, s, m, MPFR_RNDN);
      ASSERT_EQ(std::bit_cast<std::uint32_t>(cos), std::bit_cast<std::uint32_t>(oracle::to_float(c))) << angle;
      if (angle != 0) {
        ASSERT_EQ(std::bit_cast<std::uint32_t>(sin), std::bit_cast<std::uint32_t>(oracle::to_float(s))) << angle;
      }
    }
  }
}

TEST(RoundsAlike, refuses_an_interval_with_a_boundary_in_it) {
  const double boundary = 1.0 + 0x1p-24;  // half way between 1 and the next float
  float rounded = 0;
  EXPECT_FALSE(rounds_alike(boundary + 0x1p-51, 0x1p-50, &rounded));
  EXPECT_FALSE(rounds_alike(boundary - 0x1p-51, 0x1p-50, &rounded));
  EXPECT_TRUE(rounds_alike(boundary + 0x1p-48, 0x1p-50, &rounded));
  EXPECT_EQ(rounded, std::nextafter(1.0f, 2.0f));
  EXPECT_TRUE(rounds_alike(boundary - 0x1p-48, 0x1p-50, &rounded));
  EXPECT_EQ(rounded, 1.0f);
}

}  // namespace
}  // namespace ropecache
