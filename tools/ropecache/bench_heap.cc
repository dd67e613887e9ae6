// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "bench_heap.h"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace ropecache::cli {
namespace {

std::atomic<std::int64_t> bytes{0};
std::atomic<std::int64_t> peak{0};
std::atomic<std::uint64_t> allocations{0};

void* counted(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  const std::int64_t now = bytes += static_cast<std::int64_t>(malloc_usable_size(memory));
  ++allocations;
  std::int64_t before = peak.load();
  while (now > before && !peak.compare_exchange_weak(before, now)) {
  }
  return memory;
}

void release(void* memory) noexcept {
  if (memory == nullptr) return;
  bytes -= static_cast<std::int64_t>(malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace

Heap heap() { return {bytes, peak, allocations}; }
void reset_peak() { peak = bytes.load(); }

}  // namespace ropecache::cli

void* operator new(std::size_t size) { return ropecache::cli::counted(std::malloc(size == 0 ? 1 : size)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  const auto to = static_cast<std::size_t>(alignment);
  return ropecache::cli::counted(std::aligned_alloc(to, (size + to - 1) / to * to));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* memory, const std::nothrow_t&) noexcept { ropecache::cli::release(memory); }
void operator delete(void* memory) noexcept { ropecache::cli::release(memory); }
void operator delete(void* memory, std::size_t) noexcept { ropecache::cli::release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { ropecache::cli::release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { ropecache::cli::release(memory); }
