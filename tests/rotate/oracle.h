// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// The oracle of these tests: element types by powers of two, the rotation by double arithmetic. A product of two floats
// is exact in double, and a sum that is rounded to double and then to float is the sum rounded to float (53 >= 2*24+2),
// so no flag of a compiler can change what this file computes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "ropecache/half.h"

namespace ropecache::oracle {

struct Format {
  int fraction_bits;
  int bias;
};
inline constexpr Format kBF16{7, 127};
inline constexpr Format kF16{10, 15};

inline double decode(Format format, std::uint16_t bits) {
  const int exponent_bits = 15 - format.fraction_bits;
  const int exponent = (bits >> format.fraction_bits) & ((1 << exponent_bits) - 1);
  const int fraction = bits & ((1 << format.fraction_bits) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == (1 << exponent_bits) - 1) {
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  }
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - format.bias - format.fraction_bits);
  return sign * std::ldexp(fraction + (1 << format.fraction_bits), exponent - format.bias - format.fraction_bits);
}

inline std::uint16_t encode(Format format, double value) {
  const int inf = ((1 << (15 - format.fraction_bits)) - 1) << format.fraction_bits;
  if (std::isnan(value)) return static_cast<std::uint16_t>(inf | (1 << (format.fraction_bits - 1)));
  const int sign = std::signbit(value) ? 0x8000 : 0;
  const double size = std::fabs(value);
  if (size == 0) return static_cast<std::uint16_t>(sign);
  if (std::isinf(size)) return static_cast<std::uint16_t>(sign | inf);
  int exponent = std::max(std::ilogb(size), 1 - format.bias);
  // In units of the last place, to nearest even; the carry of a round up moves into the exponent by itself.
  const auto units = static_cast<int>(std::nearbyint(std::ldexp(size, format.fraction_bits - exponent)));
  const int bits = ((exponent + format.bias - 1) << format.fraction_bits) + units;
  return static_cast<std::uint16_t>(sign | std::min(bits, inf));
}

inline float product(float a, float b) { return static_cast<float>(static_cast<double>(a) * static_cast<double>(b)); }
inline float sum(float a, float b) { return static_cast<float>(static_cast<double>(a) + static_cast<double>(b)); }

// The pair (u, v) turned by the angle of (c, s), in place.
inline void turn(float& u, float& v, float c, float s) {
  const float turned_u = sum(product(u, c), -product(v, s));
  const float turned_v = sum(product(u, s), product(v, c));
  u = turned_u;
  v = turned_v;
}

}  // namespace ropecache::oracle
