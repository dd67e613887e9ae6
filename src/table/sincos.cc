// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "table/sincos.h"

#include <cmath>

#include "rope/limbs.h"
#include "table/round.h"

namespace ropecache {
namespace {

// An angle as a quarter turn and what is left of it, -1/8 to 1/8 turn.
struct Octant {
  int quarter;                          // 0 to 3
  bool negative;                        // sign of the rest
  std::array<std::uint64_t, 4> rest{};  // magnitude of the rest, / 2^256 turns
};

Octant octant_of(const Turns& turns) {
  Octant octant;
  const auto& t = turns.limbs;
  // The nearest quarter: add an eighth, keep two bits.
  octant.quarter = static_cast<int>((t[3] + (std::uint64_t{1} << 61)) >> 62);
  octant.rest = t;
  octant.rest[3] -= static_cast<std::uint64_t>(octant.quarter) << 62;
  octant.negative = (octant.rest[3] >> 63) != 0;
  if (octant.negative) negate(octant.rest);
  return octant;
}

// cos and sin of the rest, turned by `quarter` quarter turns.
template <class Number>
void turn(int quarter, const Number& c, const Number& s, Number& cos, Number& sin) {
  switch (quarter) {
    case 0: cos = c, sin = s; break;
    case 1: cos = -s, sin = c; break;
    case 2: cos = -c, sin = -s; break;
    default: cos = s, sin = -c; break;
  }
}

const Wide& two_pi() {
  static const Wide value = scaled(Wide::pi(), 1);
  return value;
}

const Wide& inverse_two_pi() {
  static const Wide value = Wide(1) / two_pi();
  return value;
}

// Taylor series for |x| <= pi/4 (0.7854): the terms left out are below 0.7854^19 / 19! < 2^-63 of the sum.
constexpr double kTwoPi = 6.283185307179586477;

constexpr double kSin[] = {-1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800.0,
                           -1.0 / 1307674368000.0, 1.0 / 355687428096000.0};
constexpr double kCos[] = {-1.0 / 2, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600.0,
                           -1.0 / 87178291200.0, 1.0 / 20922789888000.0, -1.0 / 6402373705728000.0};

template <std::size_t N>
double horner(const double (&coefficients)[N], double z) {
  double sum = coefficients[N - 1];
  for (std::size_t i = N - 1; i-- > 0;) sum = sum * z + coefficients[i];
  return sum;
}

}  // namespace

Turns turns_of(const Wide& angle) {
  const Wide turns = angle * inverse_two_pi();
  Turns result;
  // Place the significand, 0.limbs * 2^exponent, in fixed point; what lies above the point or below 2^-256 falls out.
  result.limbs = turns.exponent() >= 0 ? shifted_left(turns.limbs(), turns.exponent())
                                       : shifted_right(turns.limbs(), -turns.exponent());
  if (turns.sign() < 0) negate(result.limbs);
  return result;
}

Turns times(const Turns& turns, std::uint32_t position) {
  Turns result;
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    const u128 product = static_cast<u128>(turns.limbs[i]) * position + carry;
    result.limbs[i] = static_cast<std::uint64_t>(product);
    carry = static_cast<std::uint64_t>(product >> 64);
  }
  return result;
}

WidePoint wide_point_small(const Wide& x) {
  // sin x = x - x^3/3! + ..., cos x = 1 - x^2/2! + ...; for x <= pi/4 term 57 is below 2^-270.
  const Wide z = x * x;
  Wide c(1), s = x, cos_term(1), sin_term = x;
  for (std::uint64_t n = 1; n <= 28 && !cos_term.is_zero(); ++n) {
    cos_term = -divided(cos_term * z, (2 * n - 1) * (2 * n));
    sin_term = -divided(sin_term * z, (2 * n) * (2 * n + 1));
    c = c + cos_term;
    s = s + sin_term;
  }
  // The cosine of an angle that is not 0 is below 1, if by less than a Wide can tell: it must not look like 1, which times
  // a magnitude half way between two floats would round up.
  static const Wide below_one = Wide(1) - scaled(Wide(1), -256);
  if (c == Wide(1)) c = below_one;
  return {c, s};
}

WidePoint wide_point(const Turns& turns) {
  const Octant octant = octant_of(turns);
  Wide rest;
  for (std::size_t i = 4; i-- > 0;) {
    rest = scaled(rest, 32) + Wide(static_cast<std::int64_t>(octant.rest[i] >> 32));
    rest = scaled(rest, 32) + Wide(static_cast<std::int64_t>(octant.rest[i] & 0xffffffffu));
  }
  Wide x = scaled(rest, -256) * two_pi();
  if (octant.negative) x = -x;
  const WidePoint small = wide_point_small(x);
  WidePoint point;
  turn(octant.quarter, small.cos, small.sin, point.cos, point.sin);
  return point;
}

RoundedPoint::RoundedPoint(const Real& magnitude)
    : magnitude_(Wide::from(magnitude)), magnitude_double_(magnitude.to_double()) {}

void RoundedPoint::at(float angle, float* cos, float* sin) const noexcept {
  const Wide wide_angle = Wide::exactly(static_cast<double>(angle));
  if (wide_angle.is_zero()) {
    *cos = magnitude_.to_float();
    *sin = 0.0f;
    return;
  }
  if (std::fabs(angle) < 0.25f) {
    const double x = static_cast<double>(angle);
    if (!from_double(0, x, cos, sin)) rounded(wide_point_small(wide_angle), cos, sin);
    return;
  }
  const Turns turns = turns_of(wide_angle);
  const Octant octant = octant_of(turns);
  // The top 128 bits of the rest: at least 64 significant ones unless the first limb is 0.
  const double high = std::ldexp(static_cast<double>(octant.rest[3]), -64);
  const double low = std::ldexp(static_cast<double>(octant.rest[2]), -128);
  const double x = (high + low) * (octant.negative ? -kTwoPi : kTwoPi);
  if (octant.rest[3] == 0 || !from_double(octant.quarter, x, cos, sin)) rounded(wide_point(turns), cos, sin);
}

bool RoundedPoint::from_double(int quarter, double x, float* cos, float* sin) const noexcept {
  const double z = x * x;
  double c = 0, s = 0;
  turn(quarter, 1.0 + z * horner(kCos, z), x + x * (z * horner(kSin, z)), c, s);
  c *= magnitude_double_;
  s *= magnitude_double_;
  return rounds_alike(c, std::fabs(c) * 0x1p-49, cos) && rounds_alike(s, std::fabs(s) * 0x1p-49, sin);
}

void RoundedPoint::rounded(const WidePoint& point, float* cos, float* sin) const noexcept {
  *cos = (point.cos * magnitude_).to_float();
  *sin = (point.sin * magnitude_).to_float();
}

}  // namespace ropecache
