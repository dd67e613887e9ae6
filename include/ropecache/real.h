// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Real: a non-negative real number with 192 significant bits, in one canonical form. Frequencies and magnitudes
// are Reals: rules are evaluated with more bits than that in integer arithmetic and then rounded once to nearest,
// so the same rule gives the same Real on every machine and with every compiler, and two rules that define the
// same number give the same Real. At position 2^31 the rounding moves an angle by less than 2^-160 of itself.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace ropecache {

// value = significand / 2^192 * 2^exponent, limbs from the least to the most significant, top bit set.
// Zero is all zeros.
struct Real {
  std::array<std::uint64_t, 3> significand{};
  std::int32_t exponent = 0;

  bool operator==(const Real&) const noexcept = default;

  bool is_zero() const noexcept { return significand[2] == 0; }
  static Real one() noexcept { return Real{{0, 0, std::uint64_t{1} << 63}, 1}; }

  // Nearest double, ties to even. Zero or infinity beyond double's range.
  double to_double() const noexcept;
  // Nearest decimal with `digits` (1 to 50) significant digits, trailing zeros removed: "0.8659643233600653523531692",
  // "1", "0", "3.5e-40" (an exponent is used below 1e-6 and from 1e25 up).
  // Beyond 2^16384 either way, which no rule reaches, just the power of two: "2^2000000000".
  std::string to_decimal(int digits = 25) const;
};

}  // namespace ropecache
