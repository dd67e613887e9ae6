// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// No byte outside the tensors is read or written: they stand against pages that must not be touched.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "rotate/tensor.h"

namespace ropecache::test {
namespace {

enum class Side { kStart, kEnd };

// Copy of some bytes with a page that must not be touched right before (kStart) or right behind (kEnd).
class Guarded {
 public:
  Guarded(const void* bytes, std::size_t size, Side side) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t inner = (size + page - 1) / page * page;
    size_ = inner + 2 * page;
    void* mapped = mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) std::abort();
    base_ = static_cast<std::byte*>(mapped);
    if (inner > 0 && mprotect(base_ + page, inner, PROT_READ | PROT_WRITE) != 0) std::abort();
    data_ = base_ + page + (side == Side::kEnd ? inner - size : 0);
    std::memcpy(data_, bytes, size);
  }
  ~Guarded() { munmap(base_, size_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  std::byte* data() const { return data_; }
  // Whole pages that may only be read from now on.
  static void make_read_only(std::byte* at, std::size_t size) {
    if (mprotect(at, size, PROT_READ) != 0) std::abort();
  }

 private:
  std::byte* base_ = nullptr;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

class GuardPages : public testing::TestWithParam<Side> {};
INSTANTIATE_TEST_SUITE_P(Sides, GuardPages, testing::Values(Side::kStart, Side::kEnd));

TEST_P(GuardPages, B146_NothingOutsideIsTouched) {
  for (const DType dtype : kDTypes) {
    for (const Pairing pairing : kPairings) {
      for (const int dim : {2, 4, 6, 20, 36, 72, 80, 96, 100, 256, 512}) {
        for (const int rest : {0, 3}) {
          const Shape shape{dtype, 3, 2, dim + rest};
          const Placement placement{dim, GetParam() == Side::kEnd ? 0 : rest, pairing};
          const TestRows rows(3, dim / 2);
          Tensor x(shape, Layout::kTokenMajor);
          const Bytes packed = x.fill(3).packed();
          const Bytes expected = rotated(packed, shape, rows.rows(), placement);
          const Guarded cos(rows.cos.data(), rows.cos.size() * sizeof(float), GetParam());
          const Guarded sin(rows.sin.data(), rows.sin.size() * sizeof(float), GetParam());
          const Guarded in(packed.data(), packed.size(), GetParam());
          const Guarded out(packed.data(), packed.size(), GetParam());
          Rows guarded = rows.rows();
          guarded.cos = reinterpret_cast<const float*>(cos.data());
          guarded.sin = reinterpret_cast<const float*>(sin.data());
          const TensorView in_view = TensorView::of(in.data(), dtype, 3, 2, dim + rest);
          const TensorView out_view = TensorView::of(out.data(), dtype, 3, 2, dim + rest);
          ASSERT_TRUE(rotate(guarded, placement, {in_view, out_view}).ok());
          ASSERT_TRUE(std::equal(expected.begin(), expected.end(), out.data()));
          ASSERT_TRUE(rotate(guarded, placement, Operand::in_place(in_view)).ok());
          ASSERT_TRUE(std::equal(expected.begin(), expected.end(), in.data()));
        }
      }
    }
  }
}

// In place the elements beside the rotary part are not written, not even with what stands there.
TEST(ReadOnlyPages, InPlaceWritesTheRotaryPartOnly) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  for (const DType dtype : kDTypes) {
    const auto dim = static_cast<int>(page / dtype_size(dtype));
    const std::vector<std::byte> zeros(3 * page);
    const Guarded memory(zeros.data(), zeros.size(), Side::kStart);
    Guarded::make_read_only(memory.data(), page);
    Guarded::make_read_only(memory.data() + 2 * page, page);
    const TestRows rows(1, dim / 2);
    for (const int rest : {1, 8, 100}) {  // elements on either side of a rotary part that is the page between
      std::byte* first = memory.data() + page - static_cast<std::size_t>(rest) * dtype_size(dtype);
      const TensorView view = TensorView::of(first, dtype, 1, 1, dim + 2 * rest);
      EXPECT_TRUE(rotate(rows.rows(), {dim, rest, Pairing::kHalf}, Operand::in_place(view)).ok());
    }
  }
}

// Multi-head latent attention: q [8, 64 heads, 64] in rows of 256, k [8, 1, 64] at the end of its memory. The stride of
// q, used for k, would leave it.
TEST_P(GuardPages, B137_StridesOfQAreNotUsedForK) {
  const Placement placement{64, 0, Pairing::kInterleaved};
  const TestRows rows(8, 32);
  for (const DType dtype : kDTypes) {
    std::vector<std::byte> q(8 * 64 * 256 * dtype_size(dtype));
    const TensorView q_view{q.data(), dtype, 8, 64, 64, 64 * 256, 256};
    Tensor k({dtype, 8, 1, 64}, Layout::kTokenMajor);
    const Bytes packed = k.fill(4).packed();
    const Guarded memory(packed.data(), packed.size(), GetParam());
    const TensorView k_view = TensorView::of(memory.data(), dtype, 8, 1, 64);
    ASSERT_TRUE(rotate(rows.rows(), placement, Operand::in_place(q_view), Operand::in_place(k_view)).ok());
    const Bytes expected = rotated(packed, {dtype, 8, 1, 64}, rows.rows(), placement);
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), memory.data()));
  }
}

}  // namespace
}  // namespace ropecache::test
