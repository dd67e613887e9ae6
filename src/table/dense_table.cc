// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "table/dense_table.h"

#include <algorithm>
#include <exception>

#include "table/key.h"
#include "text.h"

namespace ropecache {

DenseTable::DenseTable(const Rope& rope, Profile profile, Use use, const TableKey& key)
    : Table(rope, profile, use, key), point_(table_magnitude(rope, profile, use)) {
  if (profile == Profile::kGgml) {
    ggml_ = std::make_unique<GgmlAngles>(*rope.ggml, rope.pairs());
  } else {
    frequencies_ = rope.fp32_frequencies;
  }
}

std::size_t DenseTable::bytes() const noexcept {
  const std::size_t published = published_.load(std::memory_order_acquire);
  const std::int64_t rows = published == 0 ? 0 : blocks_[published - 1].end;
  return sizeof(DenseTable) + frequencies_.size() * sizeof(float) +
         static_cast<std::size_t>(rows) * 2 * sizeof(float) * static_cast<std::size_t>(pairs());
}

Status DenseTable::reserve(std::int64_t positions) const noexcept {
  if (positions < 0 || positions > kMaxPosition + 1) {
    return Status(StatusCode::kInvalidArgument, text("reserve: ", positions, " positions; expected 0 to 2^31"));
  }
  try {
    const std::lock_guard lock(growing_);
    const std::size_t published = published_.load(std::memory_order_relaxed);
    const std::int64_t stored = published == 0 ? 0 : blocks_[published - 1].end;
    if (positions <= stored) return Status();
    Block& block = blocks_[published];
    block.first = stored;
    block.end = std::min(std::max(positions, 2 * stored), kMaxPosition + 1);
    const auto row_size = 2 * static_cast<std::size_t>(pairs());
    block.values = std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(block.end - block.first) * row_size);
    float* row = block.values.get();
    for (std::int64_t position = block.first; position < block.end; ++position, row += row_size) {
      for (std::size_t pair = 0; pair < row_size / 2; ++pair) {
        compute(position, pair, row + pair, row + row_size / 2 + pair);
      }
    }
    published_.store(published + 1, std::memory_order_release);
    return Status();
  } catch (const std::exception&) {
    return Status(StatusCode::kOutOfMemory, text("reserve: no memory for ", positions, " positions"));
  }
}

const float* DenseTable::stored(std::int64_t position) const noexcept {
  for (std::size_t i = published_.load(std::memory_order_acquire); i-- > 0;) {
    const Block& block = blocks_[i];
    if (position >= block.end) return nullptr;
    if (position >= block.first) {
      return block.values.get() + static_cast<std::size_t>(position - block.first) * 2 * static_cast<std::size_t>(pairs());
    }
  }
  return nullptr;
}

void DenseTable::compute(std::int64_t position, std::size_t pair, float* cos, float* sin) const noexcept {
  point_.at(ggml_ ? ggml_->at(static_cast<float>(position), pair) : fp32_angle(position, frequencies_[pair]), cos, sin);
}

void DenseTable::fill(const Positions& positions, float* cos, float* sin) const noexcept {
  const auto n = static_cast<std::size_t>(pairs());
  for (std::int64_t token = 0; token < positions.tokens; ++token) {
    for (std::size_t pair = 0; pair < n; ++pair, ++cos, ++sin) {
      const std::int64_t position = positions.at(token, axes_[pair]);
      const std::int64_t size = position < 0 ? -position : position;
      if (const float* row = stored(size)) {
        *cos = row[pair];
        *sin = row[n + pair];
      } else {
        compute(size, pair, cos, sin);
      }
      // Angles are odd in the position; a pair that stays in place keeps +0.
      if (position < 0 && *sin != 0.0f) *sin = -*sin;
    }
  }
}

}  // namespace ropecache
