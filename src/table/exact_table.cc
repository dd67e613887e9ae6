// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "table/exact_table.h"

#include <bit>
#include <cmath>

#include "table/double_double.h"
#include "table/key.h"
#include "table/round.h"

namespace ropecache {
namespace {

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
      magnitude_(table_magnitude(rope, Profile::kExact, use)),
      absolute_bound_(magnitude_.to_double() * 0x1p-48),
      factors_(static_cast<std::size_t>(kRows) * 2 * pairs_) {
  pair_.reserve(pairs_);
  for (const Real& frequency : rope.frequencies) {
    pair_.push_back({frequency, turns_of(Wide::from(frequency))});
  }
  for (const Level& level : kLevels) build_level(level);
}

std::size_t ExactTable::bytes_for(int pairs) noexcept {
  const auto n = static_cast<std::size_t>(pairs);
  return sizeof(ExactTable) + n * (static_cast<std::size_t>(kRows) * 2 * sizeof(double) + sizeof(Pair) + 1);
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
      double* out = &factors_[(static_cast<std::size_t>(level.first_row) + row) * 2 * pairs_ + pair];
      out[0] = point.cos.hi;
      out[pairs_] = point.sin.hi;
    }
  }
}

// The rows of a position's digits.
struct ExactTable::Digits {
  std::int64_t position = 0;
  int levels = 1;  // digits above are 0
  std::array<const double*, 4> rows{};
};

void ExactTable::fill(const Positions& positions, float* cos, float* sin) const noexcept {
  for (std::int64_t token = 0; token < positions.tokens; ++token) {
    std::array<Digits, kMaxAxes> digits;
    for (int axis = 0; axis < axis_count(); ++axis) {
      Digits& d = digits[static_cast<std::size_t>(axis)];
      d.position = positions.at(token, axis);
      const auto size = static_cast<std::uint32_t>(d.position < 0 ? -d.position : d.position);
      for (std::size_t i = 0; i < kLevels.size(); ++i) {
        const Level& level = kLevels[i];
        const std::uint32_t digit = (size >> level.shift) & static_cast<std::uint32_t>(level.rows - 1);
        d.rows[i] = &factors_[(static_cast<std::size_t>(level.first_row) + digit) * 2 * pairs_];
        if (digit != 0) d.levels = static_cast<int>(i) + 1;
      }
    }
    for (std::size_t pair = 0; pair < pairs_; ++pair) value(digits[axes_[pair]], pair, cos++, sin++);
  }
}

void ExactTable::value(const Digits& digits, std::size_t pair, float* cos, float* sin) const noexcept {
  double c = digits.rows[0][pair];
  double s = digits.rows[0][pairs_ + pair];
  // The bounds are derived in docs/exactness.md, section 3.
  double c_bound = std::fabs(c) * 0x1p-51;
  double s_bound = std::fabs(s) * 0x1p-51;
  if (digits.levels > 1) {
    const double c2 = digits.rows[1][pair];
    const double s2 = digits.rows[1][pairs_ + pair];
    const double cc = c * c2, ss = s * s2, sc = s * c2, cs = c * s2;
    c = cc - ss;
    s = sc + cs;
    c_bound = (std::fabs(cc) + std::fabs(ss)) * 0x1p-50;
    s_bound = (std::fabs(sc) + std::fabs(cs)) * 0x1p-50;
  }
  if (digits.levels > 2) {
    for (int i = 2; i < digits.levels; ++i) {
      const double c2 = digits.rows[static_cast<std::size_t>(i)][pair];
      const double s2 = digits.rows[static_cast<std::size_t>(i)][pairs_ + pair];
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
