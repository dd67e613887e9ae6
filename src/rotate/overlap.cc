// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "rotate/overlap.h"

#include <limits>
#include <numeric>

namespace ropecache {
namespace {

// One way to look at a view: cells that recur with some period. Folding a dimension makes it part of the cell.
enum class Fold : std::uint8_t { kBoth, kHeads, kTokens, kNone };

std::uint64_t cell_width(const Footprint& view, Fold fold) noexcept {
  std::uint64_t width = view.width;
  if (fold == Fold::kBoth || fold == Fold::kTokens) width += (view.tokens - 1) * view.token_stride;
  if (fold == Fold::kBoth || fold == Fold::kHeads) width += (view.heads - 1) * view.head_stride;
  return width;
}

// Every cell of the view starts at base plus a multiple of it; 0: there is one cell.
std::uint64_t period(const Footprint& view, Fold fold) noexcept {
  switch (fold) {
    case Fold::kBoth:
      return 0;
    case Fold::kHeads:
      return view.token_stride;
    case Fold::kTokens:
      return view.head_stride;
    case Fold::kNone:
      return std::gcd(view.token_stride, view.head_stride);
  }
  return 0;
}

// All cells of both views, taken modulo the common period, are one interval each: apart there means apart everywhere.
bool apart(const Footprint& a, const Footprint& b, Fold fold) noexcept {
  const std::uint64_t a_width = cell_width(a, fold);
  const std::uint64_t b_width = cell_width(b, fold);
  const std::uint64_t modulus = std::gcd(period(a, fold), period(b, fold));
  if (modulus == 0) return b.base >= a.base ? b.base - a.base >= a_width : a.base - b.base >= b_width;
  const std::uint64_t distance =
      b.base >= a.base ? (b.base - a.base) % modulus : modulus - 1 - (a.base - b.base - 1) % modulus;
  return distance >= a_width && modulus - distance >= b_width;
}

std::uint64_t unsigned_of(std::int64_t x) noexcept { return static_cast<std::uint64_t>(x); }
std::uint64_t absolute(std::int64_t x) noexcept { return x < 0 ? 0 - unsigned_of(x) : unsigned_of(x); }

// Bytes between the first and the last index of a dimension. False: too many.
bool reach(std::int64_t count, std::int64_t stride, std::size_t size, std::uint64_t* bytes) noexcept {
  return !__builtin_mul_overflow(unsigned_of(count - 1), absolute(stride), bytes) &&
         !__builtin_mul_overflow(*bytes, size, bytes);
}

}  // namespace

std::optional<Footprint> footprint_of(const TensorView& view, std::int64_t first, std::int64_t count) noexcept {
  constexpr std::uint64_t kMaxExtent = std::numeric_limits<std::ptrdiff_t>::max();
  const std::size_t size = dtype_size(view.dtype);
  std::uint64_t token_reach = 0;
  std::uint64_t head_reach = 0;
  std::uint64_t start = 0;
  std::uint64_t extent = 0;
  Footprint result;
  if (!reach(view.tokens, view.token_stride, size, &token_reach) ||
      !reach(view.heads, view.head_stride, size, &head_reach) ||
      __builtin_mul_overflow(unsigned_of(count), size, &result.width) ||
      __builtin_mul_overflow(unsigned_of(first), size, &start) ||
      __builtin_add_overflow(token_reach, head_reach, &extent) ||
      __builtin_add_overflow(extent, result.width, &extent) || extent > kMaxExtent ||
      __builtin_add_overflow(reinterpret_cast<std::uintptr_t>(view.data), start, &result.base)) {
    return std::nullopt;
  }
  if (view.token_stride < 0) result.base -= token_reach;
  if (view.head_stride < 0) result.base -= head_reach;
  // A base below zero wrapped around, and so does its end: the extent is larger than the step below zero.
  std::uint64_t end = 0;
  if (__builtin_add_overflow(result.base, extent, &end)) return std::nullopt;
  result.tokens = unsigned_of(view.tokens);
  result.heads = unsigned_of(view.heads);
  if (view.tokens > 1) result.token_stride = absolute(view.token_stride) * size;
  if (view.heads > 1) result.head_stride = absolute(view.head_stride) * size;
  return result;
}

bool disjoint(const Footprint& a, const Footprint& b) noexcept {
  for (const Fold fold : {Fold::kBoth, Fold::kHeads, Fold::kTokens, Fold::kNone}) {
    if (apart(a, b, fold)) return true;
  }
  return false;
}

bool heads_apart(const Footprint& view) noexcept {
  const bool many_tokens = view.tokens > 1;
  const bool many_heads = view.heads > 1;
  if (many_heads && view.head_stride < view.width) return false;
  if (many_tokens && view.token_stride < view.width) return false;
  return !many_tokens || !many_heads || view.token_stride >= cell_width(view, Fold::kHeads) ||
         view.head_stride >= cell_width(view, Fold::kTokens);
}

}  // namespace ropecache
