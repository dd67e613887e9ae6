// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "table/exact_table.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "table/double_double.h"
#include "table/key.h"
#include "table/round.h"
#include "table/row_kernel.h"

namespace ropecache {
namespace {

constexpr std::uint8_t kMixed = 255;

struct Factor {  // a point, in double-double
  DoubleDouble cos{1, 0};
  DoubleDouble sin{0, 0};
};

Factor product(const Factor& a, const Factor& b) noexcept {
  return {a.cos * b.cos - a.sin * b.sin, a.sin * b.cos + a.cos * b.sin};
}

DoubleDouble to_double_double(const Wide& x) {
  const double hi = x.to_double();
  return {hi, (x - Wide::exactly(hi)).to_double()};
}

// The point at position * frequency, relative error below 2^-150 in both coordinates.
WidePoint point_at(const Real& frequency, const Turns& turns, std::uint32_t position) {
  const Wide angle = Wide::from(frequency) * Wide(position);  // exact: 192 + 31 bits
  return angle.exponent() <= -2 ? wide_point_small(angle) : wide_point(times(turns, position));
}

}  // namespace

ExactTable::ExactTable(const Rope& rope, Use use, const TableKey& key)
    : Table(rope, Profile::kExact, use, key),
      pairs_(rope.frequencies.size()),
      stride_((pairs_ + kBlock - 1) / kBlock * kBlock),
      magnitude_(table_magnitude(rope, Profile::kExact, use)),
      absolute_bound_(magnitude_.to_double() * 0x1p-48),
      factors_(static_cast<std::size_t>(kRows) * 2 * stride_) {
  pair_.reserve(pairs_);
  for (const Real& frequency : rope.frequencies) {
    pair_.push_back({frequency, turns_of(Wide::from(frequency))});
  }
  for (const Level& level : kLevels) build_level(level);
  build_blocks();
}

std::size_t ExactTable::bytes_for(int pairs) noexcept {
  const auto n = static_cast<std::size_t>(pairs);
  const std::size_t blocks = (n + kBlock - 1) / kBlock;
  return sizeof(ExactTable) + n * (sizeof(Pair) + 1) +
         blocks * (kBlock * static_cast<std::size_t>(kRows) * 2 * sizeof(double) + sizeof(std::int64_t) + 1);
}

std::size_t ExactTable::bytes() const noexcept { return bytes_for(pairs()); }

void ExactTable::build_level(const Level& level) {
  const bool scale = level.shift == 0 && magnitude_ != Real::one();
  const DoubleDouble magnitude = to_double_double(Wide::from(magnitude_));
  std::vector<Factor> points(static_cast<std::size_t>(level.rows));
  for (std::size_t pair = 0; pair < pairs_; ++pair) {
    const Pair& p = pair_[pair];
    const WidePoint seed = point_at(p.frequency, p.turns, std::uint32_t{1} << level.shift);
    points[1] = {to_double_double(seed.cos), to_double_double(seed.sin)};
    // Row 2^k is the square of row 2^(k-1), row 2^k + i the product of rows 2^k and i: errors stay below 2^-87.
    for (std::size_t high = 2; high < points.size(); high *= 2) {
      points[high] = product(points[high / 2], points[high / 2]);
      for (std::size_t i = 1; i < high; ++i) points[high + i] = product(points[high], points[i]);
    }
    const double step = p.frequency.to_double() * static_cast<double>(std::int64_t{1} << level.shift);
    for (std::size_t row = 0; row < points.size(); ++row) {
      Factor point = points[row];
      // A coordinate that is small although its angle is not has lost relative accuracy to cancellation.
      if (static_cast<double>(row) * step > 0.5 &&
          (std::fabs(point.cos.hi) < 0x1p-30 || std::fabs(point.sin.hi) < 0x1p-30)) {
        const WidePoint exact = point_at(p.frequency, p.turns, static_cast<std::uint32_t>(row) << level.shift);
        point = {to_double_double(exact.cos), to_double_double(exact.sin)};
      }
      if (scale) point = {point.cos * magnitude, point.sin * magnitude};
      double* out = &factors_[(static_cast<std::size_t>(level.first_row) + row) * 2 * stride_ + pair];
      out[0] = point.cos.hi;
      out[stride_] = point.sin.hi;
    }
  }
}

void ExactTable::build_blocks() {
  for (std::size_t first = 0; first < pairs_; first += kBlock) {
    double largest = 0;
    bool tiny = false;  // sines that fp32 holds as subnormals only
    std::uint8_t axis = axes_[first];
    for (std::size_t pair = first; pair < std::min(first + kBlock, pairs_); ++pair) {
      const double frequency = pair_[pair].frequency.to_double();
      largest = std::max(largest, frequency);
      tiny |= frequency != 0 && frequency * std::min(magnitude_.to_double(), 1.0) < 0x1p-100;
      if (axes_[pair] != axis) axis = kMixed;
    }
    const double to = largest == 0 ? 0x1p31 : std::min(0x1p31, std::floor(0.4999 / largest));
    plain_to_.push_back(tiny ? -1 : static_cast<std::int64_t>(to));
    block_axis_.push_back(axis);
  }
}

// The rows of a position's digits.
struct ExactTable::Digits {
  std::int64_t position = 0;
  int levels = 1;  // digits above are 0
  std::array<const double*, 4> rows{};
};

ExactTable::Digits ExactTable::digits_of(std::int64_t position) const noexcept {
  Digits digits;
  digits.position = position;
  const auto size = static_cast<std::uint32_t>(position < 0 ? -position : position);
  for (std::size_t i = 0; i < kLevels.size(); ++i) {
    const Level& level = kLevels[i];
    const std::uint32_t digit = (size >> level.shift) & static_cast<std::uint32_t>(level.rows - 1);
    digits.rows[i] = &factors_[(static_cast<std::size_t>(level.first_row) + digit) * 2 * stride_];
    if (digit != 0) digits.levels = static_cast<int>(i) + 1;
  }
  return digits;
}

void ExactTable::fill(const Positions& positions, float* cos, float* sin) const noexcept {
  const int axes = axis_count();
  for (std::int64_t token = 0; token < positions.tokens; ++token, cos += pairs_, sin += pairs_) {
    std::array<Digits, kMaxAxes> digits;
    bool equal = true;
    for (int axis = 0; axis < axes; ++axis) {
      const std::int64_t position = positions.at(token, axis);
      equal &= axis == 0 || position == digits[0].position;
      digits[static_cast<std::size_t>(axis)] = digits_of(position);
    }
    if (equal) {
      fill_blocks(digits.data(), 0, 0, plain_to_.size(), cos, sin);
      continue;
    }
    for (std::size_t block = 0; block < plain_to_.size(); ++block) {
      if (block_axis_[block] == kMixed) {
        fill_mixed(digits.data(), block, cos, sin);
      } else {
        fill_blocks(digits.data(), block_axis_[block], block, 1, cos, sin);
      }
    }
  }
}

// Without a vector kernel value() does all. The last block may be wider than the rows.
void ExactTable::run_blocks(RowWork work, const Digits* digits, std::size_t first_block, float* cos,
                            float* sin) const noexcept {
  const RowKernel kernel = row_kernel(simd::active());
  constexpr std::size_t kMost = 64;
  std::array<std::uint8_t, kMost> again;
  work.again = again.data();
  for (std::size_t block = first_block, end = first_block + work.blocks; block < end; block += work.blocks) {
    const std::size_t first = block * kBlock;
    const bool whole = first + kBlock <= pairs_;
    work.blocks = whole ? std::min({kMost, end - block, pairs_ / kBlock - block}) : 1;
    work.plain_to = &plain_to_[block];
    std::array<float, 2 * kBlock> last;
    work.cos = whole ? cos + first : last.data();
    work.sin = whole ? sin + first : last.data() + kBlock;
    if (kernel == nullptr) {
      std::fill_n(again.begin(), work.blocks, std::uint8_t{0xff});
    } else {
      kernel(work);
    }
    for (const double*& row : work.rows) row += work.blocks * kBlock;
    if (!whole) {
      std::copy_n(work.cos, pairs_ - first, cos + first);
      std::copy_n(work.sin, pairs_ - first, sin + first);
    }
    for (std::size_t i = 0; i < work.blocks; ++i) {
      for (unsigned lanes = again[i]; lanes != 0; lanes &= lanes - 1) {
        const std::size_t pair = first + i * kBlock + static_cast<std::size_t>(std::countr_zero(lanes));
        if (pair < pairs_) value(digits[axes_[pair]], pair, cos + pair, sin + pair);
      }
    }
  }
}

// All blocks are turned by digits[axis].
void ExactTable::fill_blocks(const Digits* digits, std::size_t axis, std::size_t first_block, std::size_t blocks,
                             float* cos, float* sin) const noexcept {
  const Digits& d = digits[axis];
  RowWork work;
  for (std::size_t i = 0; i < d.rows.size(); ++i) work.rows[i] = d.rows[i] + first_block * kBlock;
  work.to_sines = stride_;
  work.two_digits = d.levels <= 2;
  work.negative = d.position < 0;
  work.size = work.negative ? -d.position : d.position;
  work.smallest = smallest_product(work.two_digits);
  work.blocks = blocks;
  run_blocks(work, digits, first_block, cos, sin);
}

// The pairs of one block are turned by different axes at different positions: their factors are brought together first.
// A negative position turns the other way, which the factors of its pairs say.
void ExactTable::fill_mixed(const Digits* digits, std::size_t block, float* cos, float* sin) const noexcept {
  double factors[4][2][kBlock] = {};
  RowWork work;
  work.two_digits = true;
  work.negative = false;
  work.size = 0;
  for (std::size_t i = 0; i < kBlock && block * kBlock + i < pairs_; ++i) {
    const std::size_t pair = block * kBlock + i;
    const Digits& d = digits[axes_[pair]];
    const bool back = d.position < 0 && !pair_[pair].frequency.is_zero();
    work.two_digits &= d.levels <= 2;
    work.size = std::max(work.size, d.position < 0 ? -d.position : d.position);
    for (std::size_t level = 0; level < d.rows.size(); ++level) {
      const double sine = d.rows[level][stride_ + pair];
      factors[level][0][i] = d.rows[level][pair];
      factors[level][1][i] = back ? -sine : sine;
    }
  }
  for (std::size_t level = 0; level < 4; ++level) work.rows[level] = factors[level][0];
  work.to_sines = kBlock;
  work.smallest = smallest_product(work.two_digits);
  work.blocks = 1;
  run_blocks(work, digits, block, cos, sin);
}

// Above it both factors exceed 2^-12 (two digits) or 2^-10 of the magnitude: docs/exactness.md, section 3.
double ExactTable::smallest_product(bool two_digits) const noexcept {
  const double magnitude = magnitude_.to_double();
  return magnitude * magnitude * (two_digits ? 0x1p-12 : 0x1p-10);
}

void ExactTable::value(const Digits& digits, std::size_t pair, float* cos, float* sin) const noexcept {
  double c = digits.rows[0][pair];
  double s = digits.rows[0][stride_ + pair];
  // The bounds are derived in docs/exactness.md, section 3.
  double c_bound = std::fabs(c) * 0x1p-51;
  double s_bound = std::fabs(s) * 0x1p-51;
  if (digits.levels > 1) {
    const double c2 = digits.rows[1][pair];
    const double s2 = digits.rows[1][stride_ + pair];
    const double cc = c * c2, ss = s * s2, sc = s * c2, cs = c * s2;
    c = cc - ss;
    s = sc + cs;
    c_bound = (std::fabs(cc) + std::fabs(ss)) * 0x1p-50;
    s_bound = (std::fabs(sc) + std::fabs(cs)) * 0x1p-50;
  }
  if (digits.levels > 2) {
    for (int i = 2; i < digits.levels; ++i) {
      const double c2 = digits.rows[static_cast<std::size_t>(i)][pair];
      const double s2 = digits.rows[static_cast<std::size_t>(i)][stride_ + pair];
      const double next = c * c2 - s * s2;
      s = s * c2 + c * s2;
      c = next;
    }
    c_bound = s_bound = pair_[pair].frequency.is_zero() ? 0.0 : absolute_bound_;
  }
  if (!rounds_alike(c, c_bound, cos) || !rounds_alike(s, s_bound, sin)) slow_value(digits.position, pair, cos, sin);
  else if (digits.position < 0 && !pair_[pair].frequency.is_zero()) *sin = -*sin;
}

void ExactTable::slow_value(std::int64_t position, std::size_t pair, float* cos, float* sin) const noexcept {
  const Pair& p = pair_[pair];
  const auto size = static_cast<std::uint32_t>(position < 0 ? -position : position);
  const Wide magnitude = Wide::from(magnitude_);
  if (size == 0 || p.frequency.is_zero()) {
    *cos = magnitude.to_float();
    *sin = 0.0f;
    return;
  }
  const WidePoint point = point_at(p.frequency, p.turns, size);
  *cos = (point.cos * magnitude).to_float();
  *sin = (point.sin * magnitude).to_float();
  if (position < 0) *sin = -*sin;
}

}  // namespace ropecache
