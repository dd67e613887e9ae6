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

// Strided reach of one dimension in bytes, from the first to the last index, sign kept. False: too large.
bool reach(std::int64_t count, std::int64_t stride, std::int64_t size, std::int64_t* bytes) noexcept {
  std::int64_t elements = 0;
  return !__builtin_mul_overflow(count - 1, stride, &elements) && !__builtin_mul_overflow(elements, size, bytes);
}

std::uint64_t absolute(std::int64_t x) noexcept {
  return x < 0 ? 0 - static_cast<std::uint64_t>(x) : static_cast<std::uint64_t>(x);
}

}  // namespace

std::optional<Footprint> footprint_of(const TensorView& view, std::int64_t first, std::int64_t count) noexcept {
  const auto size = static_cast<std::int64_t>(dtype_size(view.dtype));
  std::int64_t token_reach = 0;
  std::int64_t head_reach = 0;
  std::int64_t width = 0;
  std::int64_t start = 0;
  if (!reach(view.tokens, view.token_stride, size, &token_reach) ||
      !reach(view.heads, view.head_stride, size, &head_reach) || __builtin_mul_overflow(count, size, &width) ||
      __builtin_mul_overflow(first, size, &start)) {
    return std::nullopt;
  }
  const auto address = reinterpret_cast<std::uintptr_t>(view.data);
  const std::uint64_t below =
      (token_reach < 0 ? absolute(token_reach) : 0) + (head_reach < 0 ? absolute(head_reach) : 0);
  std::uint64_t end = 0;
  std::uint64_t base = 0;
  constexpr auto kMaxExtent = static_cast<std::uint64_t>(std::numeric_limits<std::ptrdiff_t>::max());
  std::uint64_t extent = absolute(token_reach) + absolute(head_reach);  // each at most 2^63, and no view is so large
  if (extent < absolute(token_reach) || __builtin_add_overflow(extent, static_cast<std::uint64_t>(width), &extent) ||
      extent > kMaxExtent || __builtin_add_overflow(address, static_cast<std::uint64_t>(start), &base) ||
      base < below || __builtin_add_overflow(base - below, extent, &end)) {
    return std::nullopt;
  }
  Footprint result;
  result.base = base - below;
  result.width = static_cast<std::uint64_t>(width);
  result.tokens = static_cast<std::uint64_t>(view.tokens);
  result.heads = static_cast<std::uint64_t>(view.heads);
  if (view.tokens > 1) result.token_stride = absolute(view.token_stride) * static_cast<std::uint64_t>(size);
  if (view.heads > 1) result.head_stride = absolute(view.head_stride) * static_cast<std::uint64_t>(size);
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
