// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// All instances of a kernel template.
#pragma once

#include "rotate/kernel.h"

namespace ropecache {

template <template <class In, class Out, Pairing pairing, ref::Turn turn> class Loop>
constexpr RotateKernels kernel_table() noexcept {
  using ref::BF16, ref::F16, ref::F32, ref::Turn;
  constexpr Pairing kHalf = Pairing::kHalf;
  constexpr Pairing kInterleaved = Pairing::kInterleaved;
  constexpr Turn kForward = Turn::kForward;
  constexpr Turn kBack = Turn::kBack;
  return {{{{Loop<F32, F32, kHalf, kForward>::run, Loop<F32, F32, kHalf, kBack>::run},
            {Loop<F32, F32, kInterleaved, kForward>::run, Loop<F32, F32, kInterleaved, kBack>::run}},
           {{Loop<BF16, BF16, kHalf, kForward>::run, Loop<BF16, BF16, kHalf, kBack>::run},
            {Loop<BF16, BF16, kInterleaved, kForward>::run, Loop<BF16, BF16, kInterleaved, kBack>::run}},
           {{Loop<F16, F16, kHalf, kForward>::run, Loop<F16, F16, kHalf, kBack>::run},
            {Loop<F16, F16, kInterleaved, kForward>::run, Loop<F16, F16, kInterleaved, kBack>::run}},
           // Only keys are narrowed, on their way into a cache.
           {{Loop<F32, BF16, kHalf, kForward>::run, nullptr}, {Loop<F32, BF16, kInterleaved, kForward>::run, nullptr}},
           {{Loop<F32, F16, kHalf, kForward>::run, nullptr}, {Loop<F32, F16, kInterleaved, kForward>::run, nullptr}}}};
}

}  // namespace ropecache
