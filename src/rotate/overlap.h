// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Which bytes a view touches, and whether two views share any. Answers "yes, disjoint" only when that is proven.
// What every call needs is inline: it must cost little beside the rotation of one token.
#pragma once

#include <cstdint>

#include "ropecache/rotate.h"

namespace ropecache {

// `width` bytes at base + t * token_stride + h * head_stride. Mirrored so that no stride is negative: base is the
// lowest address. A stride that is never taken (one token, one head) is 0. Not initialized: that would cost a call more than
// its checks.
struct Footprint {
  std::uint64_t base;
  std::uint64_t width;
  std::uint64_t tokens;
  std::uint64_t heads;
  std::uint64_t token_stride;
  std::uint64_t head_stride;

  std::uint64_t tokens_extent() const noexcept { return (tokens - 1) * token_stride + width; }
  std::uint64_t heads_extent() const noexcept { return (heads - 1) * head_stride + width; }
  std::uint64_t extent() const noexcept { return (tokens - 1) * token_stride + heads_extent(); }
};

// footprint_of() where a product or a sum may not fit into 64 bits.
bool large_footprint_of(const TensorView& view, std::int64_t first, std::int64_t count, Footprint* result) noexcept;

// Of elements [first, first + count) of every head; tokens, heads and count are 1 or more.
// False when an address of the view does not fit into the address space.
inline bool footprint_of(const TensorView& view, std::int64_t first, std::int64_t count, Footprint* result) noexcept {
  const std::int64_t token_stride = view.tokens > 1 ? view.token_stride : 0;
  const std::int64_t head_stride = view.heads > 1 ? view.head_stride : 0;
  // All of one sign and below 2^28: reaches are below 2^59, and nothing wraps around in the lower half of the addresses.
  const auto base = reinterpret_cast<std::uintptr_t>(view.data);
  const auto bits = static_cast<std::uint64_t>(view.tokens | view.heads | token_stride | head_stride | first | count);
  if (((bits >> 28) | (base >> 62)) != 0) return large_footprint_of(view, first, count, result);
  const auto size = static_cast<std::int64_t>(dtype_size(view.dtype));
  result->base = base + static_cast<std::uint64_t>(first * size);
  result->width = static_cast<std::uint64_t>(count * size);
  result->tokens = static_cast<std::uint64_t>(view.tokens);
  result->heads = static_cast<std::uint64_t>(view.heads);
  result->token_stride = static_cast<std::uint64_t>(token_stride * size);
  result->head_stride = static_cast<std::uint64_t>(head_stride * size);
  return true;
}

// True only if no byte belongs to two heads of the view: the heads of one token lie inside the token's stride or the
// tokens of one head inside the head's stride.
inline bool heads_apart(const Footprint& view) noexcept {
  const bool many_tokens = view.tokens > 1;
  const bool many_heads = view.heads > 1;
  if (many_heads && view.head_stride < view.width) return false;
  if (many_tokens && view.token_stride < view.width) return false;
  return !many_tokens || !many_heads || view.token_stride >= view.heads_extent() ||
         view.head_stride >= view.tokens_extent();
}

// For views whose ranges meet.
bool interleaved_but_disjoint(const Footprint& a, const Footprint& b) noexcept;

// True only if no byte belongs to both. Proven for ranges that lie apart, for views into one buffer whose tokens (or
// heads, or both) recur with one period and keep to their own part of it - merged QKV in all its layouts - and for the
// same with different numbers of heads.
inline bool disjoint(const Footprint& a, const Footprint& b) noexcept {
  const bool apart = b.base >= a.base ? b.base - a.base >= a.extent() : a.base - b.base >= b.extent();
  return apart || interleaved_but_disjoint(a, b);
}

}  // namespace ropecache
