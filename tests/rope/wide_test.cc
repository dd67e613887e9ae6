// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Wide and Real against MPFR.
#include "rope/wide.h"

#include <gtest/gtest.h>
#include <mpfr.h>

#include <cmath>
#include <limits>
#include <random>

namespace ropecache {
namespace {

class Big {  // an mpfr_t that cleans up after itself
 public:
  Big() { mpfr_init2(v, 700); }
  ~Big() { mpfr_clear(v); }
  Big(const Big&) = delete;
  Big& operator=(const Big&) = delete;
  mpfr_t v;
};

void set(mpfr_t out, const Wide& x) {
  mpfr_set_zero(out, 1);
  for (int i = 0; i < 4; ++i) {
    mpfr_mul_2si(out, out, -64, MPFR_RNDN);
    mpfr_add_ui(out, out, static_cast<unsigned long>(x.limbs()[static_cast<std::size_t>(i)]), MPFR_RNDN);
  }
  mpfr_mul_2si(out, out, x.exponent() - 64, MPFR_RNDN);
  if (x.sign() < 0) mpfr_neg(out, out, MPFR_RNDN);
}

// log2 of |got - want| / |want|.
double relative_error(const Wide& got, mpfr_t want) {
  Big a;
  set(a.v, got);
  mpfr_sub(a.v, a.v, want, MPFR_RNDN);
  if (mpfr_zero_p(a.v)) return -9999;
  mpfr_div(a.v, a.v, want, MPFR_RNDN);
  mpfr_abs(a.v, a.v, MPFR_RNDN);
  mpfr_log2(a.v, a.v, MPFR_RNDN);
  return mpfr_get_d(a.v, MPFR_RNDN);
}

class WideTest : public testing::Test {
 protected:
  std::mt19937_64 random{20261201};
  Wide number(int exponent_range) {
    // A full significand: a quotient of two random doubles, with a random sign.
    std::uniform_real_distribution<double> fraction(0.5, 1.0);
    std::uniform_int_distribution<int> exponent(-exponent_range, exponent_range);
    Wide x = scaled(Wide::exactly(fraction(random)) / Wide::exactly(fraction(random)), exponent(random));
    return (random() & 1u) != 0 ? x : -x;
  }
};

TEST_F(WideTest, arithmetic_is_within_one_unit_of_the_last_place) {
  for (int i = 0; i < 20000; ++i) {
    const Wide x = number(i % 300), y = number(i % 7);
    Big a, b, c;
    set(a.v, x);
    set(b.v, y);
    mpfr_add(c.v, a.v, b.v, MPFR_RNDN);
    EXPECT_LE(relative_error(x + y, c.v), -255);
    mpfr_sub(c.v, a.v, b.v, MPFR_RNDN);
    EXPECT_LE(relative_error(x - y, c.v), -255);
    mpfr_mul(c.v, a.v, b.v, MPFR_RNDN);
    EXPECT_LE(relative_error(x * y, c.v), -255);
    mpfr_div(c.v, a.v, b.v, MPFR_RNDN);
    EXPECT_LE(relative_error(x / y, c.v), -255);
    const std::uint64_t n = random() | 1u;
    mpfr_div_ui(c.v, a.v, n, MPFR_RNDN);
    EXPECT_LE(relative_error(divided(x, n), c.v), -255);
    EXPECT_EQ(compare(x, y), (mpfr_cmp(a.v, b.v) > 0) - (mpfr_cmp(a.v, b.v) < 0));
  }
}

TEST_F(WideTest, cancellation_is_exact) {
  const Wide one(1);
  const Wide near = one + scaled(Wide(1), -250);
  EXPECT_EQ(near - one, scaled(Wide(1), -250));
  EXPECT_TRUE((near - near).is_zero());
  EXPECT_EQ((near - near).sign(), 0);
}

TEST_F(WideTest, functions_are_within_their_bounds) {
  for (int i = 0; i < 3000; ++i) {
    const Wide x = number(i % 8);
    const Wide positive = x.sign() < 0 ? -number(i % 200) : number(i % 200);
    const Wide p = positive.sign() < 0 ? -positive : positive;
    Big a, c;
    set(a.v, x);
    mpfr_exp(c.v, a.v, MPFR_RNDN);
    EXPECT_LE(relative_error(exp(x), c.v), -236);
    set(a.v, p);
    mpfr_log(c.v, a.v, MPFR_RNDN);
    EXPECT_LE(relative_error(log(p), c.v), -240);
    mpfr_sqrt(c.v, a.v, MPFR_RNDN);
    EXPECT_LE(relative_error(sqrt(p), c.v), -252);
  }
  Big c;
  mpfr_const_pi(c.v, MPFR_RNDN);
  EXPECT_LE(relative_error(Wide::pi(), c.v), -256);
  mpfr_const_log2(c.v, MPFR_RNDN);
  EXPECT_LE(relative_error(Wide::ln2(), c.v), -256);
}

TEST_F(WideTest, powers_of_theta_are_within_their_bound) {
  for (double theta : {1.0001, 10.0, 100.0, 10000.0, 500000.0, 1e6, 1e11, 1e30}) {
    for (int i = 1; i < 128; ++i) {
      const Wide power = -(divided(Wide(i), 128));
      Big b, e, c;
      mpfr_set_str(b.v, theta == 1.0001 ? "1.0001" : std::to_string(theta).c_str(), 10, MPFR_RNDN);
      if (theta != 1.0001) mpfr_set_d(b.v, theta, MPFR_RNDN);
      if (theta == 1e30) mpfr_set_str(b.v, "1e30", 10, MPFR_RNDN);
      mpfr_set_si(e.v, -i, MPFR_RNDN);
      mpfr_div_ui(e.v, e.v, 128, MPFR_RNDN);
      mpfr_pow(c.v, b.v, e.v, MPFR_RNDN);
      EXPECT_LE(relative_error(pow(Wide::decimal(theta), power), c.v), -236) << theta << " " << i;
    }
  }
  EXPECT_EQ(pow(Wide(65536), divided(Wide(-1), 2)).to_real(), scaled(Wide(1), -8).to_real());
}

TEST_F(WideTest, decimals_are_what_the_file_says) {
  for (double value : {0.1, 0.707, 1.0800000429153442, 1.2079441541679836, 1e-300, 1e300, 123456789.125, 5e-324}) {
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", value);
    for (int precision = 1; precision <= 17; ++precision) {  // the shortest that reads back
      std::snprintf(text, sizeof text, "%.*g", precision, value);
      if (std::strtod(text, nullptr) == value) break;
    }
    Big c;
    mpfr_set_str(c.v, text, 10, MPFR_RNDN);
    EXPECT_LE(relative_error(Wide::decimal(value), c.v), -245) << text;
  }
  EXPECT_EQ(Wide::decimal(-8.0), Wide(-8));
  EXPECT_EQ(Wide::decimal(1e6), Wide(1000000));
  EXPECT_EQ(Wide::decimal(0.25), Wide::exactly(0.25));
}

TEST_F(WideTest, narrowing_rounds_to_nearest_even) {
  Big a;
  for (int i = 0; i < 30000; ++i) {
    const Wide x = number(i % 1100);
    set(a.v, x);
    EXPECT_EQ(x.to_double(), mpfr_get_d(a.v, MPFR_RNDN));
    const Wide y = number(i % 160);
    set(a.v, y);
    EXPECT_EQ(y.to_float(), mpfr_get_flt(a.v, MPFR_RNDN));
  }
  const Wide tie = Wide(1) + scaled(Wide(1), -24);  // half way between two floats
  EXPECT_EQ(tie.to_float(), 1.0f);
  EXPECT_EQ((tie + scaled(Wide(1), -200)).to_float(), std::nextafter(1.0f, 2.0f));
  EXPECT_EQ((Wide(1) + scaled(Wide(3), -24)).to_float(), std::nextafter(std::nextafter(1.0f, 2.0f), 2.0f));
  EXPECT_EQ(scaled(Wide(1), -150).to_float(), 0.0f);
  EXPECT_EQ((scaled(Wide(1), -150) + scaled(Wide(1), -300)).to_float(), std::numeric_limits<float>::denorm_min());
  EXPECT_EQ(scaled(Wide(1), 200).to_float(), std::numeric_limits<float>::infinity());
}

TEST_F(WideTest, floor_and_ceil) {
  EXPECT_EQ(Wide::decimal(2.5).floor(), 2);
  EXPECT_EQ(Wide::decimal(2.5).ceil(), 3);
  EXPECT_EQ(Wide::decimal(-2.5).floor(), -3);
  EXPECT_EQ(Wide::decimal(-2.5).ceil(), -2);
  EXPECT_EQ(Wide(-7).floor(), -7);
  EXPECT_EQ(Wide(7).ceil(), 7);
  EXPECT_EQ(Wide::decimal(0.1).floor(), 0);
  EXPECT_EQ(Wide::decimal(-0.1).floor(), -1);
}

TEST_F(WideTest, real_prints_its_nearest_decimal) {
  for (int i = 0; i < 5000; ++i) {
    Wide w = number(i % 120);
    if (w.sign() < 0) w = -w;
    const Real real = w.to_real();
    Big a;
    set(a.v, Wide::from(real));
    char expected[80];
    mpfr_snprintf(expected, sizeof expected, "%.24Re", a.v);
    // Same digits and exponent, however they are laid out.
    Big b;
    const std::string text = real.to_decimal(25);
    mpfr_set_str(b.v, text.c_str(), 10, MPFR_RNDN);
    char got[80];
    mpfr_snprintf(got, sizeof got, "%.24Re", b.v);
    EXPECT_STREQ(got, expected) << text;
  }
  EXPECT_EQ(Real{}.to_decimal(), "0");
  EXPECT_EQ(Real::one().to_decimal(), "1");
  EXPECT_EQ(Wide(10000).to_real().to_decimal(), "10000");
  EXPECT_EQ(Wide::decimal(0.1).to_real().to_decimal(), "0.1");
  EXPECT_EQ(Wide::decimal(1e-7).to_real().to_decimal(), "1e-7");
  EXPECT_EQ(Wide::decimal(1.25e30).to_real().to_decimal(), "1.25e30");
  EXPECT_EQ(Wide::decimal(99.9999).to_real().to_decimal(3), "100");
}

TEST_F(WideTest, equal_numbers_give_equal_reals_by_different_ways) {
  for (int i = 1; i < 64; ++i) {
    const Wide w = pow(Wide(10000), -divided(Wide(i), 64));
    EXPECT_EQ((w / Wide(8)).to_real(), (w * Wide::decimal(0.125)).to_real());
    EXPECT_EQ((Wide(1) / pow(Wide(10000), divided(Wide(i), 64))).to_real(), w.to_real());
    EXPECT_EQ((w / Wide::decimal(1.3) * Wide::decimal(1.3)).to_real(), w.to_real());
  }
}

}  // namespace
}  // namespace ropecache
