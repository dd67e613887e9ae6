// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// The fast path of profile `exact`, by vectors: products of factors, rounded to fp32, and which of them must be done again
// because they may lie too near a rounding boundary. ExactTable::value() is the definition and does those.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simd/target.h"

namespace ropecache {

// Pairs are handled in blocks; factors are stored for whole blocks.
inline constexpr std::size_t kBlock = 8;

// Consecutive blocks of one token, all turned by the same position.
struct RowWork {
  const double* rows[4];  // cosines of the row of each digit, from the first pair on; unused ones are not read
  std::size_t to_sines;   // from there to the sines
  bool two_digits;        // else four; a digit 0 has the row (1, 0), which changes no bit
  bool negative;          // the position: sines change sign, those of pairs that stay remain +0
  std::int64_t size;      // its absolute value
  const std::int64_t* plain_to;  // by block: up to this size no angle exceeds 1/2, with two digits
  double smallest;               // elsewhere: products cos * sin below this need value()
  std::size_t blocks;
  float* cos;  // kBlock each
  float* sin;
  std::uint8_t* again;  // by block: bit i set when pair i must be done again
};

using RowKernel = void (*)(const RowWork& work) noexcept;

// None for Target::kScalar.
RowKernel row_kernel(simd::Target target) noexcept;

}  // namespace ropecache
