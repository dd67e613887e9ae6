// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "rotate/overlap.h"

#include <numeric>

namespace ropecache {
namespace {

// One way to look at a view: cells that recur with some period. Folding a dimension makes it part of the cell.
enum class Fold : std::uint8_t { kHeads, kTokens, kNone };

std::uint64_t cell_width(const Footprint& view, Fold fold) noexcept {
  switch (fold) {
    case Fold::kHeads: return view.heads_extent();
    case Fold::kTokens: return view.tokens_extent();
    case Fold::kNone: return view.width;
  }
  return 0;
}

// Every cell of the view starts at base plus a multiple of it; 0: there is one cell.
std::uint64_t period(const Footprint& view, Fold fold) noexcept {
  switch (fold) {
    case Fold::kHeads: return view.token_stride;
    case Fold::kTokens: return view.head_stride;
    case Fold::kNone: return std::gcd(view.token_stride, view.head_stride);
  }
  return 0;
}

// All cells of both views, taken modulo the common period, are one interval each: apart there means apart everywhere.
bool apart(const Footprint& a, const Footprint& b, Fold fold) noexcept {
  const std::uint64_t modulus = std::gcd(period(a, fold), period(b, fold));
  if (modulus == 0) return false;  // one cell each: their ranges meet
  const std::uint64_t distance =
      b.base >= a.base ? (b.base - a.base) % modulus : modulus - 1 - (a.base - b.base - 1) % modulus;
  return distance >= cell_width(a, fold) && modulus - distance >= cell_width(b, fold);
}

}  // namespace

bool large_footprint_of(const TensorView& view, std::int64_t first, std::int64_t count, Footprint* result) noexcept {
  constexpr std::uint64_t kMaxExtent = INT64_MAX;
  const auto absolute = [](std::int64_t x) {
    const auto bits = static_cast<std::uint64_t>(x);
    return x < 0 ? 0 - bits : bits;
  };
  const std::size_t size = dtype_size(view.dtype);
  result->tokens = static_cast<std::uint64_t>(view.tokens);
  result->heads = static_cast<std::uint64_t>(view.heads);
  std::uint64_t token_reach = 0;
  std::uint64_t head_reach = 0;
  std::uint64_t start = 0;
  std::uint64_t extent = 0;
  if (__builtin_mul_overflow(static_cast<std::uint64_t>(count), size, &result->width) ||
      __builtin_mul_overflow(view.tokens > 1 ? absolute(view.token_stride) : 0, size, &result->token_stride) ||
      __builtin_mul_overflow(view.heads > 1 ? absolute(view.head_stride) : 0, size, &result->head_stride) ||
      __builtin_mul_overflow(result->tokens - 1, result->token_stride, &token_reach) ||
      __builtin_mul_overflow(result->heads - 1, result->head_stride, &head_reach) ||
      __builtin_mul_overflow(static_cast<std::uint64_t>(first), size, &start) ||
      __builtin_add_overflow(token_reach, head_reach, &extent) ||
      __builtin_add_overflow(extent, result->width, &extent) || extent > kMaxExtent ||
      __builtin_add_overflow(reinterpret_cast<std::uintptr_t>(view.data), start, &result->base)) {
    return false;
  }
  result->base -= (view.token_stride < 0 ? token_reach : 0) + (view.head_stride < 0 ? head_reach : 0);
  // A base below zero wrapped around, and so does its end: the extent is larger than the step below zero.
  std::uint64_t end = 0;
  return !__builtin_add_overflow(result->base, extent, &end);
}

bool interleaved_but_disjoint(const Footprint& a, const Footprint& b) noexcept {
  return apart(a, b, Fold::kHeads) || apart(a, b, Fold::kTokens) || apart(a, b, Fold::kNone);
}

}  // namespace ropecache
