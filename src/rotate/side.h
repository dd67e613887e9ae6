// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// From checked operands to what kernels take.
#pragma once

#include "rotate/check.h"
#include "rotate/kernel.h"

namespace ropecache {

// Of an operand that passed check_operand(). A stride that is never taken may be anything: it becomes 0.
inline Side side_of(const Placement& placement, const Operand& x) noexcept {
  const auto size = static_cast<std::int64_t>(dtype_size(x.in.dtype));
  const std::int64_t before = placement.rotary_offset * size;
  const auto token_bytes = [size](const TensorView& view) { return view.tokens > 1 ? view.token_stride * size : 0; };
  const auto head_bytes = [size](const TensorView& view) { return view.heads > 1 ? view.head_stride * size : 0; };
  return {static_cast<const std::byte*>(x.in.data) + before,
          static_cast<std::byte*>(x.out.data) + before,
          token_bytes(x.in),
          head_bytes(x.in),
          token_bytes(x.out),
          head_bytes(x.out),
          x.in.heads};
}

inline bool is_aligned(const Operand& x) noexcept {
  const std::uintptr_t bytes = reinterpret_cast<std::uintptr_t>(x.in.data) | reinterpret_cast<std::uintptr_t>(x.out.data);
  return bytes % dtype_size(x.in.dtype) == 0;
}

// Some heads of a side, from a token on.
inline Side piece_of(const Side& side, std::int64_t token, std::int64_t head, std::int64_t heads) noexcept {
  Side piece = side;
  piece.in += token * side.in_token_stride + head * side.in_head_stride;
  piece.out += token * side.out_token_stride + head * side.out_head_stride;
  piece.heads = heads;
  return piece;
}

inline Kernel kernel_for(const Call& call, ref::Turn turn, const Operand& x) noexcept {
  const RotateKernels& kernels = is_aligned(x) ? rotate_kernels(simd::active()) : kScalarKernels;
  return kernels.of(static_cast<Format>(x.in.dtype), call.placement.pairing, turn);
}

// Tokens from `token` on, which the sides start at.
inline Work work_of(const Rows& rows, std::int64_t token, std::int64_t tokens, const Side* sides, int count) noexcept {
  return {tokens, rows.pairs, rows.cos + token * rows.pairs, rows.sin + token * rows.pairs, sides, count};
}

}  // namespace ropecache
