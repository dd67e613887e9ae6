// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensors, rows and the expected result, for the tests of rotate(). Results are compared as whole buffers with memcmp:
// every byte that a call must not touch is part of the comparison.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "ropecache/rotate.h"

namespace ropecache::test {

struct Shape {
  DType dtype = DType::kF32;
  std::int64_t tokens = 0;
  std::int64_t heads = 0;
  std::int64_t head_dim = 0;
};

enum class Layout {
  kTokenMajor,      // [S, H, D]
  kHeadMajor,       // [H, S, D]
  kPadded,          // [S, H, 2D], the first half of each head
  kReversedTokens,  // [S, H, D] backwards in S: token stride below 0
  kReversedHeads,   // [S, H, D] backwards in H
  kMerged,          // [S, H + 5, D], the heads from the third on: a merged QKV buffer
};
inline constexpr Layout kLayouts[] = {Layout::kTokenMajor,     Layout::kHeadMajor,     Layout::kPadded,
                                      Layout::kReversedTokens, Layout::kReversedHeads, Layout::kMerged};

inline constexpr DType kDTypes[] = {DType::kF32, DType::kBF16, DType::kF16};
inline constexpr Pairing kPairings[] = {Pairing::kHalf, Pairing::kInterleaved};

using Bytes = std::vector<std::byte>;

// A view and the memory behind it, with a margin on both sides.
class Tensor {
 public:
  Tensor(const Shape& shape, Layout layout);
  // Memory is copied with its view.
  Tensor(const Tensor& other);
  Tensor& operator=(const Tensor&) = delete;

  const TensorView& view() const { return view_; }
  const Bytes& memory() const { return memory_; }

  Tensor& fill(std::uint32_t seed);  // every second element an arbitrary bit pattern, the others of everyday size
  Tensor& poison();                  // all NaN

  Bytes packed() const;              // the view's elements as [tokens, heads, head_dim]
  void unpack(const Bytes& packed);  // the reverse

 private:
  Bytes memory_;
  TensorView view_;
};

// Rows with valid header and arbitrary angles, for all uses.
class TestRows {
 public:
  TestRows(std::int64_t tokens, int pairs, double magnitude = 1, std::uint32_t seed = 1);
  // Angle by (token, pair).
  TestRows(std::int64_t tokens, int pairs, double magnitude, const std::function<double(std::int64_t, int)>& angle);

  Rows rows() const;
  std::vector<float> cos;
  std::vector<float> sin;

 private:
  std::int64_t tokens_;
  int pairs_;
};

// What rotate() must make of packed elements.
Bytes rotated(const Bytes& packed, const Shape& shape, const Rows& rows, const Placement& placement);

}  // namespace ropecache::test
