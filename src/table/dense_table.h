// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// The tables of the profiles `fp32` and `ggml`. Their angles cannot be factored, so rows are computed one by one and,
// on request, stored: in blocks that never move, each twice the size of what was there before, published by a counter.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "ropecache/table.h"
#include "table/recipe.h"
#include "table/sincos.h"

namespace ropecache {

class DenseTable final : public Table {
 public:
  DenseTable(const Rope& rope, Profile profile, Use use, const TableKey& key);

  std::size_t bytes() const noexcept override;
  Status reserve(std::int64_t positions) const noexcept override;

 private:
  struct Block {
    std::int64_t first = 0;
    std::int64_t end = 0;
    std::unique_ptr<float[]> values;  // [position - first][cos, sin][pair]
  };
  static constexpr std::size_t kBlocks = 40;  // the first holds at least one row, each next as many as all before it

  void fill(const Positions& positions, float* cos, float* sin) const noexcept override;
  void compute(std::int64_t position, std::size_t pair, float* cos, float* sin) const noexcept;
  const float* stored(std::int64_t position) const noexcept;  // the row, or null

  std::vector<float> frequencies_;    // profile fp32
  std::unique_ptr<GgmlAngles> ggml_;  // profile ggml
  RoundedPoint point_;

  mutable std::mutex growing_;
  mutable std::array<Block, kBlocks> blocks_;
  mutable std::atomic<std::size_t> published_{0};
};

}  // namespace ropecache
