// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Ziv's rounding test (Fast evaluation of elementary mathematical functions with correctly rounded last bit, 1991).
#pragma once

namespace ropecache {

// True if every real number within `bound` of `value` rounds to the same float, which is written. `bound` must exceed the
// true error by what the two sums here can lose, 2^-53 of |value| + bound.
inline bool rounds_alike(double value, double bound, float* rounded) noexcept {
  const auto low = static_cast<float>(value - bound);
  const auto high = static_cast<float>(value + bound);
  *rounded = static_cast<float>(value);
  return low == high;
}

}  // namespace ropecache
