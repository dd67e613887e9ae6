// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "bench_limit.h"

#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench_limit.cc"
#include "hwy/foreach_target.h"  // includes this file once per target
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace ropecache::cli::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

void read_and_write_here(std::byte* data, std::size_t bytes) {
  const hn::ScalableTag<std::uint8_t> d;
  const std::size_t step = hn::Lanes(d);
  auto* at = reinterpret_cast<std::uint8_t*>(data);
  for (std::size_t i = 0; i + 4 * step <= bytes; i += 4 * step) {
    [[maybe_unused]] auto a = hn::LoadU(d, at + i);
    auto b = hn::LoadU(d, at + i + step);
    auto c = hn::LoadU(d, at + i + 2 * step);
    auto e = hn::LoadU(d, at + i + 3 * step);
    // So that the compiler cannot know that what is stored is what was loaded.
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
    asm volatile("" : "+v"(a.raw), "+v"(b.raw), "+v"(c.raw), "+v"(e.raw));
#elif HWY_ARCH_ARM_A64 && HWY_TARGET == HWY_NEON
    asm volatile("" : "+w"(a.raw), "+w"(b.raw), "+w"(c.raw), "+w"(e.raw));
#else
    asm volatile("" ::: "memory");
#endif
    hn::StoreU(a, d, at + i);
    hn::StoreU(b, d, at + i + step);
    hn::StoreU(c, d, at + i + 2 * step);
    hn::StoreU(e, d, at + i + 3 * step);
  }
}

}  // namespace
}  // namespace ropecache::cli::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ropecache::cli {

HWY_EXPORT(read_and_write_here);

void read_and_write(std::byte* data, std::size_t bytes) { HWY_DYNAMIC_DISPATCH(read_and_write_here)(data, bytes); }

}  // namespace ropecache::cli
#endif
