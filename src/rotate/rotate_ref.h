// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// The definition of the arithmetic of rotate(): one pair, from bytes to bytes. Every kernel on every target gives
// these bits, in the floating-point environment that a program starts with: rounding to nearest, subnormals kept.
#pragma once

#include <bit>
#include <cfloat>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "ropecache/half.h"

static_assert(FLT_EVAL_METHOD == 0, "float arithmetic must round to float after every operation");
#ifdef __FAST_MATH__
#error "ropecache must be compiled without -ffast-math: results would no longer be defined"
#endif

namespace ropecache::ref {

struct Pair {
  float u;
  float v;
};

enum class Turn : std::uint8_t { kForward, kBack };

// Forward turns by the angle, back by its negative: the transpose. Four products, each rounded, then two sums, each
// rounded. `back` is `forward` with -s: IEEE makes a + b and a - (-b) the same number, the sign of zero included.
template <Turn turn>
inline Pair turn_pair(Pair x, float c, float s) noexcept {
  const float uc = x.u * c;
  const float us = x.u * s;
  const float vc = x.v * c;
  const float vs = x.v * s;
  if constexpr (turn == Turn::kForward) {
    return {uc - vs, us + vc};
  } else {
    return {uc + vs, vc - us};
  }
}

// An element type: widening is exact, narrowing rounds once to nearest even, a NaN becomes the one quiet NaN of the
// type. Elements are read and written as bytes, so their address needs no alignment.
struct F32 {
  static constexpr std::size_t kSize = 4;
  static float widen(const std::byte* at) noexcept {
    float value;
    std::memcpy(&value, at, kSize);
    return value;
  }
  static void narrow(float value, std::byte* at) noexcept {
    if (value != value) value = std::bit_cast<float>(0x7fc00000u);
    std::memcpy(at, &value, kSize);
  }
};

template <float (*kWiden)(std::uint16_t) noexcept, std::uint16_t (*kNarrow)(float) noexcept>
struct Half {
  static constexpr std::size_t kSize = 2;
  static float widen(const std::byte* at) noexcept {
    std::uint16_t bits;
    std::memcpy(&bits, at, kSize);
    return kWiden(bits);
  }
  static void narrow(float value, std::byte* at) noexcept {
    const std::uint16_t bits = kNarrow(value);
    std::memcpy(at, &bits, kSize);
  }
};
using BF16 = Half<bf16_to_f32, f32_to_bf16>;
using F16 = Half<f16_to_f32, f32_to_f16>;

// Reads u and v at the two addresses, turns them, writes both. Input and output may be the same addresses if their
// types are.
template <class In, class Out, Turn turn>
inline void rotate_pair(const std::byte* u_in, const std::byte* v_in, float c, float s, std::byte* u_out,
                        std::byte* v_out) noexcept {
  const Pair turned = turn_pair<turn>({In::widen(u_in), In::widen(v_in)}, c, s);
  Out::narrow(turned.u, u_out);
  Out::narrow(turned.v, v_out);
}

// Makes every NaN the one of the type; other elements stay what they are.
template <class Element>
inline void canonize(std::byte* at, std::int64_t count) noexcept {
  constexpr auto kSize = static_cast<std::int64_t>(Element::kSize);
  for (std::int64_t i = 0; i < count; ++i) Element::narrow(Element::widen(at + i * kSize), at + i * kSize);
}

}  // namespace ropecache::ref
