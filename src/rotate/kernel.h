// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// What a kernel is given: operands, checked already, in bytes; and which kernel takes them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ropecache/half.h"
#include "ropecache/rope.h"
#include "rotate/rotate_ref.h"
#include "simd/target.h"

namespace ropecache {

// Heads of some tokens: where they are read and written.
struct Side {
  const std::byte* in;  // rotary part of head 0 of token 0
  std::byte* out;
  std::int64_t in_token_stride;  // bytes
  std::int64_t in_head_stride;
  std::int64_t out_token_stride;
  std::int64_t out_head_stride;
  std::int64_t heads;
};

// One operand, or two of the same tokens and types: q and k.
struct Work {
  std::int64_t tokens;
  std::int64_t pairs;
  const float* cos;  // [tokens, pairs]
  const float* sin;
  const Side* sides;
  int count;
};

using Kernel = void (*)(const Work& work) noexcept;

// What is read and what is written: a type as it is (the numbers of DType), or fp32 narrowed on the way.
enum class Format : std::uint8_t { kF32, kBF16, kF16, kF32ToBF16, kF32ToF16 };
inline constexpr int kFormats = 5;

// The kernels of one target, by format, pairing and turn. The rotary part alone is read and written.
struct RotateKernels {
  Kernel at[kFormats][2][2] = {};
  Kernel of(Format format, Pairing pairing, ref::Turn turn) const noexcept {
    return at[static_cast<int>(format)][static_cast<int>(pairing)][static_cast<int>(turn)];
  }
};

// Without vectors, for elements at any address.
extern const RotateKernels kScalarKernels;

// For elements at multiples of their size.
const RotateKernels& rotate_kernels(simd::Target target) noexcept;

}  // namespace ropecache
