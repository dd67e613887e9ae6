// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of profile `exact`: a position is written in digits of 10, 10, 6 and 5 bits, and each digit has a row of
// factors e^(i digit 2^shift frequency) in double, one per pair. A value is the product of at most four factors, rounded
// to fp32 under Ziv's test; what the test does not settle is computed in 256 bits. So 2144 rows answer every position,
// whatever the context. Vectors do most of it (row_kernel.h). docs/exactness.md derives the bounds.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "rope/wide.h"
#include "ropecache/table.h"
#include "table/row_kernel.h"
#include "table/sincos.h"

namespace ropecache {

class ExactTable final : public Table {
 public:
  struct Level {
    int shift;  // the digit is (position >> shift) & (rows - 1)
    int rows;
    int first_row;
  };
  static constexpr std::array<Level, 4> kLevels = {{{0, 1024, 0}, {10, 1024, 1024}, {20, 64, 2048}, {26, 32, 2112}}};
  static constexpr int kRows = 2144;

  ExactTable(const Rope& rope, Use use, const TableKey& key);

  std::size_t bytes() const noexcept override;
  Status reserve(std::int64_t) const noexcept override { return Status(); }

  // What bytes() is for a rope of so many pairs.
  static std::size_t bytes_for(int pairs) noexcept;

 private:
  // What the slow path needs of a pair.
  struct Pair {
    Real frequency;
    Turns turns;  // per position
  };
  struct Digits;

  void fill(const Positions& positions, float* cos, float* sin) const noexcept override;
  Digits digits_of(std::int64_t position) const noexcept;
  // Of one token, by the digits of each axis.
  void fill_blocks(const Digits* digits, std::size_t axis, std::size_t first_block, std::size_t blocks, float* cos,
                   float* sin) const noexcept;
  void fill_mixed(const Digits* digits, std::size_t block, float* cos, float* sin) const noexcept;
  void run_blocks(RowWork work, const Digits* digits, std::size_t first_block, float* cos, float* sin) const noexcept;
  double smallest_product(bool two_digits) const noexcept;
  void value(const Digits& digits, std::size_t pair, float* cos, float* sin) const noexcept;
  void slow_value(std::int64_t position, std::size_t pair, float* cos, float* sin) const noexcept;
  void build_level(const Level& level);
  void build_blocks();

  std::size_t pairs_;
  std::size_t stride_;  // pairs_, up to whole blocks
  Real magnitude_;
  double absolute_bound_;        // of a product of three or four factors
  std::vector<double> factors_;  // [row][cos, sin][stride_]; the rows of level 0 are times the magnitude
  std::vector<Pair> pair_;
  std::vector<std::int64_t> plain_to_;    // RowWork::plain_to
  std::vector<std::uint8_t> block_axis_;  // that turns all pairs of a block, or kMixed
};

}  // namespace ropecache
