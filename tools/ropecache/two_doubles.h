// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Cosines of exact frequencies in double precision at any position: what searches and charts need, without MPFR.
#pragma once

#include <cmath>
#include <cstdint>

#include "ropecache/real.h"

namespace ropecache::cli {

// A frequency as the sum of two doubles, 106 bits: p * w is then known to 1e-16 rad at any p below 2^31.
struct TwoDoubles {
  double high = 0;
  double low = 0;

  explicit TwoDoubles(const Real& value) {
    const std::uint64_t top = value.significand[2];
    const std::uint64_t rest = top & 0x7ff;
    high = std::ldexp(static_cast<double>(top - rest), value.exponent - 64);
    low = std::ldexp(static_cast<double>(rest), value.exponent - 64) +
          std::ldexp(static_cast<double>(value.significand[1]), value.exponent - 128);
  }

  double cos_at(double p) const {
    const double angle = p * high;
    const double rest = std::fma(p, high, -angle) + p * low;
    return std::cos(angle) - std::sin(angle) * rest;
  }
};

}  // namespace ropecache::cli
