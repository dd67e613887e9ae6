// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// element-inl.h, compiled for every target; as vector.cc is.
#include <type_traits>

#include "rotate/element_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "rotate/element_vector.cc"
#include "hwy/foreach_target.h"  // includes this file once per target
#include "hwy/highway.h"

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
HWY_BEFORE_NAMESPACE();
namespace ropecache::HWY_NAMESPACE {
namespace {
#define ROPECACHE_NATIVE_BF16 0
#include "rotate/elements-inl.h"
#include "rotate/element-inl.h"
#undef ROPECACHE_NATIVE_BF16
}  // namespace
}  // namespace ropecache::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_TARGET == HWY_AVX3
HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR ",avx512bf16")
namespace ropecache::N_AVX3_BF16 {
namespace {
#define ROPECACHE_NATIVE_BF16 1
#include "rotate/elements-inl.h"
#include "rotate/element-inl.h"
#undef ROPECACHE_NATIVE_BF16
}  // namespace
}  // namespace ropecache::N_AVX3_BF16
HWY_POP_ATTRIBUTES
#endif

#if HWY_ONCE
namespace ropecache {

const ElementKernels& element_kernels(simd::Target target) noexcept {
  switch (target) {
#if HWY_TARGETS & HWY_SSSE3
    case simd::Target::kSsse3: return N_SSSE3::kElementKernels;
#endif
#if HWY_TARGETS & HWY_SSE4
    case simd::Target::kSse4: return N_SSE4::kElementKernels;
#endif
#if HWY_TARGETS & HWY_AVX2
    case simd::Target::kAvx2: return N_AVX2::kElementKernels;
#endif
#if HWY_TARGETS & HWY_AVX3
    case simd::Target::kAvx512: return N_AVX3::kElementKernels;
    case simd::Target::kAvx512Bf16: return N_AVX3_BF16::kElementKernels;
#endif
#if HWY_TARGETS & HWY_NEON
    case simd::Target::kNeon: return N_NEON::kElementKernels;
#endif
    default: return kScalarElementKernels;
  }
}

}  // namespace ropecache
#endif  // HWY_ONCE
