// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// rotate() allocates nothing.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "allocations.h"
#include "rotate/tensor.h"

namespace ropecache::test {
namespace {

template <class Function>
long count_allocations(Function function) {
  const long before = allocations();
  function();
  return allocations() - before;
}

TEST(Allocation, TheCounterCounts) {
  EXPECT_GT(count_allocations([] {
              void* volatile memory = ::operator new(8);
              ::operator delete(memory);
            }),
            0);
  if (allocations_of_malloc()) {
    EXPECT_EQ(count_allocations([] {
                void* volatile memory = std::malloc(8);
                std::free(memory);
              }),
              1);
  }
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
