// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "ropecache/rotate.h"

#include <span>

#include "rotate/check.h"
#include "rotate/kernel.h"

namespace ropecache {
namespace {

using ref::Turn;

// Of an operand that passed check_operand(). A stride that is never taken may be anything: it becomes 0.
Work work_of(const Rows& rows, const Placement& placement, const Operand& x) noexcept {
  const auto size = static_cast<std::int64_t>(dtype_size(x.in.dtype));
  const std::int64_t before = placement.rotary_offset * size;
  const auto token_bytes = [size](const TensorView& view) { return view.tokens > 1 ? view.token_stride * size : 0; };
  const auto head_bytes = [size](const TensorView& view) { return view.heads > 1 ? view.head_stride * size : 0; };
  Work work;
  work.in = static_cast<const std::byte*>(x.in.data) + before;
  work.out = static_cast<std::byte*>(x.out.data) + before;
  work.in_token_stride = token_bytes(x.in);
  work.in_head_stride = head_bytes(x.in);
  work.out_token_stride = token_bytes(x.out);
  work.out_head_stride = head_bytes(x.out);
  work.tokens = x.in.tokens;
  work.heads = x.in.heads;
  if (!is_in_place(x)) {
    work.copy_before = static_cast<std::size_t>(before);
    work.copy_after = static_cast<std::size_t>((x.in.head_dim - placement.rotary_offset - placement.rotary_dim) * size);
  }
  work.pairs = rows.pairs;
  work.cos = rows.cos;
  work.sin = rows.sin;
  return work;
}

Status run(const Rows& rows, const Placement& placement, Use use, Turn turn, std::span<const Named> operands) noexcept {
  if (Status status = check_placement(placement); !status.ok()) return status;
  for (const Named& x : operands) {
    if (Status status = check_operand(x, placement); !status.ok()) return status;
    if (Status status = check_rows(rows, placement, use, x.operand->in.tokens); !status.ok()) return status;
  }
  if (operands.size() == 2) {
    if (Status status = check_together(operands[0], operands[1], placement); !status.ok()) return status;
  }
  for (const Named& x : operands) {
    if (is_empty(*x.operand)) continue;
    scalar_kernel(x.operand->in.dtype, placement.pairing, turn)(work_of(rows, placement, *x.operand));
  }
  return {};
}

Status run(const Rows& rows, const Placement& placement, Use use, Turn turn, const Operand& x) noexcept {
  const Named named{&x, "x"};
  return run(rows, placement, use, turn, {&named, 1});
}

}  // namespace

Status rotate(const Rows& rows, const Placement& placement, const Operand& x) noexcept {
  return run(rows, placement, Use::kRotate, Turn::kForward, x);
}

Status rotate(const Rows& rows, const Placement& placement, const Operand& q, const Operand& k) noexcept {
  const Named both[] = {{&q, "q"}, {&k, "k"}};
  return run(rows, placement, Use::kRotate, Turn::kForward, both);
}

Status rotate_backward(const Rows& rows, const Placement& placement, const Operand& x) noexcept {
  return run(rows, placement, Use::kRotate, Turn::kBack, x);
}

Status rotate_inverse(const Rows& rows, const Placement& placement, const Operand& x) noexcept {
  return run(rows, placement, Use::kInverse, Turn::kBack, x);
}

Status rotate_shift(const Rows& rows, const Placement& placement, const Operand& x) noexcept {
  return run(rows, placement, Use::kShift, Turn::kForward, x);
}

}  // namespace ropecache
