// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// The instruction sets that kernels are compiled for, and the one in use. Every kernel gives the same bits on each.
#pragma once

#include <cstdint>

namespace ropecache::simd {

// In order of preference, best last.
enum class Target : std::uint8_t { kScalar, kSsse3, kSse4, kAvx2, kAvx512, kAvx512Bf16, kNeon };
inline constexpr int kTargets = 7;

// The best one of this machine, unless use_target() chose another. One atomic read.
Target active() noexcept;

}  // namespace ropecache::simd
