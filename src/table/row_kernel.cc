// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// rows-inl.h, compiled for every target.
#include "table/row_kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "table/row_kernel.cc"
#include "hwy/foreach_target.h"  // includes this file once per target
#include "hwy/highway.h"

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
HWY_BEFORE_NAMESPACE();
namespace ropecache::HWY_NAMESPACE {
namespace {
#include "table/rows-inl.h"
}  // namespace
constexpr RowKernel kRowKernel = {all_tokens, one_block};
}  // namespace ropecache::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace ropecache {

const RowKernel* row_kernel(simd::Target target) noexcept {
  switch (target) {
#if HWY_TARGETS & HWY_SSSE3
    case simd::Target::kSsse3: return &N_SSSE3::kRowKernel;
#endif
#if HWY_TARGETS & HWY_SSE4
    case simd::Target::kSse4: return &N_SSE4::kRowKernel;
#endif
#if HWY_TARGETS & HWY_AVX2
    case simd::Target::kAvx2: return &N_AVX2::kRowKernel;
#endif
#if HWY_TARGETS & HWY_AVX3
    case simd::Target::kAvx512:
    case simd::Target::kAvx512Bf16: return &N_AVX3::kRowKernel;
#endif
#if HWY_TARGETS & HWY_NEON
    case simd::Target::kNeon: return &N_NEON::kRowKernel;
#endif
    default: return nullptr;
  }
}

}  // namespace ropecache
#endif  // HWY_ONCE
