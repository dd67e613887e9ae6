// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Which part of an operand a Part is. Units are the heads of all tokens, counted token by token.
#pragma once

#include <algorithm>
#include <cstdint>

#include "ropecache/rotate.h"

namespace ropecache {

struct Units {
  std::int64_t first = 0;
  std::int64_t last = 0;  // one past
};

// Shares differ by one unit at most. tokens * heads was checked to fit.
inline Units units_of(Part part, std::int64_t tokens, std::int64_t heads) noexcept {
  const std::int64_t units = tokens * heads;
  const std::int64_t each = units / part.count;
  const std::int64_t more = units % part.count;  // the first so many have one more
  const std::int64_t first = each * part.index + std::min<std::int64_t>(part.index, more);
  return {first, first + each + (part.index < more ? 1 : 0)};
}

// Calls visit(token, tokens, head, heads) for the at most three rectangles that units are.
template <class Visit>
inline void for_each_rectangle(Units units, std::int64_t heads, Visit visit) noexcept {
  while (units.first < units.last) {
    const std::int64_t token = units.first / heads;
    const std::int64_t head = units.first % heads;
    const std::int64_t left = units.last - units.first;
    if (head == 0 && left >= heads) {
      visit(token, left / heads, std::int64_t{0}, heads);
      units.first += left / heads * heads;
    } else {
      const std::int64_t count = std::min(heads - head, left);
      visit(token, std::int64_t{1}, head, count);
      units.first += count;
    }
  }
}

}  // namespace ropecache
