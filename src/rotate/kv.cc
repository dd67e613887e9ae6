// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "ropecache/kv.h"

#include <cstring>

#include "rotate/element_kernels.h"
#include "rotate/share.h"
#include "rotate/side.h"

namespace ropecache {
namespace {

constexpr StatusCode kInvalid = StatusCode::kInvalidArgument;

std::int64_t slot_of(const SlotMap& slots, std::int64_t token) noexcept {
  return slots.type == PositionType::kInt32 ? static_cast<const std::int32_t*>(slots.data)[token]
                                            : static_cast<const std::int64_t*>(slots.data)[token];
}

std::int64_t size_of(const TensorView& view) noexcept { return static_cast<std::int64_t>(dtype_size(view.dtype)); }

bool is_narrowing(const TensorView& from, const TensorView& to) noexcept {
  return from.dtype == DType::kF32 && to.dtype != DType::kF32;
}

bool is_aligned_view(const TensorView& view) noexcept {
  return reinterpret_cast<std::uintptr_t>(view.data) % dtype_size(view.dtype) == 0;
}

Format format_of(const TensorView& from, const TensorView& to) noexcept {
  if (!is_narrowing(from, to)) return static_cast<Format>(from.dtype);
  return to.dtype == DType::kBF16 ? Format::kF32ToBF16 : Format::kF32ToF16;
}

// ---- Checks. -----------------------------------------------------------------------------------------------------

// One of k and v, with its cache.
struct Pair {
  const TensorView& in;
  const TensorView& cache;
  const char* name;  // "k", "v"
  Footprint read;
  Footprint written;
};

bool is_type(DType dtype) noexcept { return dtype <= DType::kF16; }

Status check_pair(Pair& pair) noexcept {
  const TensorView& in = pair.in;
  const TensorView& cache = pair.cache;
  if (!is_type(in.dtype) || !is_type(cache.dtype) || (in.dtype != cache.dtype && !is_narrowing(in, cache))) {
    return refuse(kInvalid, "%s: dtype %d for a cache of dtype %d, expected equal, or fp32 for a cache of 16 bits", pair.name,
                  static_cast<int>(in.dtype), static_cast<int>(cache.dtype));
  }
  if (in.heads != cache.heads || in.head_dim != cache.head_dim || in.tokens < 0 || cache.tokens < 0 || in.heads < 0 ||
      in.head_dim < 0) {
    return refuse(kInvalid, "%s: %lld heads of %lld for a cache of %lld heads of %lld, expected equal, not negative", pair.name,
                  static_cast<long long>(in.heads), static_cast<long long>(in.head_dim),
                  static_cast<long long>(cache.heads), static_cast<long long>(cache.head_dim));
  }
  if (in.tokens == 0 || in.heads == 0 || in.head_dim == 0 || cache.tokens == 0) return {};
  if (in.data == nullptr || cache.data == nullptr) return refuse(kInvalid, "%s: data is null", pair.name);
  if (!footprint_of(in, 0, in.head_dim, &pair.read) || !footprint_of(cache, 0, cache.head_dim, &pair.written)) {
    return refuse(kInvalid, "%s: strides reach outside the address space", pair.name);
  }
  if (!heads_apart(pair.written)) {
    return refuse(kInvalid, "cannot tell that heads of the cache of %s do not overlap", pair.name);
  }
  return {};
}

Status check_slots(const SlotMap& slots, std::int64_t tokens, const KvCache& cache) noexcept {
  if (slots.type > PositionType::kInt64) return refuse(kInvalid, "slots: unknown element type, expected int32 or int64");
  if (slots.tokens < tokens) {
    return refuse(kInvalid, "slots: %lld, expected one for each of the %lld tokens", static_cast<long long>(slots.tokens),
                  static_cast<long long>(tokens));
  }
  if (tokens > 0 && slots.data == nullptr) return refuse(kInvalid, "slots: null data");
  const std::int64_t most = cache.v.heads > 0 && cache.v.tokens < cache.k.tokens ? cache.v.tokens : cache.k.tokens;
  for (std::int64_t t = 0; t < tokens; ++t) {
    const std::int64_t slot = slot_of(slots, t);
    if (slot >= most) {
      return refuse(StatusCode::kOutOfRange, "slots: token %lld has slot %lld, expected below %lld, or negative for none",
                    static_cast<long long>(t), static_cast<long long>(slot), static_cast<long long>(most));
    }
  }
  return {};
}

bool has_bytes(const Pair& pair) noexcept {
  return pair.in.tokens > 0 && pair.in.heads > 0 && pair.in.head_dim > 0 && pair.cache.tokens > 0;
}

Status check_apart(const Pair& a, const Pair& b) noexcept {
  if (!has_bytes(a) || !has_bytes(b)) return {};
  if (!disjoint(a.written, b.read)) return refuse(kInvalid, "cannot tell that the cache of %s and %s do not overlap", a.name, b.name);
  if (&a != &b && !disjoint(a.written, b.written)) return refuse(kInvalid, "cannot tell that the caches of k and v do not overlap");
  return {};
}

// ---- Writing. ----------------------------------------------------------------------------------------------------

// `count` elements from byte offsets of a head, copied or narrowed.
class Mover {
 public:
  Mover(const TensorView& in, const TensorView& cache) noexcept : in_size_(size_of(in)), out_size_(size_of(cache)) {
    if (!is_narrowing(in, cache)) return;
    const bool aligned = is_aligned_view(in) && is_aligned_view(cache);
    const ElementKernels& kernels = aligned ? element_kernels(simd::active()) : kScalarElementKernels;
    narrow_ = cache.dtype == DType::kBF16 ? kernels.to_bf16 : kernels.to_f16;
  }
  // Elements [first, first + count) of one head.
  void move(const std::byte* in, std::byte* out, std::int64_t first, std::int64_t count) const noexcept {
    if (count == 0) return;
    if (narrow_ != nullptr) return narrow_(in + first * in_size_, out + first * out_size_, count);
    std::memcpy(out + first * out_size_, in + first * in_size_, static_cast<std::size_t>(count * in_size_));
  }

