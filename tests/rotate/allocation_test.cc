// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// rotate() allocates nothing. Counted in this process: operator new always, malloc and its kin where the C library lets
// a program replace them (glibc without a sanitizer, which replaces them itself).
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "rotate/tensor.h"

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

std::atomic<long> allocations{0};

}  // namespace

#ifdef ROPECACHE_TEST_COUNTS_MALLOC
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);

void* malloc(std::size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) {
  ++allocations;
  return __libc_realloc(old, size);
}
}
#endif

// Not inlined: GCC would see malloc() paired with delete, and warn.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  void* memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace ropecache::test {
namespace {

template <class Function>
long count_allocations(Function function) {
  const long before = allocations;
  function();
  return allocations - before;
}

TEST(Allocation, TheCounterCounts) {
  EXPECT_GT(count_allocations([] {
              void* volatile memory = ::operator new(8);
              ::operator delete(memory);
            }),
            0);
#ifdef ROPECACHE_TEST_COUNTS_MALLOC
  EXPECT_EQ(count_allocations([] {
              void* volatile memory = std::malloc(8);
              std::free(memory);
            }),
            1);
#endif
}

TEST(Allocation, RotateMakesNone) {
  const TestRows rows(5, 16);
  for (const DType dtype : kDTypes) {
    for (const Pairing pairing : kPairings) {
      const Placement placement{32, 8, pairing};
      Tensor q({dtype, 5, 4, 48}, Layout::kMerged);
      Tensor k({dtype, 5, 2, 48}, Layout::kHeadMajor);
      Tensor k_out({dtype, 5, 2, 48}, Layout::kPadded);
      const Rows header = rows.rows();
      bool ok = true;
      EXPECT_EQ(count_allocations([&] {
                  const Operand q_in_place = Operand::in_place(q.view());
                  const Operand k_copied{k.view(), k_out.view()};
                  ok = rotate(header, placement, q_in_place).ok() &&
                       rotate(header, placement, q_in_place, k_copied).ok() &&
                       rotate_backward(header, placement, k_copied).ok() &&
                       rotate_inverse(header, placement, k_copied).ok() &&
                       rotate_shift(header, placement, k_copied).ok();
                }),
                0);
      EXPECT_TRUE(ok);
    }
  }
}

}  // namespace
}  // namespace ropecache::test
