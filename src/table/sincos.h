// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// cos and sin in fixed point: an angle is a fraction of a turn in 256 bits, so reducing it is dropping its integer part.
// Bounds are derived in docs/exactness.md.
#pragma once

#include <array>
#include <cstdint>

#include "rope/wide.h"

namespace ropecache {

// A fraction of a turn, in [0, 1): limbs / 2^256, least significant first.
struct Turns {
  std::array<std::uint64_t, 4> limbs{};
};

// angle / 2 pi, without its integer part. Error below 2^-200 turns for |angle| < 2^52.
Turns turns_of(const Wide& angle);

// position * turns, without its integer part: exact.
Turns times(const Turns& turns, std::uint32_t position);

struct WidePoint {
  Wide cos;
  Wide sin;
};

// Within 2^-200 of the circle's point, plus 2 pi times the error of `turns`.
WidePoint wide_point(const Turns& turns);
// Neither is called for an angle of 0, and no other angle here is a multiple of a quarter turn: frequencies are rational.
// For |x| <= pi/4, with relative error below 2^-240 in both.
WidePoint wide_point_small(const Wide& x);

// cos and sin times a magnitude, each rounded to fp32 once. The fast path computes in double with relative error below
// 2^-49 and is taken when both ends of that interval round alike; else the value is computed in 256 bits.
class RoundedPoint {
 public:
  explicit RoundedPoint(const Real& magnitude);
  // `angle` is exact. Allocates nothing.
  void at(float angle, float* cos, float* sin) const noexcept;

 private:
  // cos and sin of x plus quarter turns, |x| <= pi/4, x within 2^-51 of itself. False: too close to a rounding boundary.
  bool from_double(int quarter, double x, float* cos, float* sin) const noexcept;
  void rounded(const WidePoint& point, float* cos, float* sin) const noexcept;

  Wide magnitude_;
  double magnitude_double_;
};

}  // namespace ropecache
