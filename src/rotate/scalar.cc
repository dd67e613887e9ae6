// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// The loops around rotate_ref.h.
#include "rotate/kernel.h"
#include "rotate/kernel_table.h"

namespace ropecache {
namespace {

template <class In, class Out, Pairing pairing, ref::Turn turn>
struct Scalar {
  static void run(const Work& work) noexcept {
    constexpr bool kHalf = pairing == Pairing::kHalf;
    constexpr auto kIn = static_cast<std::int64_t>(In::kSize);
    constexpr auto kOut = static_cast<std::int64_t>(Out::kSize);
    const std::int64_t step = kHalf ? 1 : 2;              // from pair to pair
    const std::int64_t partner = kHalf ? work.pairs : 1;  // from u to v
    for (int n = 0; n < work.count; ++n) {
      const Side& side = work.sides[n];
      for (std::int64_t t = 0; t < work.tokens; ++t) {
        const float* cos = work.cos + t * work.pairs;
        const float* sin = work.sin + t * work.pairs;
        for (std::int64_t h = 0; h < side.heads; ++h) {
          const std::byte* in = side.in + (t * side.in_token_stride + h * side.in_head_stride);
          std::byte* out = side.out + (t * side.out_token_stride + h * side.out_head_stride);
          for (std::int64_t i = 0; i < work.pairs; ++i) {
            const std::int64_t u = i * step;
            const std::int64_t v = u + partner;
            ref::rotate_pair<In, Out, turn>(in + u * kIn, in + v * kIn, cos[i], sin[i], out + u * kOut, out + v * kOut);
          }
        }
      }
    }
  }
};

}  // namespace

constinit const RotateKernels kScalarKernels = kernel_table<Scalar>();

}  // namespace ropecache
