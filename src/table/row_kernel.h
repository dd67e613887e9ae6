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

// What the kernel needs of a table.
struct RowFactors {
  const double* rows;            // [row][cos, sin][stride], the rows of all digits
  std::size_t stride;            // whole blocks
  std::size_t pairs;
  const std::int64_t* plain_to;  // by block: up to this size of a position below 2^20 no angle exceeds 1/2
  double smallest;               // elsewhere a cosine or sine below it in size needs value(); below 2^20
  double smallest_beyond;        // from 2^20 on
};

// Pairs that must be done again: bit i of `lanes` is pair first + i, of token `token`.
using Again = void (*)(const void* context, std::int64_t token, std::size_t first, unsigned lanes) noexcept;

// Tokens with one position each, for all pairs.
struct RowTokens {
  const void* positions;
  bool wide;  // int64, else int32
  std::int64_t stride;
  std::int64_t tokens;
  float* cos;  // [tokens, pairs]
  float* sin;
  Again again;
  const void* context;
};

// One block of one token, whose factors were brought together.
struct RowBlock {
  double factors[4][2][kBlock];  // [digit][cos, sin]
  bool two_digits;               // else four
  bool plain;
  double smallest;
  float cos[kBlock];  // results
  float sin[kBlock];
};

struct RowKernel {
  void (*tokens)(const RowFactors& factors, const RowTokens& tokens) noexcept;
  unsigned (*block)(RowBlock& block) noexcept;  // returns the lanes to be done again
};

// None for Target::kScalar.
const RowKernel* row_kernel(simd::Target target) noexcept;

// The digits of a position: 10, 10, 6 and 5 bits.
struct DigitLevel {
  int shift;  // the digit is (position >> shift) & (rows - 1)
  int rows;
  int first_row;
};
inline constexpr DigitLevel kDigitLevels[4] = {{0, 1024, 0}, {10, 1024, 1024}, {20, 64, 2048}, {26, 32, 2112}};
inline constexpr int kDigitRows = 2144;

inline constexpr std::int64_t kTwoDigits = std::int64_t{1} << 20;  // positions below have no more

// The row of a digit of a position of this size.
inline const double* digit_row(const double* rows, std::size_t stride, std::uint32_t size, int level) noexcept {
  const DigitLevel& l = kDigitLevels[level];
  const std::uint32_t digit = (size >> l.shift) & static_cast<std::uint32_t>(l.rows - 1);
  return rows + (static_cast<std::size_t>(l.first_row) + digit) * 2 * stride;
}

}  // namespace ropecache
