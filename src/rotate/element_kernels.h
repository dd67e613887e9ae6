// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels that handle elements one by one: RMSNorm of heads (ropecache/norm.h defines it) and narrowing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rotate/rotate_ref.h"
#include "simd/target.h"

namespace ropecache {

// Heads of one token, checked already.
struct NormWork {
  const std::byte* in;
  std::byte* out;
  std::int64_t in_head_stride;  // bytes
  std::int64_t out_head_stride;
  std::int64_t heads;
  std::int64_t head_dim;
  const float* weight;  // null: all 1
  float eps;
};
using NormKernel = void (*)(const NormWork& work) noexcept;

// fp32 to bf16 or f16.
using NarrowKernel = void (*)(const std::byte* in, std::byte* out, std::int64_t count) noexcept;

struct ElementKernels {
  NormKernel norm[3];  // by DType
  NarrowKernel to_bf16;
  NarrowKernel to_f16;
};

// Without vectors, for elements at any address.
extern const ElementKernels kScalarElementKernels;

// For elements at multiples of their size.
const ElementKernels& element_kernels(simd::Target target) noexcept;

namespace ref {

inline constexpr int kNormParts = 16;

// The partial sums, pairwise.
inline float sum_of_parts(float (&part)[kNormParts]) noexcept {
  for (int width = kNormParts / 2; width > 0; width /= 2) {
    for (int j = 0; j < width; ++j) part[j] += part[j + width];
  }
  return part[0];
}

float norm_scale(float sum, std::int64_t head_dim, float eps) noexcept;

}  // namespace ref
}  // namespace ropecache
