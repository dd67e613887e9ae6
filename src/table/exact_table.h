// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of profile `exact`: a position is written in digits of 10, 10, 6 and 5 bits, and each digit has a row of
// factors e^(i digit 2^shift frequency) in double, one per pair. A value is the product of at most four factors, rounded
// to fp32 under Ziv's test; what the test does not settle is computed in 256 bits. So 2144 rows answer every position,
// whatever the context. Vectors do most of it (row_kernel.h). docs/exactness.md derives the bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rope/wide.h"
#include "ropecache/aligned.h"
#include "ropecache/table.h"
#include "table/row_kernel.h"
#include "table/sincos.h"

namespace ropecache {

class ExactTable final : public Table {
 public:
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
  void fill_single(const Positions& positions, float* cos, float* sin) const noexcept;
  void fill_axes(const Digits* digits, float* cos, float* sin) const noexcept;
  void value(const Digits& digits, std::size_t pair, float* cos, float* sin) const noexcept;
  void slow_value(std::int64_t position, std::size_t pair, float* cos, float* sin) const noexcept;
  void build_level(const DigitLevel& level);
  void build_blocks();

  std::size_t pairs_;
  std::size_t stride_;  // pairs_, up to whole blocks
  Real magnitude_;
  double absolute_bound_;        // of a product of three or four factors
  AlignedVector<double> factors_;  // [row][cos, sin][stride_]; the rows of level 0 are times the magnitude
  std::vector<Pair> pair_;
  std::vector<std::int64_t> plain_to_;  // RowFactors::plain_to
  RowFactors for_kernel_;
};

}  // namespace ropecache