 private:
  std::int64_t in_size_;
  std::int64_t out_size_;
  NarrowKernel narrow_ = nullptr;
};

// Head 0 of a token's keys or values, and of its slot.
Side side_at(const TensorView& in, const TensorView& cache, std::int64_t token, std::int64_t slot, std::int64_t head,
             std::int64_t heads) noexcept {
  const std::int64_t in_size = size_of(in);
  const std::int64_t out_size = size_of(cache);
  const std::int64_t in_head = in.heads > 1 ? in.head_stride * in_size : 0;
  const std::int64_t out_head = cache.heads > 1 ? cache.head_stride * out_size : 0;
  const std::int64_t in_token = in.tokens > 1 ? in.token_stride * in_size : 0;
  const std::int64_t out_token = cache.tokens > 1 ? cache.token_stride * out_size : 0;
  return {static_cast<const std::byte*>(in.data) + token * in_token + head * in_head,
          static_cast<std::byte*>(cache.data) + slot * out_token + head * out_head,
          0, in_head, 0, out_head, heads};
}

// Calls visit(token, slot, head, heads) for the call's part of a view, without tokens that have no slot.
template <class Visit>
void for_each_slot(const TensorView& in, const SlotMap& slots, Part part, Visit visit) noexcept {
  for_each_rectangle(units_of(part, in.tokens, in.heads), in.heads,
                     [&](std::int64_t token, std::int64_t tokens, std::int64_t head, std::int64_t heads) {
                       for (std::int64_t t = token; t < token + tokens; ++t) {
                         const std::int64_t slot = slot_of(slots, t);
                         if (slot >= 0) visit(t, slot, head, heads);
                       }
                     });
}

void write_keys(const Call& call, const TensorView& k, const SlotMap& slots, const TensorView& cache) noexcept {
  const Placement& placement = call.placement;
  const bool aligned = is_aligned_view(k) && is_aligned_view(cache);
  const RotateKernels& kernels = aligned ? rotate_kernels(simd::active()) : kScalarKernels;
  const Kernel kernel = kernels.of(format_of(k, cache), placement.pairing, ref::Turn::kForward);
  const Mover mover(k, cache);
  const std::int64_t behind = placement.rotary_offset + placement.rotary_dim;
  for_each_slot(k, slots, call.part, [&](std::int64_t token, std::int64_t slot, std::int64_t head, std::int64_t heads) {
    const Side whole = side_at(k, cache, token, slot, head, heads);
    Side rotary = whole;
    rotary.in += placement.rotary_offset * size_of(k);
    rotary.out += placement.rotary_offset * size_of(cache);
    kernel(work_of(call.rows, token, 1, &rotary, 1));
    if (placement.rotary_offset == 0 && behind == k.head_dim) return;
    for (std::int64_t h = 0; h < heads; ++h) {
      const std::byte* in = whole.in + h * whole.in_head_stride;
      std::byte* out = whole.out + h * whole.out_head_stride;
      mover.move(in, out, 0, placement.rotary_offset);
      mover.move(in, out, behind, k.head_dim - behind);
    }
  });
}

void write_values(const TensorView& v, const SlotMap& slots, const TensorView& cache, Part part) noexcept {
  const Mover mover(v, cache);
  for_each_slot(v, slots, part, [&](std::int64_t token, std::int64_t slot, std::int64_t head, std::int64_t heads) {
    const Side side = side_at(v, cache, token, slot, head, heads);
    for (std::int64_t h = 0; h < heads; ++h) {
      mover.move(side.in + h * side.in_head_stride, side.out + h * side.out_head_stride, 0, v.head_dim);
    }
  });
}

}  // namespace

Status rotate_into_cache(const Rows& rows, const Placement& placement, const TensorView& k, const TensorView& v,
                         const SlotMap& slots, const KvCache& cache, Part part) noexcept {
  const Call call{rows, placement, Use::kRotate, part};
  const Operand keys = Operand::in_place(k);
  Fault fault = check_placement(call);
  if (fault == Fault::kNone) fault = check_inside(keys, placement);
  if (fault == Fault::kNone) fault = check_rows(call, k.tokens);
  if (fault != Fault::kNone) return describe(fault, call, {keys, "k"}, {keys, "k"});

  const bool with_values = cache.v.heads != 0;
  Pair k_pair{k, cache.k, "k", {}, {}};
  Pair v_pair{v, cache.v, "v", {}, {}};
  if (Status status = check_pair(k_pair); !status.ok()) return status;
  if (with_values) {
    if (v.tokens != k.tokens) {
      return refuse(kInvalid, "v has %lld tokens, k %lld, expected equal", static_cast<long long>(v.tokens),
                    static_cast<long long>(k.tokens));
    }
    if (Status status = check_pair(v_pair); !status.ok()) return status;
  }
  if (Status status = check_slots(slots, k.tokens, cache); !status.ok()) return status;
  if (Status status = check_apart(k_pair, k_pair); !status.ok()) return status;
  if (with_values) {
    for (const Pair* a : {&k_pair, &v_pair}) {
      for (const Pair* b : {&k_pair, &v_pair}) {
        if (Status status = check_apart(*a, *b); !status.ok()) return status;
      }
    }
  }

  if (k.heads > 0) write_keys(call, k, slots, cache.k);
  if (with_values) write_values(v, slots, cache.v, part);
  return {};
}

}  // namespace ropecache
