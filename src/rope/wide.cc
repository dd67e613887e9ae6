// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "rope/wide.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "rope/limbs.h"

namespace ropecache {
namespace {

using Limbs = std::array<std::uint64_t, 4>;

// The significand rounded to `bits` (at most 64) bits, to nearest even; may come out as 2^bits.
std::uint64_t rounded_top(const Limbs& limbs, int bits) {
  if (bits < 0) return 0;
  if (bits == 0) {  // at least half of the unit: up only if it is more than the half
    const bool more = (limbs[3] << 1) != 0 || (limbs[2] | limbs[1] | limbs[0]) != 0;
    return more ? 1 : 0;
  }
  const std::uint64_t top = bits == 64 ? limbs[3] : limbs[3] >> (64 - bits);
  std::uint64_t next = 0;  // the first bit below
  bool sticky = false;
  if (bits == 64) {
    next = limbs[2] >> 63;
    sticky = (limbs[2] << 1) != 0 || (limbs[1] | limbs[0]) != 0;
  } else {
    const std::uint64_t rest = limbs[3] << bits;
    next = rest >> 63;
    sticky = (rest << 1) != 0 || (limbs[2] | limbs[1] | limbs[0]) != 0;
  }
  return top + ((next != 0 && (sticky || (top & 1u) != 0)) ? 1u : 0u);
}

// Rounds 0.limbs * 2^exponent into a binary format with `precision` bits and the given range of exponents.
template <class Float>
Float narrowed(const Limbs& limbs, int exponent, bool negative) {
  constexpr int kPrecision = std::numeric_limits<Float>::digits;
  constexpr int kMinExponent = std::numeric_limits<Float>::min_exponent;  // 0.1xxx * 2^e, as here
  const int bits = exponent >= kMinExponent ? kPrecision : kPrecision - (kMinExponent - exponent);
  const std::uint64_t top = rounded_top(limbs, bits);
  const Float magnitude = std::ldexp(static_cast<Float>(top), exponent - (bits < 0 ? 0 : bits));
  return negative ? -magnitude : magnitude;
}

// Normalises limbs (most significant last) and keeps the top 256 bits.
template <std::size_t N>
void normalise(const std::array<std::uint64_t, N>& wide, int exponent, Limbs& limbs, std::int32_t& out_exponent) {
  const int zeros = leading_zeros(wide);
  if (zeros == static_cast<int>(64 * N)) {
    limbs = {};
    out_exponent = 0;
    return;
  }
  const auto aligned = shifted_left(wide, zeros);
  for (std::size_t i = 0; i < 4; ++i) limbs[3 - i] = aligned[N - 1 - i];
  out_exponent = exponent - zeros;
}

}  // namespace

Wide::Wide(std::int64_t value) {
  if (value == 0) return;
  negative_ = value < 0;
  const std::uint64_t magnitude = negative_ ? ~static_cast<std::uint64_t>(value) + 1u : static_cast<std::uint64_t>(value);
  normalise(Limbs{0, 0, 0, magnitude}, 64, limbs_, exponent_);
}

Wide Wide::exactly(double value) {
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  return scaled(Wide(static_cast<std::int64_t>(std::ldexp(fraction, 53))), exponent - 53);
}

Wide Wide::decimal(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr;
  std::int64_t digits = 0;
  int places = 0;
  const char* p = text;
  const bool negative = *p == '-';
  if (negative) ++p;
  bool after_point = false;
  for (; p != end && *p != 'e'; ++p) {
    if (*p == '.') {
      after_point = true;
      continue;
    }
    digits = digits * 10 + (*p - '0');
    if (after_point) ++places;
  }
  int exponent = 0;
  if (p != end) {
    ++p;
    if (*p == '+') ++p;
    std::from_chars(p, end, exponent);
  }
  exponent -= places;
  Wide power(1);
  Wide square(10);
  for (int n = std::abs(exponent); n != 0; n >>= 1) {
    if (n & 1) power = power * square;
    square = square * square;
  }
  const Wide magnitude = exponent < 0 ? Wide(digits) / power : Wide(digits) * power;
  return negative ? -magnitude : magnitude;
}

Wide Wide::from(const Real& value) {
  Wide w;
  if (value.is_zero()) return w;
  w.limbs_ = {0, value.significand[0], value.significand[1], value.significand[2]};
  w.exponent_ = value.exponent;
  return w;
}

// 0.limbs * 2^exponent to nearest, from mpmath at 600 bits; tests/rope/wide_test.cc holds them against MPFR.
const Wide& Wide::pi() {
  static const Wide value({0x020bbea63b139b22, 0x29024e088a67cc74, 0xc4c6628b80dc1cd1, 0xc90fdaa22168c234}, 2);
  return value;
}

const Wide& Wide::ln2() {
  static const Wide value({0x8a0d175b8baafa2c, 0x40f343267298b62d, 0xc9e3b39803f2f6af, 0xb17217f7d1cf79ab}, 0);
  return value;
}

Real Wide::to_real() const {
  Real real;
  if (is_zero() || negative_) return real;
  real.significand = {limbs_[1], limbs_[2], limbs_[3]};
  real.exponent = exponent_;
  const bool half = (limbs_[0] >> 63) != 0;
  const bool more = (limbs_[0] << 1) != 0;
  if (half && (more || (limbs_[1] & 1u) != 0)) {
    if (add_into(real.significand, std::array<std::uint64_t, 3>{1, 0, 0}) != 0) {
      real.significand[2] = std::uint64_t{1} << 63;
      ++real.exponent;
    }
  }
  return real;
}

double Wide::to_double() const { return is_zero() ? 0.0 : narrowed<double>(limbs_, exponent_, negative_); }

float Wide::to_float() const { return is_zero() ? 0.0f : narrowed<float>(limbs_, exponent_, negative_); }

std::int64_t Wide::floor() const {
  if (is_zero()) return 0;
  if (exponent_ <= 0) return negative_ ? -1 : 0;
  const auto integer = static_cast<std::int64_t>(limbs_[3] >> (64 - exponent_));
  if (!negative_) return integer;
  const bool fraction = (limbs_[3] << exponent_) != 0 || (limbs_[2] | limbs_[1] | limbs_[0]) != 0;
  return fraction ? -integer - 1 : -integer;
}

std::int64_t Wide::ceil() const { return -(-*this).floor(); }

Wide Wide::operator-() const {
  Wide r = *this;
  if (!is_zero()) r.negative_ = !negative_;
  return r;
}

int compare(const Wide& a, const Wide& b) {
  if (a.sign() != b.sign()) return a.sign() < b.sign() ? -1 : 1;
  if (a.is_zero()) return 0;
  const int magnitude = a.exponent_ != b.exponent_ ? (a.exponent_ < b.exponent_ ? -1 : 1)
                                                   : compare_limbs(a.limbs_, b.limbs_);
  return a.negative_ ? -magnitude : magnitude;
}

Wide operator+(const Wide& a, const Wide& b) {
  if (a.is_zero()) return b;
  if (b.is_zero()) return a;
  const bool a_larger = a.exponent_ != b.exponent_ ? a.exponent_ > b.exponent_ : compare_limbs(a.limbs_, b.limbs_) >= 0;
  const Wide& large = a_larger ? a : b;
  const Wide& small = a_larger ? b : a;
  const int shift = large.exponent_ - small.exponent_;
  if (shift > 320) return large;
  // One limb of guard bits below, one for the carry above.
  std::array<std::uint64_t, 6> x{0, large.limbs_[0], large.limbs_[1], large.limbs_[2], large.limbs_[3], 0};
  const std::array<std::uint64_t, 6> y =
      shifted_right(std::array<std::uint64_t, 6>{0, small.limbs_[0], small.limbs_[1], small.limbs_[2], small.limbs_[3], 0},
                    shift);
  if (a.negative_ == b.negative_) {
    add_into(x, y);
  } else {
    subtract_from(x, y);
  }
  Wide r;
  normalise(x, large.exponent_ + 64, r.limbs_, r.exponent_);
  r.negative_ = large.negative_ && !r.is_zero();
  return r;
}

Wide operator-(const Wide& a, const Wide& b) { return a + (-b); }

Wide operator*(const Wide& a, const Wide& b) {
  Wide r;
  if (a.is_zero() || b.is_zero()) return r;
  std::array<std::uint64_t, 8> product{};
  for (std::size_t i = 0; i < 4; ++i) {
    std::uint64_t carry = 0;
    for (std::size_t j = 0; j < 4; ++j) {
      const u128 term = static_cast<u128>(a.limbs_[i]) * b.limbs_[j] + product[i + j] + carry;
      product[i + j] = static_cast<std::uint64_t>(term);
      carry = static_cast<std::uint64_t>(term >> 64);
    }
    product[i + 4] = carry;
  }
  normalise(product, a.exponent_ + b.exponent_, r.limbs_, r.exponent_);
  r.negative_ = a.negative_ != b.negative_;
  return r;
}

Wide operator/(const Wide& a, const Wide& b) {
  Wide r;
  if (a.is_zero()) return r;
  // Long division, a bit at a time: both significands are in [1/2, 1), the quotient in (1/2, 2). 257 bits are made.
  std::array<std::uint64_t, 5> rest{a.limbs_[0], a.limbs_[1], a.limbs_[2], a.limbs_[3], 0};
  const std::array<std::uint64_t, 5> divisor{b.limbs_[0], b.limbs_[1], b.limbs_[2], b.limbs_[3], 0};
  std::array<std::uint64_t, 5> quotient{};
  for (int i = 0; i < 257; ++i) {
    quotient = shifted_left(quotient, 1);
    if (compare_limbs(rest, divisor) >= 0) {
      subtract_from(rest, divisor);
      quotient[0] |= 1u;
    }
    rest = shifted_left(rest, 1);
  }
  normalise(quotient, a.exponent_ - b.exponent_ + 64, r.limbs_, r.exponent_);
  r.negative_ = a.negative_ != b.negative_;
  return r;
}

Wide divided(const Wide& x, std::uint64_t n) {
  std::array<std::uint64_t, 5> quotient{};
  const std::array<std::uint64_t, 5> dividend{0, x.limbs_[0], x.limbs_[1], x.limbs_[2], x.limbs_[3]};
  u128 rest = 0;
  for (std::size_t i = 5; i-- > 0;) {
    rest = (rest << 64) | dividend[i];
    quotient[i] = static_cast<std::uint64_t>(rest / n);
    rest %= n;
  }
  Wide r;
  normalise(quotient, x.exponent_, r.limbs_, r.exponent_);
  r.negative_ = x.negative_ && !r.is_zero();
  return r;
}

Wide scaled(const Wide& x, int power_of_two) {
  Wide r = x;
  if (!x.is_zero()) r.exponent_ += power_of_two;
  return r;
}

Wide sqrt(const Wide& x) {
  if (x.sign() <= 0) return Wide();
  // Newton's steps double the correct bits: 52, 104, 208, 256. The start is rounded to 32 bits so that it does not
  // depend on the platform's square root.
  const int even = x.exponent_ & ~1;
  const double start = std::sqrt(scaled(x, -even).to_double());
  Wide y = scaled(Wide(static_cast<std::int64_t>(start * 4294967296.0)), -32);
  const Wide m = scaled(x, -even);
  for (int i = 0; i < 4; ++i) y = scaled(y + m / y, -1);
  return scaled(y, even / 2);
}

Wide exp(const Wide& x) {
  if (x.is_zero()) return Wide(1);
  const std::int64_t k = (x / Wide::ln2() + scaled(Wide(1), -1)).floor();
  constexpr int kHalvings = 8;
  const Wide r = scaled(x - Wide(k) * Wide::ln2(), -kHalvings);  // |r| < 2^-9
  Wide sum(1);
  Wide term(1);
  for (std::uint64_t n = 1; n <= 24; ++n) {  // 2^(-9 * 24) / 24! < 2^-294
    term = divided(term * r, n);
    sum = sum + term;
  }
  for (int i = 0; i < kHalvings; ++i) sum = sum * sum;
  return scaled(sum, static_cast<int>(k));
}

Wide log(const Wide& x) {
  // x = m 2^k with m in [3/4, 3/2), ln m = 2 artanh(z), z = (m - 1) / (m + 1), |z| <= 1/5.
  int k = x.exponent_;
  Wide m = scaled(x, -k);
  if (m < scaled(Wide(3), -2)) {
    m = scaled(m, 1);
    --k;
  }
  const Wide z = (m - Wide(1)) / (m + Wide(1));
  const Wide z2 = z * z;
  Wide power = z;
  Wide sum = z;
  for (std::uint64_t n = 3; n < 125 && !power.is_zero(); n += 2) {  // 5^-125 < 2^-290
    power = power * z2;
    sum = sum + divided(power, n);
  }
  return scaled(sum, 1) + Wide(k) * Wide::ln2();
}

Wide pow(const Wide& base, const Wide& power) { return power.is_zero() ? Wide(1) : exp(power * log(base)); }

}  // namespace ropecache
