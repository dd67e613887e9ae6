// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "ropecache/norm.h"

#include "rotate/element_kernels.h"
#include "rotate/share.h"
#include "rotate/side.h"

namespace ropecache {
namespace {

constexpr Placement kWholeHead{};  // side_of() of whole heads: nothing before them

Fault check_norm(const RmsNorm& norm) noexcept {
  // Finite and not negative; a NaN is neither.
  return norm.eps >= 0 && norm.eps <= 3.4028234e38f ? Fault::kNone : Fault::kEps;
}

// Token by token: norm, then the rotation while the heads are still in the nearest cache. No rotation without `call`.
void run_part(const Call* call, const Operand& x, const RmsNorm& norm, Part part) noexcept {
  if (is_empty(x)) return;
  const ElementKernels& kernels = is_aligned(x) ? element_kernels(simd::active()) : kScalarElementKernels;
  const NormKernel kernel = kernels.norm[static_cast<int>(x.in.dtype)];
  const Side whole = side_of(kWholeHead, x);
  const Operand written = Operand::in_place(x.out);
  const Side turned = call != nullptr ? side_of(call->placement, written) : whole;
  const Kernel turn = call != nullptr ? kernel_for(*call, ref::Turn::kForward, written) : nullptr;
  for_each_rectangle(units_of(part, x.in.tokens, x.in.heads), x.in.heads,
                     [&](std::int64_t token, std::int64_t tokens, std::int64_t head, std::int64_t heads) {
                       for (std::int64_t t = token; t < token + tokens; ++t) {
                         const Side piece = piece_of(whole, t, head, heads);
                         kernel({piece.in, piece.out, piece.in_head_stride, piece.out_head_stride, heads, x.in.head_dim,
                                 norm.weight, norm.eps});
                         if (turn == nullptr) continue;
                         const Side rotary = piece_of(turned, t, head, heads);
                         turn(work_of(call->rows, t, 1, &rotary, 1));
                       }
                     });
}

Fault check(const Call& call, const Operand& x, const RmsNorm& norm, Bytes* bytes) noexcept {
  Fault fault = check_inside(x, call.placement);
  if (fault == Fault::kNone) fault = check_operand(x, nullptr, bytes);
  if (fault == Fault::kNone) fault = check_norm(norm);
  return fault != Fault::kNone ? fault : check_rows(call, x.in.tokens);
}

}  // namespace

Status rms_norm(const Operand& x, const RmsNorm& norm, Part part) noexcept {
  constexpr Placement kPlacement{2, 0, Pairing::kHalf};  // any that is valid
  const Rows no_rows;
  const Call call{no_rows, kPlacement, Use::kRotate, part};
  Bytes bytes;
  Fault fault = check_placement(call);
  if (fault == Fault::kNone) fault = check_operand(x, nullptr, &bytes);
  if (fault == Fault::kNone) fault = check_norm(norm);
  if (fault != Fault::kNone) return describe(fault, call, {x, "x"}, {x, "x"});
  run_part(nullptr, x, norm, part);
  return {};
}

Status norm_rotate(const Rows& rows, const Placement& placement, const Operand& x, const RmsNorm& norm,
                   Part part) noexcept {
  const Call call{rows, placement, Use::kRotate, part};
  Bytes bytes;
  Fault fault = check_placement(call);
  if (fault == Fault::kNone) fault = check(call, x, norm, &bytes);
  if (fault != Fault::kNone) return describe(fault, call, {x, "x"}, {x, "x"});
  run_part(&call, x, norm, part);
  return {};
}

Status norm_rotate(const Rows& rows, const Placement& placement, const Operand& q, const RmsNorm& q_norm,
                   const Operand& k, const RmsNorm& k_norm, Part part) noexcept {
  const Call call{rows, placement, Use::kRotate, part};
  Bytes q_bytes;
  Bytes k_bytes;
  Fault fault = check_placement(call);
  if (fault == Fault::kNone) fault = check(call, q, q_norm, &q_bytes);
  if (fault != Fault::kNone) return describe(fault, call, {q, "q"}, {k, "k"});
  fault = check(call, k, k_norm, &k_bytes);
  if (fault != Fault::kNone) return describe(fault, call, {k, "k"}, {q, "q"});
  fault = check_together(q, q_bytes, k, k_bytes);
  if (fault != Fault::kNone) return describe(fault, call, {q, "q"}, {k, "k"});
  run_part(&call, q, q_norm, part);
  run_part(&call, k, k_norm, part);
  return {};
}

}  // namespace ropecache
