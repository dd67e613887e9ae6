// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// rotate(): turns queries and keys by the rows of a step. One arithmetic on every target: x is widened to fp32,
//     u' = u * c - v * s      v' = u * s + v * c
// with every product and sum rounded separately, then rounded once, to nearest even, to x's type. A NaN result is the
// quiet NaN 0x7fc00000 (f32), 0x7fc0 (bf16), 0x7e00 (f16): processors disagree about payloads, so none survives a sum.
// Elements outside the rotary part are copied bit for bit, payloads and -0 included; in place they are not written.
//
// All functions: thread-safe on disjoint outputs, allocate nothing, take no lock, start no thread, print nothing. They
// check everything before the first write; on error nothing was written.
#pragma once

#include <cstdint>

#include "ropecache/half.h"
#include "ropecache/rope.h"
#include "ropecache/status.h"
#include "ropecache/step.h"

namespace ropecache {

// Element (t, h, d) stands at data[t * token_stride + h * head_stride + d]; strides in elements, may be negative or,
// for heads == 1 or tokens == 1, anything. Non-owning. [tokens, heads, head_dim], [heads, tokens, head_dim], and views
// into a merged QKV buffer are all of this form. A batch is rotated with its tokens flattened, or in one call each.
struct TensorView {
  void* data = nullptr;
  DType dtype = DType::kF32;
  std::int64_t tokens = 0;
  std::int64_t heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t token_stride = 0;
  std::int64_t head_stride = 0;

  // Contiguous [tokens, heads, head_dim].
  static TensorView of(void* data, DType dtype, std::int64_t tokens, std::int64_t heads, std::int64_t head_dim) noexcept {
    return {data, dtype, tokens, heads, head_dim, heads * head_dim, head_dim};
  }
};

// Which elements of a head turn, and in which pairs; a Rope says so.
struct Placement {
  int rotary_dim = 0;
  int rotary_offset = 0;
  Pairing pairing = Pairing::kHalf;
  static Placement of(const Rope& rope) noexcept { return {rope.rotary_dim, rope.rotary_offset, rope.pairing}; }
};

// A tensor to turn: `in` is read, `out` is written. In place: out equal to in. Otherwise the two must not overlap.
struct Operand {
  TensorView in;
  TensorView out;
  static Operand in_place(const TensorView& x) noexcept { return {x, x}; }
};

// A share of a call, for engines that bring their own threads: each of `count` threads makes the same call with its own
// index, and together they do what one call does, bit for bit. Heads of tokens are shared out evenly.
struct Part {
  int index = 0;  // 0 to count - 1
  int count = 1;
};

// Row t of `rows` turns token t of every head.
//   kMismatch: rows without a valid header, for another use, or with pairs != rotary_dim / 2 or fewer tokens
//   kInvalidArgument: shapes, dtypes, strides, placement or part that do not fit; null data; operands that overlap
// Zero tokens or heads: nothing to do, ok.
Status rotate(const Rows& rows, const Placement& placement, const Operand& x, Part part = {}) noexcept;

// q and k in one call: same tokens and head_dim, any head counts, each with its own strides and type. What one operand
// writes must not overlap what the other reads or writes.
Status rotate(const Rows& rows, const Placement& placement, const Operand& q, const Operand& k, Part part = {}) noexcept;

// The transpose, with the same magnitude: the gradient of rotate(). Takes rows of Use::kRotate.
Status rotate_backward(const Rows& rows, const Placement& placement, const Operand& x, Part part = {}) noexcept;

// The true inverse of rotate(). Takes rows of Use::kInverse, gathered at the same positions.
Status rotate_inverse(const Rows& rows, const Placement& placement, const Operand& x, Part part = {}) noexcept;

// Moves keys that were rotated at p to p + delta. Takes rows of Use::kShift, gathered at the deltas (not at positions).
Status rotate_shift(const Rows& rows, const Placement& placement, const Operand& x, Part part = {}) noexcept;

}  // namespace ropecache
