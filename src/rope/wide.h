// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Wide: a signed binary floating-point number with a 256-bit significand, in integer arithmetic alone, so that rules
// give the same bits on every machine. +, -, * and / are within 1 unit of the last place (2^-255 of the result), sqrt
// within 2^-252, exp, log and pow within 2^-236 (docs/exactness.md). No NaN, no infinity: callers check their inputs first.
// Not for hot paths: a product takes tens of nanoseconds, an exp or log some microseconds.
#pragma once

#include <array>
#include <cstdint>

#include "ropecache/real.h"

namespace ropecache {

class Wide {
 public:
  Wide() = default;  // zero
  Wide(std::int64_t value);
  // The exact value of the binary fraction. `value` must be finite.
  static Wide exactly(double value);
  // The shortest decimal that reads back as `value`: what a config file says (rope.h, "Numbers"). Finite.
  static Wide decimal(double value);
  static Wide from(const Real& value);
  static const Wide& pi();
  static const Wide& ln2();

  bool is_zero() const { return limbs_[3] == 0; }
  int sign() const { return is_zero() ? 0 : negative_ ? -1 : 1; }

  // Rounded once, to nearest, ties to even. to_real(): negative values give zero; callers pass none.
  Real to_real() const;
  double to_double() const;
  float to_float() const;
  // For |value| < 2^62.
  std::int64_t floor() const;
  std::int64_t ceil() const;

  Wide operator-() const;
  friend Wide operator+(const Wide& a, const Wide& b);
  friend Wide operator-(const Wide& a, const Wide& b);
  friend Wide operator*(const Wide& a, const Wide& b);
  friend Wide operator/(const Wide& a, const Wide& b);  // b is not zero
  friend int compare(const Wide& a, const Wide& b);     // -1, 0, 1
  friend bool operator<(const Wide& a, const Wide& b) { return compare(a, b) < 0; }
  friend bool operator>(const Wide& a, const Wide& b) { return compare(a, b) > 0; }
  friend bool operator<=(const Wide& a, const Wide& b) { return compare(a, b) <= 0; }
  friend bool operator>=(const Wide& a, const Wide& b) { return compare(a, b) >= 0; }
  friend bool operator==(const Wide& a, const Wide& b) { return compare(a, b) == 0; }

  friend Wide sqrt(const Wide& x);                     // x >= 0
  friend Wide exp(const Wide& x);                      // |x| < 2^14
  friend Wide log(const Wide& x);                      // x > 0
  friend Wide pow(const Wide& base, const Wide& power);  // base > 0
  friend Wide divided(const Wide& x, std::uint64_t n);   // x / n, n > 0
  friend Wide scaled(const Wide& x, int power_of_two);   // x * 2^power_of_two, exact

  // value = 0.limbs * 2^exponent, top bit of limbs[3] set unless zero.
  const std::array<std::uint64_t, 4>& limbs() const { return limbs_; }
  int exponent() const { return exponent_; }

 private:
  Wide(const std::array<std::uint64_t, 4>& limbs, std::int32_t exponent) : exponent_(exponent), limbs_(limbs) {}

  bool negative_ = false;
  std::int32_t exponent_ = 0;
  std::array<std::uint64_t, 4> limbs_{};
};

}  // namespace ropecache
