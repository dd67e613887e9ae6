// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "simd/target.h"

#include <array>
#include <atomic>
#include <cstddef>

#include "hwy/highway.h"
#include "ropecache/target.h"

namespace ropecache {
namespace simd {
namespace {

struct Row {
  Target target;
  std::string_view name;
  std::int64_t highway;  // the bit Highway gives it; 0: needs nothing
};
constexpr std::array<Row, kTargets> kRows = {{{Target::kScalar, "scalar", 0},
                                              {Target::kSsse3, "ssse3", HWY_SSSE3},
                                              {Target::kSse4, "sse4", HWY_SSE4},
                                              {Target::kAvx2, "avx2", HWY_AVX2},
                                              {Target::kAvx512, "avx512", HWY_AVX3},
                                              {Target::kAvx512Bf16, "avx512_bf16", HWY_AVX3},
                                              {Target::kNeon, "neon", HWY_NEON}}};

bool has_bf16_instructions() noexcept {
#if HWY_ARCH_X86
  return __builtin_cpu_supports("avx512bf16") != 0;
#else
  return false;
#endif
}

// The targets that are compiled in and that this machine has.
class Usable {
 public:
  Usable() noexcept {
    const std::int64_t machine = hwy::SupportedTargets() & HWY_TARGETS;
    for (const Row& row : kRows) {
      if (row.highway != 0 && (row.highway & machine) == 0) continue;
      if (row.target == Target::kAvx512Bf16 && !has_bf16_instructions()) continue;
      targets_[size_] = row.target;
      names_[size_++] = row.name;
    }
  }
  std::span<const Target> targets() const noexcept { return {targets_.data(), size_}; }
  std::span<const std::string_view> names() const noexcept { return {names_.data(), size_}; }

 private:
  std::array<Target, kTargets> targets_{};
  std::array<std::string_view, kTargets> names_{};
  std::size_t size_ = 0;
};

const Usable& usable() noexcept {
  static const Usable instance;
  return instance;
}

constexpr std::uint8_t kNotChosen = 255;
std::atomic<std::uint8_t> chosen{kNotChosen};

}  // namespace

Target active() noexcept {
  std::uint8_t target = chosen.load(std::memory_order_relaxed);
  if (target == kNotChosen) {
    target = static_cast<std::uint8_t>(usable().targets().back());
    chosen.store(target, std::memory_order_relaxed);
  }
  return static_cast<Target>(target);
}

}  // namespace simd

std::span<const std::string_view> targets() noexcept { return simd::usable().names(); }

std::string_view active_target() noexcept { return simd::kRows[static_cast<std::size_t>(simd::active())].name; }

Status use_target(std::string_view name) noexcept {
  const simd::Usable& usable = simd::usable();
  for (std::size_t i = 0; i < usable.names().size(); ++i) {
    if (usable.names()[i] != name) continue;
    simd::chosen.store(static_cast<std::uint8_t>(usable.targets()[i]), std::memory_order_relaxed);
    return Status();
  }
  return Status(StatusCode::kUnsupported, "use_target: not one of targets()");
}

}  // namespace ropecache
