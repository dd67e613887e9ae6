// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Everything that can be wrong with a call of rotate(), found before the first write. Finding out is inline and branches
// little, since a call may turn as little as one token; saying what is wrong (describe()) may take its time.
#pragma once

#include "ropecache/rotate.h"
#include "rotate/overlap.h"

namespace ropecache {

enum class Fault : std::uint8_t {
  kNone,
  kPart,
  kPairing,
  kRotaryDim,
  // of one operand
  kDType,
  kShape,
  kOutsideHead,
  kNullIn,
  kNullOut,
  kReachIn,
  kReachOut,
  kHeadsOverlap,
  kInAndOut,
  kEps,
  // of the rows
  kHeader,
  kDevice,
  kUse,
  kPairs,
  kRowTokens,
  kNullRows,
  // of two operands
  kSizesDiffer,
  kOutAndOut,
  kOutAndIn,
  kInAndOutOfOther,
};

// What all operands of a call share.
struct Call {
  const Rows& rows;
  const Placement& placement;
  Use use;
  Part part;
};

// Sizes below 0 are errors; either of them 0 means that there is nothing to do.
inline bool is_empty(const Operand& x) noexcept { return x.in.tokens == 0 || x.in.heads == 0; }

// Same data, and the same strides wherever a stride is taken.
inline bool is_in_place(const Operand& x) noexcept {
  return x.in.data == x.out.data && (x.in.tokens == 1 || x.in.token_stride == x.out.token_stride) &&
         (x.in.heads == 1 || x.in.head_stride == x.out.head_stride);
}

// Which bytes of an operand are read and written.
struct Bytes {
  bool in_place;
  Footprint read;
  Footprint out;
  const Footprint& written() const noexcept { return in_place ? read : out; }
};

// A pairing that exists, a rotary part that can be paired, a part that exists.
inline Fault check_placement(const Call& call) noexcept {
  const Part part = call.part;
  const Placement& placement = call.placement;
  if (part.count < 1 || part.index < 0 || part.index >= part.count) return Fault::kPart;
  if (placement.pairing != Pairing::kHalf && placement.pairing != Pairing::kInterleaved) return Fault::kPairing;
  if (placement.rotary_dim < 2 || placement.rotary_dim % 2 != 0) return Fault::kRotaryDim;
  return Fault::kNone;
}

// Header and size of the rows.
inline Fault check_rows(const Call& call, std::int64_t tokens) noexcept {
  const Rows& rows = call.rows;
  if (rows.magic != Rows::kMagic || rows.key.empty()) return Fault::kHeader;
  if (rows.device != Device::kCpu) return Fault::kDevice;
  if (!rows.serves(call.use)) return Fault::kUse;
  if (rows.pairs != call.placement.rotary_dim / 2) return Fault::kPairs;
  if (rows.tokens < tokens) return Fault::kRowTokens;
  if (tokens > 0 && (rows.cos == nullptr || rows.sin == nullptr)) return Fault::kNullRows;
  return Fault::kNone;
}

// That the rotary part lies in the operand's heads.
inline Fault check_inside(const Operand& x, const Placement& placement) noexcept {
  const bool inside = placement.rotary_offset >= 0 &&
                      std::int64_t{placement.rotary_offset} + placement.rotary_dim <= x.in.head_dim;
  return inside ? Fault::kNone : Fault::kOutsideHead;
}

// Shapes, types and addresses of one operand, that `out` shares no byte between two heads and none with `in`. `touched`:
// in place only this part of a head is read and written; null: whole heads are. An empty operand has no bytes to check.
inline Fault check_operand(const Operand& x, const Placement* touched, Bytes* bytes) noexcept {
  const TensorView& in = x.in;
  const TensorView& out = x.out;
  if (in.dtype != out.dtype || in.dtype > DType::kF16) return Fault::kDType;
  bytes->in_place = is_in_place(x);
  if (in.tokens != out.tokens || in.heads != out.heads || in.head_dim != out.head_dim || in.tokens < 0 ||
      in.heads < 0) {
    return Fault::kShape;
  }
  if (touched != nullptr) {
    if (const Fault fault = check_inside(x, *touched); fault != Fault::kNone) return fault;
  } else if (in.head_dim < 0) {
    return Fault::kShape;
  }
  if (is_empty(x)) return Fault::kNone;
  const bool part = bytes->in_place && touched != nullptr;
  const std::int64_t first = part ? touched->rotary_offset : 0;
  const std::int64_t count = part ? touched->rotary_dim : in.head_dim;
  if (in.data == nullptr) return Fault::kNullIn;
  if (!footprint_of(in, first, count, &bytes->read)) return Fault::kReachIn;
  if (!bytes->in_place) {
    if (out.data == nullptr) return Fault::kNullOut;
    if (!footprint_of(out, first, count, &bytes->out)) return Fault::kReachOut;
  }
  if (!heads_apart(bytes->written())) return Fault::kHeadsOverlap;
  if (!bytes->in_place && !disjoint(bytes->out, bytes->read)) return Fault::kInAndOut;
  return Fault::kNone;
}

// Two operands that passed check_operand(): sizes agree, and neither writes what the other reads or writes.
inline Fault check_together(const Operand& q, const Bytes& q_bytes, const Operand& k, const Bytes& k_bytes) noexcept {
  if (q.in.tokens != k.in.tokens || q.in.head_dim != k.in.head_dim) return Fault::kSizesDiffer;
  if (is_empty(q) || is_empty(k)) return Fault::kNone;
  if (!disjoint(q_bytes.written(), k_bytes.written())) return Fault::kOutAndOut;
  if (q_bytes.in_place && k_bytes.in_place) return Fault::kNone;  // what is read is what is written
  if (!disjoint(q_bytes.written(), k_bytes.read)) return Fault::kOutAndIn;
  if (!disjoint(q_bytes.read, k_bytes.written())) return Fault::kInAndOutOfOther;
  return Fault::kNone;
}

// An operand and what errors call it: "x", "q", "k".
struct Named {
  const Operand& operand;
  const char* name;
};

// "%s" and numbers made into the text of a Status, in place: memory that runs out costs the text, never the error.
[[gnu::format(printf, 2, 3)]] Status refuse(StatusCode code, const char* format, ...) noexcept;

// The error for a fault of `x`, or of the call before any operand, or of `x` and `other`.
Status describe(Fault fault, const Call& call, const Named& x, const Named& other) noexcept;

}  // namespace ropecache
