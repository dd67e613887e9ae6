// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "ropecache/rotate.h"

#include <cstring>

#include "rotate/check.h"
#include "rotate/share.h"
#include "rotate/side.h"

namespace ropecache {
namespace {

using ref::Turn;

// What a head holds beside its rotary part.
void copy_rest(const Side& side, std::int64_t tokens, const Placement& placement, const Operand& x) noexcept {
  const std::size_t size = dtype_size(x.in.dtype);
  const std::size_t before = static_cast<std::size_t>(placement.rotary_offset) * size;
  const std::size_t part = static_cast<std::size_t>(placement.rotary_dim) * size;
  const std::size_t after = static_cast<std::size_t>(x.in.head_dim) * size - before - part;
  if (before + after == 0) return;
  for (std::int64_t t = 0; t < tokens; ++t) {
    for (std::int64_t h = 0; h < side.heads; ++h) {
      const std::byte* in = side.in + (t * side.in_token_stride + h * side.in_head_stride);
      std::byte* out = side.out + (t * side.out_token_stride + h * side.out_head_stride);
      std::memcpy(out - before, in - before, before);
      std::memcpy(out + part, in + part, after);
    }
  }
}

// The rectangles of one operand that are the call's part.
void turn_part(const Call& call, Turn turn, const Operand& x, bool in_place) noexcept {
  if (is_empty(x)) return;
  const Kernel kernel = kernel_for(call, turn, x);
  const Side side = side_of(call.placement, x);
  for_each_rectangle(units_of(call.part, x.in.tokens, x.in.heads), x.in.heads,
                     [&](std::int64_t token, std::int64_t tokens, std::int64_t head, std::int64_t heads) {
                       const Side piece = piece_of(side, token, head, heads);
                       kernel(work_of(call.rows, token, tokens, &piece, 1));
                       if (!in_place) copy_rest(piece, tokens, call.placement, x);
                     });
}

inline Fault check(const Call& call, const Operand& x, Bytes* bytes) noexcept {
  const Fault fault = check_operand(x, &call.placement, bytes);
  return fault != Fault::kNone ? fault : check_rows(call, x.in.tokens);
}

Status run(const Call& call, Turn turn, const Operand& operand) noexcept {
  const Named x{operand, "x"};
  Bytes bytes;
  Fault fault = check_placement(call);
  if (fault == Fault::kNone) fault = check(call, operand, &bytes);
  if (fault != Fault::kNone) return describe(fault, call, x, x);
  if (call.part.count == 1 && !is_empty(operand) && bytes.in_place) {  // the common case, without detours
    const Side side = side_of(call.placement, operand);
    kernel_for(call, turn, operand)(work_of(call.rows, 0, operand.in.tokens, &side, 1));
    return {};
  }
  turn_part(call, turn, operand, bytes.in_place);
  return {};
}

Status run(const Call& call, Turn turn, const Operand& q_operand, const Operand& k_operand) noexcept {
  const Named q{q_operand, "q"};
  const Named k{k_operand, "k"};
  Bytes q_bytes;
  Bytes k_bytes;
  Fault fault = check_placement(call);
  if (fault == Fault::kNone) fault = check(call, q_operand, &q_bytes);
  if (fault != Fault::kNone) return describe(fault, call, q, k);
  fault = check(call, k_operand, &k_bytes);
  if (fault != Fault::kNone) return describe(fault, call, k, q);
  fault = check_together(q_operand, q_bytes, k_operand, k_bytes);
  if (fault != Fault::kNone) return describe(fault, call, q, k);
  if (call.part.count == 1 && !is_empty(q_operand) && !is_empty(k_operand) && q_bytes.in_place && k_bytes.in_place &&
      q_operand.in.dtype == k_operand.in.dtype && is_aligned(q_operand) == is_aligned(k_operand)) {
    const Side sides[] = {side_of(call.placement, q_operand), side_of(call.placement, k_operand)};
    kernel_for(call, turn, q_operand)(work_of(call.rows, 0, q_operand.in.tokens, sides, 2));
    return {};
  }
  turn_part(call, turn, q_operand, q_bytes.in_place);
  turn_part(call, turn, k_operand, k_bytes.in_place);
  return {};
}

}  // namespace

Status rotate(const Rows& rows, const Placement& placement, const Operand& x, Part part) noexcept {
  return run({rows, placement, Use::kRotate, part}, Turn::kForward, x);
}

Status rotate(const Rows& rows, const Placement& placement, const Operand& q, const Operand& k, Part part) noexcept {
  return run({rows, placement, Use::kRotate, part}, Turn::kForward, q, k);
}

Status rotate_backward(const Rows& rows, const Placement& placement, const Operand& x, Part part) noexcept {
  return run({rows, placement, Use::kRotate, part}, Turn::kBack, x);
}

Status rotate_inverse(const Rows& rows, const Placement& placement, const Operand& x, Part part) noexcept {
  return run({rows, placement, Use::kInverse, part}, Turn::kBack, x);
}

Status rotate_shift(const Rows& rows, const Placement& placement, const Operand& x, Part part) noexcept {
  return run({rows, placement, Use::kShift, part}, Turn::kForward, x);
}

}  // namespace ropecache
