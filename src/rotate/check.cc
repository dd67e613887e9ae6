// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "rotate/check.h"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>

namespace ropecache {
namespace {

constexpr std::array<const char*, 3> kUseNames = {"rotate", "inverse", "shift"};

constexpr StatusCode kInvalid = StatusCode::kInvalidArgument;
constexpr StatusCode kMismatch = StatusCode::kMismatch;

long long number(std::int64_t x) noexcept { return x; }

Status unreachable(const char* name, const char* side, const TensorView& view) noexcept {
  return refuse(kInvalid, "%s.%s: strides %lld and %lld reach outside the address space", name, side,
                number(view.token_stride), number(view.head_stride));
}

Status cannot_tell(const char* a, const char* a_side, const char* b, const char* b_side) noexcept {
  return refuse(kInvalid, "cannot tell that %s.%s and %s.%s do not overlap", a, a_side, b, b_side);
}

}  // namespace

Status refuse(StatusCode code, const char* format, ...) noexcept {
  std::array<char, 200> text{};
  std::va_list values;
  va_start(values, format);
  const int length = std::vsnprintf(text.data(), text.size(), format, values);
  va_end(values);
  return Status(code,
                {text.data(), static_cast<std::size_t>(std::clamp(length, 0, static_cast<int>(text.size()) - 1))});
}

[[gnu::cold]] Status describe(Fault fault, const Call& call, const Named& x, const Named& other) noexcept {
  const Rows& rows = call.rows;
  const Placement& placement = call.placement;
  const TensorView& in = x.operand.in;
  const TensorView& out = x.operand.out;
  const TensorView& other_in = other.operand.in;
  switch (fault) {
    case Fault::kNone: return {};
    case Fault::kPart:
      return refuse(kInvalid, "part: %d of %d, expected 0 to count - 1", call.part.index, call.part.count);
    case Fault::kPairing:
      return refuse(kInvalid, "placement: pairing %d, expected 0 or 1", static_cast<int>(placement.pairing));
    case Fault::kRotaryDim:
      return refuse(kInvalid, "placement: rotary_dim %d, expected even, 2 or more", placement.rotary_dim);
    case Fault::kDType:
      return refuse(kInvalid, "%s: dtype in %d, out %d, expected equal, 0 to 2", x.name, static_cast<int>(in.dtype),
                    static_cast<int>(out.dtype));
    case Fault::kShape:
      return refuse(kInvalid, "%s: shape in [%lld, %lld, %lld], out [%lld, %lld, %lld], expected equal, not negative",
                    x.name, number(in.tokens), number(in.heads), number(in.head_dim), number(out.tokens),
                    number(out.heads), number(out.head_dim));
    case Fault::kOutsideHead:
      return refuse(kInvalid, "%s: rotary_offset %d + rotary_dim %d, expected inside head_dim %lld", x.name,
                    placement.rotary_offset, placement.rotary_dim, number(in.head_dim));
    case Fault::kNullIn: return refuse(kInvalid, "%s.in: data is null", x.name);
    case Fault::kNullOut: return refuse(kInvalid, "%s.out: data is null", x.name);
    case Fault::kReachIn: return unreachable(x.name, "in", in);
    case Fault::kReachOut: return unreachable(x.name, "out", out);
    case Fault::kHeadsOverlap:
      return refuse(kInvalid, "cannot tell that heads of %s.out do not overlap: strides %lld and %lld", x.name,
                    number(out.token_stride), number(out.head_stride));
    case Fault::kInAndOut: return cannot_tell(x.name, "in", x.name, "out");
    case Fault::kEps: return refuse(kInvalid, "norm of %s: eps, expected finite, 0 or more", x.name);
    case Fault::kHeader: return refuse(kMismatch, "rows: no valid header, expected rows of a table (Step::rows())");
    case Fault::kDevice:
      return refuse(kMismatch, "rows: device %d, expected %d (cpu)", static_cast<int>(rows.device),
                    static_cast<int>(Device::kCpu));
    case Fault::kUse:
      return refuse(kMismatch, "rows: made for another use, expected a table for use '%s'",
                    kUseNames[static_cast<std::size_t>(call.use)]);
    case Fault::kPairs:
      return refuse(kMismatch, "rows: %d pairs, expected %d (rotary_dim %d / 2)", rows.pairs, placement.rotary_dim / 2,
                    placement.rotary_dim);
    case Fault::kRowTokens:
      return refuse(kMismatch, "rows: %lld tokens, expected at least %lld", number(rows.tokens), number(in.tokens));
    case Fault::kNullRows: return refuse(kMismatch, "rows: cos or sin is null");
    case Fault::kSizesDiffer:
      return refuse(kInvalid, "%s has %lld tokens of head_dim %lld, %s %lld of %lld, expected equal", x.name,
                    number(in.tokens), number(in.head_dim), other.name, number(other_in.tokens),
                    number(other_in.head_dim));
    case Fault::kOutAndOut: return cannot_tell(x.name, "out", other.name, "out");
    case Fault::kOutAndIn: return cannot_tell(x.name, "out", other.name, "in");
    case Fault::kInAndOutOfOther: return cannot_tell(x.name, "in", other.name, "out");
  }
  return {StatusCode::kInternal, "rotate: unknown fault"};
}

}  // namespace ropecache
