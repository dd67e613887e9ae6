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

bool interleaved_but_disjoint(const Footprint& a, const Footprint& b) noexcept {
  return apart(a, b, Fold::kHeads) || apart(a, b, Fold::kTokens) || apart(a, b, Fold::kNone);
}

}  // namespace ropecache
