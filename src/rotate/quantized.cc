// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "ropecache/quantized.h"

#include <cmath>
#include <cstring>

#include "rotate/share.h"
#include "rotate/side.h"

namespace ropecache {
namespace {

constexpr std::int64_t kBlockElements = 32;

std::int64_t block_bytes(BlockType type) noexcept { return type == BlockType::kQ8_0 ? 34 : 18; }

float scale_of(const std::byte* block) noexcept { return ref::F16::widen(block); }

// A quotient as an integer; what is not finite counts as 0, which the scale then makes what it was.
int to_integer(float x) noexcept { return x >= -1024.0f && x <= 1024.0f ? static_cast<int>(x) : 0; }

void load_q8_0(const std::byte* block, float* x) noexcept {
  const float scale = scale_of(block);
  for (int i = 0; i < kBlockElements; ++i) {
    x[i] = static_cast<float>(static_cast<std::int8_t>(block[2 + i])) * scale;
  }
}

void store_q8_0(const float* x, std::byte* block) noexcept {
  float largest = 0;
  for (int i = 0; i < kBlockElements; ++i) largest = std::fmax(largest, std::fabs(x[i]));
  const float scale = largest / 127.0f;
  const float inverse = scale != 0 ? 1.0f / scale : 0.0f;
  ref::F16::narrow(scale, block);
  for (int i = 0; i < kBlockElements; ++i) {
    block[2 + i] = static_cast<std::byte>(to_integer(std::round(x[i] * inverse)));
  }
}

void load_q4_0(const std::byte* block, float* x) noexcept {
  const float scale = scale_of(block);
  for (int i = 0; i < kBlockElements / 2; ++i) {
    const auto both = std::to_integer<int>(block[2 + i]);
    x[i] = static_cast<float>((both & 15) - 8) * scale;
    x[i + kBlockElements / 2] = static_cast<float>((both >> 4) - 8) * scale;
  }
}

void store_q4_0(const float* x, std::byte* block) noexcept {
  float largest = 0;  // in size; its sign decides which end of the range is exact
  for (int i = 0; i < kBlockElements; ++i) {
    if (std::fabs(x[i]) > std::fabs(largest)) largest = x[i];
  }
  const float scale = largest / -8.0f;
  const float inverse = scale != 0 ? 1.0f / scale : 0.0f;
  ref::F16::narrow(scale, block);
  const auto quantized = [inverse](float value) {
    const int q = to_integer(value * inverse + 8.5f);
    return q < 15 ? q : 15;
  };
  for (int i = 0; i < kBlockElements / 2; ++i) {
    block[2 + i] = static_cast<std::byte>(quantized(x[i]) | quantized(x[i + kBlockElements / 2]) << 4);
  }
}

struct Codec {
  void (*load)(const std::byte* block, float* x) noexcept;
  void (*store)(const float* x, std::byte* block) noexcept;
};

Codec codec_of(BlockType type) noexcept {
  return type == BlockType::kQ8_0 ? Codec{load_q8_0, store_q8_0} : Codec{load_q4_0, store_q4_0};
}

Status check_view(const BlockView& x) noexcept {
  const auto number = [](std::int64_t value) { return static_cast<long long>(value); };
  if (x.type > BlockType::kQ4_0) {
    return refuse(StatusCode::kInvalidArgument, "x: block type %d, expected 0 or 1", static_cast<int>(x.type));
  }
  if (x.tokens < 0 || x.heads < 0 || x.head_dim < 0 || x.head_dim % kBlockElements != 0 || x.head_dim > kMaxBlockHead) {
    return refuse(StatusCode::kInvalidArgument, "x: shape [%lld, %lld, %lld], expected not negative, head_dim a multiple of 32 up to %lld",
                  number(x.tokens), number(x.heads), number(x.head_dim), number(kMaxBlockHead));
  }
  return {};
}

}  // namespace

Status rotate_shift(const Rows& rows, const Placement& placement, const BlockView& x, Part part) noexcept {
  if (Status status = check_view(x); !status.ok()) return status;
  const Call call{rows, placement, Use::kShift, part};
  const std::int64_t bytes = block_bytes(x.type);
  // The same shape in elements, for what tensors and blocks have in common.
  const Operand shape = Operand::in_place({x.data, DType::kF32, x.tokens, x.heads, x.head_dim, x.token_stride, x.head_stride});
  Fault fault = check_placement(call);
  if (fault == Fault::kNone) fault = check_inside(shape, placement);
  if (fault == Fault::kNone) fault = check_rows(call, x.tokens);
  if (fault == Fault::kNone && !is_empty(shape)) {
    // In bytes: a view of 2-byte elements has half of everything, and both block sizes and strides are even.
    if (x.data == nullptr) {
      fault = Fault::kNullIn;
    } else if (x.token_stride % 2 != 0 || x.head_stride % 2 != 0) {
      return refuse(StatusCode::kInvalidArgument, "x: strides of %lld and %lld bytes, expected even", static_cast<long long>(x.token_stride),
                    static_cast<long long>(x.head_stride));
    } else {
      const std::int64_t width = x.head_dim / kBlockElements * bytes / 2;
      Footprint written;
      const TensorView halves{x.data, DType::kF16, x.tokens, x.heads, width, x.token_stride / 2, x.head_stride / 2};
      if (!footprint_of(halves, 0, width, &written)) fault = Fault::kReachIn;
      else if (!heads_apart(written)) fault = Fault::kHeadsOverlap;
    }
  }
  if (fault != Fault::kNone) return describe(fault, call, {shape, "x"}, {shape, "x"});
  if (is_empty(shape)) return {};

  const Codec codec = codec_of(x.type);
  const Kernel kernel = rotate_kernels(simd::active()).of(Format::kF32, placement.pairing, ref::Turn::kForward);
  const std::int64_t first = placement.rotary_offset / kBlockElements;
  const std::int64_t last = (placement.rotary_offset + placement.rotary_dim - 1) / kBlockElements;
  alignas(64) float head[kMaxBlockHead];
  for_each_rectangle(units_of(part, x.tokens, x.heads), x.heads,
                     [&](std::int64_t token, std::int64_t tokens, std::int64_t from, std::int64_t heads) {
                       for (std::int64_t t = token; t < token + tokens; ++t) {
                         for (std::int64_t h = from; h < from + heads; ++h) {
                           std::byte* data = static_cast<std::byte*>(x.data) + (x.tokens > 1 ? t * x.token_stride : 0) +
                                             (x.heads > 1 ? h * x.head_stride : 0);
                           for (std::int64_t b = first; b <= last; ++b) codec.load(data + b * bytes, head + b * kBlockElements);
                           auto* rotary = reinterpret_cast<std::byte*>(head + placement.rotary_offset);
                           const Side side{rotary, rotary, 0, 0, 0, 0, 1};
                           kernel(work_of(rows, t, 1, &side, 1));
                           for (std::int64_t b = first; b <= last; ++b) codec.store(head + b * kBlockElements, data + b * bytes);
                         }
                       }
                     });
  return {};
}

}  // namespace ropecache
