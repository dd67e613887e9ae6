// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Double-double arithmetic without fused multiply-add: a number is hi + lo, |lo| <= ulp(hi) / 2. Dekker's product and
// Knuth's sum (Dekker 1971; Hida, Li, Bailey 2001). Errors below 2^-102 of the result for products and for sums of equal
// sign. Needs -ffp-contract=off. Operands far from overflow and underflow.
#pragma once

namespace ropecache {

struct DoubleDouble {
  double hi = 0;
  double lo = 0;
};

inline DoubleDouble fast_two_sum(double a, double b) noexcept {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

inline DoubleDouble two_sum(double a, double b) noexcept {
  const double sum = a + b;
  const double other = sum - a;
  return {sum, (a - (sum - other)) + (b - other)};
}

inline DoubleDouble two_product(double a, double b) noexcept {
  constexpr double kSplit = 134217729.0;  // 2^27 + 1
  const double product = a * b;
  const double ta = kSplit * a;
  const double a_high = ta - (ta - a);
  const double a_low = a - a_high;
  const double tb = kSplit * b;
  const double b_high = tb - (tb - b);
  const double b_low = b - b_high;
  return {product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low};
}

inline DoubleDouble operator*(const DoubleDouble& a, const DoubleDouble& b) noexcept {
  DoubleDouble product = two_product(a.hi, b.hi);
  product.lo += a.hi * b.lo + a.lo * b.hi;
  return fast_two_sum(product.hi, product.lo);
}

inline DoubleDouble operator+(const DoubleDouble& a, const DoubleDouble& b) noexcept {
  DoubleDouble sum = two_sum(a.hi, b.hi);
  const DoubleDouble low = two_sum(a.lo, b.lo);
  sum = fast_two_sum(sum.hi, sum.lo + low.hi);
  return fast_two_sum(sum.hi, sum.lo + low.lo);
}

inline DoubleDouble operator-(const DoubleDouble& a) noexcept { return {-a.hi, -a.lo}; }
inline DoubleDouble operator-(const DoubleDouble& a, const DoubleDouble& b) noexcept { return a + (-b); }

}  // namespace ropecache
