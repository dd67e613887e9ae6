// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define ROPECACHE_TEST_SANITIZED
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ROPECACHE_TEST_SANITIZED
#endif
#if defined(__GLIBC__) && !defined(ROPECACHE_TEST_SANITIZED)
#define ROPECACHE_TEST_COUNTS_MALLOC
#endif

namespace {

std::atomic<long> total{0};

}  // namespace

#ifdef ROPECACHE_TEST_COUNTS_MALLOC
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);

void* malloc(std::size_t size) {
  ++total;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  ++total;
  return __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) {
  ++total;
  return __libc_realloc(old, size);
}
}
#endif

void* operator new(std::size_t size) {
  ++total;
  void* memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  ++total;
  const auto to = static_cast<std::size_t>(alignment);
  void* memory = std::aligned_alloc(to, (size + to - 1) / to * to);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace ropecache {

long allocations() { return total; }

bool allocations_of_malloc() {
#ifdef ROPECACHE_TEST_COUNTS_MALLOC
  return true;
#else
  return false;
#endif
}

}  // namespace ropecache
