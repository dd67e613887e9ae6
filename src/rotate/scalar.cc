// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "rotate/kernel.h"

namespace ropecache {
namespace {

using ref::Turn;

template <class Element, Pairing pairing, Turn turn>
void rotate_part(const std::byte* in, std::byte* out, const float* cos, const float* sin, std::int64_t pairs) noexcept {
  constexpr auto kSize = static_cast<std::int64_t>(Element::kSize);
  constexpr std::int64_t kStep = pairing == Pairing::kHalf ? kSize : 2 * kSize;    // from pair to pair
  const std::int64_t partner = pairing == Pairing::kHalf ? pairs * kSize : kSize;  // from u to v
  for (std::int64_t i = 0; i < pairs; ++i) {
    const std::int64_t u = i * kStep;
    const std::int64_t v = u + partner;
    ref::rotate_pair<Element, turn>(in + u, in + v, cos[i], sin[i], out + u, out + v);
  }
}

template <class Element, Pairing pairing, Turn turn>
void rotate_scalar(const Work& work) noexcept {
  const std::int64_t part = 2 * work.pairs * static_cast<std::int64_t>(Element::kSize);
  for (std::int64_t t = 0; t < work.tokens; ++t) {
    const float* cos = work.cos + t * work.pairs;
    const float* sin = work.sin + t * work.pairs;
    for (std::int64_t h = 0; h < work.heads; ++h) {
      const std::byte* in = work.in + (t * work.in_token_stride + h * work.in_head_stride);
      std::byte* out = work.out + (t * work.out_token_stride + h * work.out_head_stride);
      rotate_part<Element, pairing, turn>(in, out, cos, sin, work.pairs);
      std::memcpy(out - work.copy_before, in - work.copy_before, work.copy_before);
      std::memcpy(out + part, in + part, work.copy_after);
    }
  }
}

template <class Element>
Kernel choose(Pairing pairing, Turn turn) noexcept {
  if (pairing == Pairing::kHalf) {
    return turn == Turn::kForward ? rotate_scalar<Element, Pairing::kHalf, Turn::kForward>
                                  : rotate_scalar<Element, Pairing::kHalf, Turn::kBack>;
  }
  return turn == Turn::kForward ? rotate_scalar<Element, Pairing::kInterleaved, Turn::kForward>
                                : rotate_scalar<Element, Pairing::kInterleaved, Turn::kBack>;
}

}  // namespace

Kernel scalar_kernel(DType dtype, Pairing pairing, Turn turn) noexcept {
  switch (dtype) {
    case DType::kF32:
      return choose<ref::F32>(pairing, turn);
    case DType::kBF16:
      return choose<ref::BF16>(pairing, turn);
    case DType::kF16:
      return choose<ref::F16>(pairing, turn);
  }
  return nullptr;  // unreachable: check_operand() refuses other values
}

}  // namespace ropecache
