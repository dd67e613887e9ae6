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
      factors_(static_cast<std::size_t>(kDigitRows) * 2 * stride_) {
  pair_.reserve(pairs_);
  for (const Real& frequency : rope.frequencies) {
    pair_.push_back({frequency, turns_of(Wide::from(frequency))});
  }
  for (const DigitLevel& level : kDigitLevels) build_level(level);
  build_blocks();
}

std::size_t ExactTable::bytes_for(int pairs) noexcept {
  const auto n = static_cast<std::size_t>(pairs);
  const std::size_t blocks = (n + kBlock - 1) / kBlock;
  return sizeof(ExactTable) + n * (sizeof(Pair) + 1) +
         blocks * (kBlock * static_cast<std::size_t>(kDigitRows) * 2 * sizeof(double) + sizeof(std::int64_t));
}

std::size_t ExactTable::bytes() const noexcept { return bytes_for(pairs()); }

void ExactTable::build_level(const DigitLevel& level) {
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
  for (std::size_t first = 0; first < stride_; first += kBlock) {
    double largest = 0;
    bool tiny = false;  // sines that fp32 holds as subnormals only
    for (std::size_t pair = first; pair < std::min(first + kBlock, pairs_); ++pair) {
      const double frequency = pair_[pair].frequency.to_double();
      largest = std::max(largest, frequency);
      tiny |= frequency != 0 && frequency * std::min(magnitude_.to_double(), 1.0) < 0x1p-100;
    }
    const double to = largest == 0 ? 0x1p31 : std::min(0x1p31, std::floor(0.4999 / largest));
    plain_to_.push_back(tiny ? -1 : static_cast<std::int64_t>(to));
  }
  const double magnitude = magnitude_.to_double();
  for_kernel_ = {factors_.data(), stride_, pairs_, plain_to_.data(), magnitude * 0x1p-12, magnitude * 0x1p-10};
  // Lanes without a pair hold what never needs to be done again: a float, its lower bits 0.
  const auto filler = static_cast<double>(static_cast<float>(0.7 * magnitude_.to_double()));
  for (std::size_t row = 0; row < kDigitRows; ++row) {
    const bool first_level = row < static_cast<std::size_t>(kDigitLevels[0].rows);
    for (std::size_t lane = pairs_; lane < stride_; ++lane) {
      factors_[row * 2 * stride_ + lane] = first_level ? filler : 1.0;
      factors_[(row * 2 + 1) * stride_ + lane] = first_level ? filler : 0.0;
    }
  }
}

// The rows of a position's digits.
struct ExactTable::Digits {
  std::int64_t position = 0;
  int levels = 1;  // digits above are 0
  std::array<const double*, 4> rows{};
};

ExactTable::Digits ExactTable::digits_of(std::int64_t position) const noexcept {
  const auto size = static_cast<std::uint32_t>(position < 0 ? -position : position);
  Digits digits;
  digits.position = position;
  digits.levels = size < kTwoDigits ? 2 : 4;
  for (int i = 0; i < 4; ++i) digits.rows[static_cast<std::size_t>(i)] = digit_row(factors_.data(), stride_, size, i);
  return digits;
}

void ExactTable::fill(const Positions& positions, float* cos, float* sin) const noexcept {
  if (axis_count() == 1 || positions.axis_stride == 0) return fill_single(positions, cos, sin);
  for (std::int64_t token = 0; token < positions.tokens; ++token, cos += pairs_, sin += pairs_) {
    std::array<Digits, kMaxAxes> digits;
    bool equal = true;  // as text has it
    for (int axis = 0; axis < axis_count(); ++axis) {
      const std::int64_t position = positions.at(token, axis);
      equal &= position == positions.at(token, 0);
      digits[static_cast<std::size_t>(axis)] = digits_of(position);
    }
    if (equal) {
      const std::int64_t position = positions.at(token, 0);
      fill_single(Positions::of(&position, 1), cos, sin);
    } else {
      fill_axes(digits.data(), cos, sin);
    }
  }
}

void ExactTable::fill_single(const Positions& positions, float* cos, float* sin) const noexcept {
  struct Context {
    const ExactTable& table;
    const Positions& positions;
    float* cos;
    float* sin;
  };
  const Context context{*this, positions, cos, sin};
  const Again again = [](const void* pointer, std::int64_t token, std::size_t first, unsigned lanes) noexcept {
    const auto& [table, all, all_cos, all_sin] = *static_cast<const Context*>(pointer);
    const Digits digits = table.digits_of(all.at(token, 0));
    for (; lanes != 0; lanes &= lanes - 1) {
      const std::size_t pair = first + static_cast<std::size_t>(std::countr_zero(lanes));
      const std::size_t at = static_cast<std::size_t>(token) * table.pairs_ + pair;
      if (pair < table.pairs_) table.value(digits, pair, all_cos + at, all_sin + at);
    }
  };
  if (const RowKernel* kernel = row_kernel(simd::active())) {
    kernel->tokens(for_kernel_, {positions.data, positions.type == PositionType::kInt64, positions.token_stride,
                               positions.tokens, cos, sin, again, &context});
    return;
  }
  for (std::int64_t token = 0; token < positions.tokens; ++token) {
    for (std::size_t first = 0; first < pairs_; first += kBlock) again(&context, token, first, 0xff);
  }
}

// Pairs are turned by different axes at different positions: the factors of a block are brought together first. A negative
// position turns the other way, which the sines of its pairs say.
void ExactTable::fill_axes(const Digits* digits, float* cos, float* sin) const noexcept {
  const RowKernel* kernel = row_kernel(simd::active());
  const RowFactors& all = for_kernel_;
  for (std::size_t first = 0; first < pairs_; first += kBlock) {
    RowBlock block{};
    block.two_digits = true;
    std::int64_t size = 0;
    const std::size_t count = std::min(kBlock, pairs_ - first);
    for (std::size_t i = 0; i < count; ++i) {
      const Digits& d = digits[axes_[first + i]];
      const bool back = d.position < 0 && !pair_[first + i].frequency.is_zero();
      block.two_digits &= d.levels == 2;
      size = std::max(size, d.position < 0 ? -d.position : d.position);
      for (std::size_t level = 0; level < 4; ++level) {
        const double sine = d.rows[level][stride_ + first + i];
        block.factors[level][0][i] = d.rows[level][first + i];
        block.factors[level][1][i] = back ? -sine : sine;
      }
    }
    block.plain = block.two_digits && size <= plain_to_[first / kBlock];
    block.smallest = block.two_digits ? all.smallest : all.smallest_beyond;
    unsigned again = kernel != nullptr ? kernel->block(block) : 0xffu;
    std::copy_n(block.cos, count, cos + first);
    std::copy_n(block.sin, count, sin + first);
    for (; again != 0; again &= again - 1) {
      const std::size_t pair = first + static_cast<std::size_t>(std::countr_zero(again));
      if (pair < pairs_) value(digits[axes_[pair]], pair, cos + pair, sin + pair);
    }
  }
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
