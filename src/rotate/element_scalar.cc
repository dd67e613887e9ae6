// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// The definitions of element_kernels.h.
#include <cmath>

#include "rotate/element_kernels.h"

namespace ropecache {
namespace ref {

float norm_scale(float sum, std::int64_t head_dim, float eps) noexcept {
  const float mean = sum / static_cast<float>(head_dim);
  return 1.0f / std::sqrt(mean + eps);
}

}  // namespace ref

namespace {

template <class Element>
void norm(const NormWork& work) noexcept {
  constexpr auto kSize = static_cast<std::int64_t>(Element::kSize);
  for (std::int64_t h = 0; h < work.heads; ++h) {
    const std::byte* in = work.in + h * work.in_head_stride;
    std::byte* out = work.out + h * work.out_head_stride;
    float part[ref::kNormParts] = {};
    for (std::int64_t i = 0; i < work.head_dim; ++i) {
      const float x = Element::widen(in + i * kSize);
      part[i % ref::kNormParts] += x * x;
    }
    const float scale = ref::norm_scale(ref::sum_of_parts(part), work.head_dim, work.eps);
    for (std::int64_t i = 0; i < work.head_dim; ++i) {
      const float y = Element::widen(in + i * kSize) * scale;
      Element::narrow(work.weight == nullptr ? y : y * work.weight[i], out + i * kSize);
    }
  }
}

template <class Out>
void narrow(const std::byte* in, std::byte* out, std::int64_t count) noexcept {
  for (std::int64_t i = 0; i < count; ++i) {
    Out::narrow(ref::F32::widen(in + i * 4), out + i * static_cast<std::int64_t>(Out::kSize));
  }
}

}  // namespace

constinit const ElementKernels kScalarElementKernels = {
    {norm<ref::F32>, norm<ref::BF16>, norm<ref::F16>}, narrow<ref::BF16>, narrow<ref::F16>};

}  // namespace ropecache
