// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Which bytes a view touches, and whether two views share any. Answers "yes, disjoint" only when that is proven.
#pragma once

#include <cstdint>
#include <optional>

#include "ropecache/rotate.h"

namespace ropecache {

// `width` bytes at base + t * token_stride + h * head_stride. Mirrored so that no stride is negative: base is the
// lowest address. A stride that is never taken (one token, one head) is 0.
struct Footprint {
  std::uint64_t base = 0;
  std::uint64_t width = 0;
  std::uint64_t tokens = 0;
  std::uint64_t heads = 0;
  std::uint64_t token_stride = 0;
  std::uint64_t head_stride = 0;
};

// Of elements [first, first + count) of every head; tokens, heads and count are 1 or more.
// Nothing when an address of the view does not fit into the address space.
std::optional<Footprint> footprint_of(const TensorView& view, std::int64_t first, std::int64_t count) noexcept;

// True only if no byte belongs to both. Proven for ranges that lie apart, for views into one buffer whose tokens (or
// heads, or both) recur with one period and keep to their own part of it - merged QKV in all its layouts - and for the
// same with different numbers of heads.
bool disjoint(const Footprint& a, const Footprint& b) noexcept;

// True only if no byte belongs to two heads of the view: the heads of one token lie inside the token's stride or the
// tokens of one head inside the head's stride.
bool heads_apart(const Footprint& view) noexcept;

}  // namespace ropecache
