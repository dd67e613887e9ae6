// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "rotate/check.h"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>

#include "rotate/overlap.h"

namespace ropecache {
namespace {

constexpr std::array<const char*, 3> kUseNames = {"rotate", "inverse", "shift"};

constexpr StatusCode kInvalid = StatusCode::kInvalidArgument;
constexpr StatusCode kMismatch = StatusCode::kMismatch;

// The text is made in place: memory that runs out costs the text, never the error.
[[gnu::format(printf, 2, 3)]] Status refuse(StatusCode code, const char* format, ...) noexcept {
  std::array<char, 200> text{};
  std::va_list values;
  va_start(values, format);
  const int length = std::vsnprintf(text.data(), text.size(), format, values);
  va_end(values);
  return Status(code,
                {text.data(), static_cast<std::size_t>(std::clamp(length, 0, static_cast<int>(text.size()) - 1))});
}

long long number(std::int64_t x) noexcept { return x; }

// In place only the rotary part is read and written, otherwise the whole head.
std::optional<Footprint> footprint(const Operand& x, const TensorView& view, const Placement& placement) noexcept {
  return is_in_place(x) ? footprint_of(view, placement.rotary_offset, placement.rotary_dim)
                        : footprint_of(view, 0, view.head_dim);
}

Status check_view(const Named& x, const TensorView& view, const char* side, const Placement& placement) noexcept {
  if (view.data == nullptr) return refuse(kInvalid, "%s.%s: data is null", x.name, side);
  if (!footprint(*x.operand, view, placement)) {
    return refuse(kInvalid, "%s.%s: strides %lld and %lld reach outside the address space", x.name, side,
                  number(view.token_stride), number(view.head_stride));
  }
  return {};
}

Status cannot_tell(const Named& a, const char* a_side, const Named& b, const char* b_side) noexcept {
  return refuse(kInvalid, "cannot tell that %s.%s and %s.%s do not overlap", a.name, a_side, b.name, b_side);
}

}  // namespace

bool is_in_place(const Operand& x) noexcept {
  return x.in.data == x.out.data && (x.in.tokens == 1 || x.in.token_stride == x.out.token_stride) &&
         (x.in.heads == 1 || x.in.head_stride == x.out.head_stride);
}

Status check_placement(const Placement& placement) noexcept {
  if (placement.pairing != Pairing::kHalf && placement.pairing != Pairing::kInterleaved) {
    return refuse(kInvalid, "placement: pairing %d, expected 0 or 1", static_cast<int>(placement.pairing));
  }
  if (placement.rotary_dim < 2 || placement.rotary_dim % 2 != 0) {
    return refuse(kInvalid, "placement: rotary_dim %d, expected even, 2 or more", placement.rotary_dim);
  }
  return {};
}

Status check_rows(const Rows& rows, const Placement& placement, Use use, std::int64_t tokens) noexcept {
  if (rows.magic != Rows::kMagic || rows.key.empty()) {
    return refuse(kMismatch, "rows: no valid header, expected rows of a table (Step::rows())");
  }
  if (rows.device != Device::kCpu) {
    return refuse(kMismatch, "rows: device %d, expected %d (cpu)", static_cast<int>(rows.device),
                  static_cast<int>(Device::kCpu));
  }
  if (!rows.serves(use)) {
    return refuse(kMismatch, "rows: made for another use, expected a table for use '%s'",
                  kUseNames[static_cast<std::size_t>(use)]);
  }
  if (rows.pairs != placement.rotary_dim / 2) {
    return refuse(kMismatch, "rows: %d pairs, expected %d (rotary_dim %d / 2)", rows.pairs, placement.rotary_dim / 2,
                  placement.rotary_dim);
  }
  if (rows.tokens < tokens) {
    return refuse(kMismatch, "rows: %lld tokens, expected at least %lld", number(rows.tokens), number(tokens));
  }
  if (tokens > 0 && (rows.cos == nullptr || rows.sin == nullptr)) return refuse(kMismatch, "rows: cos or sin is null");
  return {};
}

Status check_operand(const Named& x, const Placement& placement) noexcept {
  const TensorView& in = x.operand->in;
  const TensorView& out = x.operand->out;
  if (in.dtype != out.dtype || static_cast<int>(in.dtype) > static_cast<int>(DType::kF16)) {
    return refuse(kInvalid, "%s: dtype in %d, out %d, expected equal, 0 to 2", x.name, static_cast<int>(in.dtype),
                  static_cast<int>(out.dtype));
  }
  if (in.tokens != out.tokens || in.heads != out.heads || in.head_dim != out.head_dim || in.tokens < 0 ||
      in.heads < 0) {
    return refuse(kInvalid, "%s: shape in [%lld, %lld, %lld], out [%lld, %lld, %lld], expected equal, not negative",
                  x.name, number(in.tokens), number(in.heads), number(in.head_dim), number(out.tokens),
                  number(out.heads), number(out.head_dim));
  }
  if (placement.rotary_offset < 0 || std::int64_t{placement.rotary_offset} + placement.rotary_dim > in.head_dim) {
    return refuse(kInvalid, "%s: rotary_offset %d + rotary_dim %d, expected inside head_dim %lld", x.name,
                  placement.rotary_offset, placement.rotary_dim, number(in.head_dim));
  }
  if (is_empty(*x.operand)) return {};
  if (Status status = check_view(x, in, "in", placement); !status.ok()) return status;
  if (Status status = check_view(x, out, "out", placement); !status.ok()) return status;
  const Footprint written = *footprint(*x.operand, out, placement);
  if (!heads_apart(written)) {
    return refuse(kInvalid, "cannot tell that heads of %s.out do not overlap: strides %lld and %lld", x.name,
                  number(out.token_stride), number(out.head_stride));
  }
  if (!is_in_place(*x.operand) && !disjoint(written, *footprint(*x.operand, in, placement))) {
    return cannot_tell(x, "in", x, "out");
  }
  return {};
}

Status check_together(const Named& q, const Named& k, const Placement& placement) noexcept {
  const TensorView& q_in = q.operand->in;
  const TensorView& k_in = k.operand->in;
  if (q_in.tokens != k_in.tokens || q_in.head_dim != k_in.head_dim) {
    return refuse(kInvalid, "%s has %lld tokens of head_dim %lld, %s %lld of %lld, expected equal", q.name,
                  number(q_in.tokens), number(q_in.head_dim), k.name, number(k_in.tokens), number(k_in.head_dim));
  }
  if (is_empty(*q.operand) || is_empty(*k.operand)) return {};
  const Footprint q_written = *footprint(*q.operand, q.operand->out, placement);
  const Footprint k_written = *footprint(*k.operand, k.operand->out, placement);
  if (!disjoint(q_written, k_written)) return cannot_tell(q, "out", k, "out");
  if (!disjoint(q_written, *footprint(*k.operand, k_in, placement))) return cannot_tell(q, "out", k, "in");
  if (!disjoint(*footprint(*q.operand, q_in, placement), k_written)) return cannot_tell(q, "in", k, "out");
  return {};
}

}  // namespace ropecache
