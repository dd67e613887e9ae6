// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// The three element types and their conversions, as plain bit operations: the same result on every target,
// whatever flags the including file is compiled with. Narrowing rounds to nearest, ties to even. Subnormals are
// kept. A NaN narrows to the quiet NaN 0x7fc0 (bf16) or 0x7e00 (f16); see rotate.h for why payloads end there.
#pragma once

#if __cplusplus < 202002L
#error "ropecache needs C++20: -std=c++20"
#endif

#include <bit>
#include <cstddef>
#include <cstdint>

namespace ropecache {

enum class DType : std::uint8_t { kF32 = 0, kBF16 = 1, kF16 = 2 };

constexpr std::size_t dtype_size(DType dtype) noexcept { return dtype == DType::kF32 ? 4 : 2; }

constexpr float bf16_to_f32(std::uint16_t bits) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

constexpr std::uint16_t f32_to_bf16(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fc0;
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

constexpr float f16_to_f32(std::uint16_t bits) noexcept {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1fu;
  std::uint32_t fraction = bits & 0x3ffu;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | (fraction << 13));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112u) << 23) | (fraction << 13));
  if (fraction == 0) return std::bit_cast<float>(sign);
  // Subnormal: shift the leading one into place.
  const auto shift = static_cast<std::uint32_t>(std::countl_zero(fraction)) - 21u;
  fraction = (fraction << shift) & 0x3ffu;
  return std::bit_cast<float>(sign | ((113u - shift) << 23) | (fraction << 13));
}

constexpr std::uint16_t f32_to_f16(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return 0x7e00;
  if (magnitude >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // rounds to infinity
  if (magnitude < 0x38800000u) {                                                    // below 2^-14: subnormal
    if (magnitude < 0x33000000u) return sign;                                       // below 2^-25
    const std::uint32_t shift = 126u - (magnitude >> 23);
    const std::uint32_t fraction = (magnitude & 0x7fffffu) | 0x800000u;
    const std::uint32_t kept = fraction >> shift;
    const std::uint32_t rest = fraction & ((1u << shift) - 1u);
    const std::uint32_t tie = 1u << (shift - 1u);
    const std::uint32_t up = (rest > tie || (rest == tie && (kept & 1u))) ? 1u : 0u;
    return static_cast<std::uint16_t>(sign | (kept + up));
  }
  const std::uint32_t rebased = magnitude - (112u << 23);
  return static_cast<std::uint16_t>(sign | ((rebased + 0xfffu + ((rebased >> 13) & 1u)) >> 13));
}

}  // namespace ropecache
