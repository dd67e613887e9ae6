// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Everything that can be wrong with a call of rotate(), found before the first write.
#pragma once

#include "ropecache/rotate.h"

namespace ropecache {

// An operand and what errors call it: "x", "q", "k".
struct Named {
  const Operand* operand = nullptr;
  const char* name = "";
};

// Same data, and the same strides wherever a stride is taken.
bool is_in_place(const Operand& x) noexcept;

// Sizes below 0 are errors; either of them 0 means that there is nothing to do.
inline bool is_empty(const Operand& x) noexcept { return x.in.tokens == 0 || x.in.heads == 0; }

// A pairing that exists, a rotary part that can be paired.
Status check_placement(const Placement& placement) noexcept;

// Header and size of `rows`, for `tokens` tokens.
Status check_rows(const Rows& rows, const Placement& placement, Use use, std::int64_t tokens) noexcept;

// Shapes, types and addresses of one operand, that the rotary part lies in its heads, that `out` shares no byte between
// two heads and none with `in`.
Status check_operand(const Named& x, const Placement& placement) noexcept;

// Two operands that passed check_operand(): sizes agree, and neither writes what the other reads or writes.
Status check_together(const Named& q, const Named& k, const Placement& placement) noexcept;

}  // namespace ropecache
