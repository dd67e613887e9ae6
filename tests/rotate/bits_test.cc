// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Every shape, layout and type gives the bits of the definition, and no byte besides is touched.
#include <gtest/gtest.h>

#include <tuple>

#include "rotate/tensor.h"

namespace ropecache::test {
namespace {

// out = poisoned, except what a call in place finds there.
void expect_bits(const Shape& shape, Layout in_layout, Layout out_layout, const Placement& placement) {
  SCOPED_TRACE(testing::Message() << "dtype " << static_cast<int>(shape.dtype) << " shape " << shape.tokens << " "
                                  << shape.heads << " " << shape.head_dim << " layouts " << static_cast<int>(in_layout)
                                  << " " << static_cast<int>(out_layout) << " rotary " << placement.rotary_offset
                                  << " + " << placement.rotary_dim << " pairing "
                                  << static_cast<int>(placement.pairing));
  const TestRows rows(shape.tokens, placement.rotary_dim / 2);
  Tensor in(shape, in_layout);
  in.fill(7);
  Tensor out(shape, out_layout);
  out.poison();
  const Bytes before = in.memory();
  const Bytes expected = rotated(in.packed(), shape, rows.rows(), placement);
  Tensor expected_out(out);
  expected_out.unpack(expected);

  ASSERT_TRUE(rotate(rows.rows(), placement, {in.view(), out.view()}).ok());
  ASSERT_TRUE(out.memory() == expected_out.memory()) << "out of place";
  ASSERT_TRUE(in.memory() == before) << "input written";

  Tensor expected_in(in);
  expected_in.unpack(expected);
  ASSERT_TRUE(rotate(rows.rows(), placement, Operand::in_place(in.view())).ok());
  ASSERT_TRUE(in.memory() == expected_in.memory()) << "in place";
}

class Bits : public testing::TestWithParam<std::tuple<DType, Pairing>> {
 protected:
  DType dtype() const { return std::get<0>(GetParam()); }
  Pairing pairing() const { return std::get<1>(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(All, Bits, testing::Combine(testing::ValuesIn(kDTypes), testing::ValuesIn(kPairings)));

constexpr int kRotaryDims[] = {2, 4, 6, 20, 36, 72, 80, 96, 100, 256, 512};

// Elements were counted as heads * tokens * tokens: right for some token counts by accident.
TEST_P(Bits, B2_B146_RotaryDimsAndTokens) {
  for (const int dim : kRotaryDims) {
    for (const std::int64_t tokens : {0, 1, 2, 127, 128, 129, 512}) {
      expect_bits({dtype(), tokens, 2, dim}, Layout::kTokenMajor, Layout::kTokenMajor, {dim, 0, pairing()});
    }
  }
}

TEST_P(Bits, B2_B3_ManyHeadsFewTokens) {
  expect_bits({dtype(), 1, 96, 128}, Layout::kTokenMajor, Layout::kTokenMajor, {128, 0, pairing()});
  expect_bits({dtype(), 128, 96, 128}, Layout::kTokenMajor, Layout::kTokenMajor, {128, 0, pairing()});
  expect_bits({dtype(), 1, 8, 128}, Layout::kTokenMajor, Layout::kTokenMajor, {128, 0, pairing()});
  expect_bits({dtype(), 100, 1, 64}, Layout::kTokenMajor, Layout::kTokenMajor, {64, 0, pairing()});
}

TEST_P(Bits, B143_GroupedHeadsAndManyTokens) {
  for (const std::int64_t tokens : {1, 19, 99, 128, 1024}) {
    for (const std::int64_t heads : {32, 8}) {
      expect_bits({dtype(), tokens, heads, 16}, Layout::kTokenMajor, Layout::kTokenMajor, {16, 0, pairing()});
    }
  }
}

TEST_P(Bits, Heads) {
  for (const std::int64_t heads : {0, 1, 2, 3, 5, 17}) {
    for (const int dim : kRotaryDims) {
      expect_bits({dtype(), 3, heads, dim}, Layout::kTokenMajor, Layout::kHeadMajor, {dim, 0, pairing()});
    }
  }
}

TEST_P(Bits, EveryLayoutToEveryLayout) {
  for (const Layout in : kLayouts) {
    for (const Layout out : kLayouts) {
      for (const std::int64_t tokens : {0, 1, 5}) {
        for (const std::int64_t heads : {1, 3}) {
          expect_bits({dtype(), tokens, heads, 24}, in, out, {16, 4, pairing()});
        }
      }
    }
  }
}

// The rest of a head was read with the strides of the other tensor; table width is not head width.
TEST_P(Bits, B61_B62_StridedTail) {
  for (const Layout out : kLayouts) {
    expect_bits({dtype(), 5, 3, 128}, Layout::kPadded, out, {64, 0, pairing()});
    expect_bits({dtype(), 2, 3, 96}, Layout::kMerged, out, {48, 0, pairing()});
  }
}

TEST_P(Bits, RotaryOffset) {
  expect_bits({dtype(), 3, 2, 512}, Layout::kTokenMajor, Layout::kTokenMajor, {64, 448, pairing()});
  expect_bits({dtype(), 3, 2, 512}, Layout::kTokenMajor, Layout::kPadded, {64, 100, pairing()});
}

TEST_P(Bits, B139_InPlaceOnStridedRows) {
  for (std::int64_t tokens = 1; tokens <= 20; ++tokens) {
    expect_bits({dtype(), tokens, 4, 32}, Layout::kPadded, Layout::kTokenMajor, {32, 0, pairing()});
  }
}

// More rows than a 16-bit count holds.
TEST_P(Bits, B140_MoreThan65535Rows) {
  expect_bits({dtype(), 8193, 16, 4}, Layout::kTokenMajor, Layout::kHeadMajor, {4, 0, pairing()});
  expect_bits({dtype(), 65537, 1, 2}, Layout::kTokenMajor, Layout::kTokenMajor, {2, 0, pairing()});
}

// Heads are not tokens: every head of a token has the token's position.
TEST_P(Bits, B136_HeadsShareTheTokensPosition) {
  const Placement placement{64, 0, pairing()};
  const TestRows rows(2, 32);
  Tensor x({dtype(), 1, 2, 64}, Layout::kTokenMajor);
  x.fill(3);
  Bytes packed = x.packed();
  const auto head = static_cast<std::ptrdiff_t>(packed.size() / 2);
  std::copy_n(packed.begin(), head, packed.begin() + head);
  x.unpack(packed);
  ASSERT_TRUE(rotate(rows.rows(), placement, Operand::in_place(x.view())).ok());
  packed = x.packed();
  EXPECT_TRUE(std::equal(packed.begin(), packed.begin() + head, packed.begin() + head));
}

TEST_P(Bits, B142_KeysOfOneHeadTurn) {
  const Placement placement{32, 0, pairing()};
  const TestRows rows(4, 16);
  for (const std::int64_t heads : {1, 2, 3, 5, 17}) {
    for (const std::int64_t kv_heads : {1, 3}) {
      const Shape q_shape{dtype(), 4, heads, 32};
      const Shape k_shape{dtype(), 4, kv_heads, 32};
      Tensor q(q_shape, Layout::kTokenMajor);
      Tensor k(k_shape, Layout::kTokenMajor);
      const Bytes q_in = q.fill(1).packed();
      const Bytes k_in = k.fill(2).packed();
      ASSERT_TRUE(rotate(rows.rows(), placement, Operand::in_place(q.view()), Operand::in_place(k.view())).ok());
      EXPECT_NE(k.packed(), k_in);
      EXPECT_EQ(k.packed(), rotated(k_in, k_shape, rows.rows(), placement));
      EXPECT_EQ(q.packed(), rotated(q_in, q_shape, rows.rows(), placement));
    }
  }
}

TEST_P(Bits, OneCallForBothEqualsTwoCalls) {
  const Placement placement{24, 8, pairing()};
  const TestRows rows(6, 12);
  for (const DType k_dtype : kDTypes) {
    for (const Layout layout : kLayouts) {
      Tensor q({dtype(), 6, 5, 40}, layout);
      Tensor k({k_dtype, 6, 2, 40}, Layout::kHeadMajor);
      Tensor k_out({k_dtype, 6, 2, 40}, Layout::kMerged);
      q.fill(1);
      k.fill(2);
      k_out.poison();
      Tensor q2(q);
      Tensor k2_out(k_out);
      ASSERT_TRUE(rotate(rows.rows(), placement, Operand::in_place(q.view()), {k.view(), k_out.view()}).ok());
      ASSERT_TRUE(rotate(rows.rows(), placement, {k.view(), k2_out.view()}).ok());
      ASSERT_TRUE(rotate(rows.rows(), placement, Operand::in_place(q2.view())).ok());
      EXPECT_TRUE(q.memory() == q2.memory());
      EXPECT_TRUE(k_out.memory() == k2_out.memory());
    }
  }
}

// q, k and v of one buffer [S, (heads + 2 kv), D]; v and the margin stay.
TEST_P(Bits, B5_ViewsIntoMergedQkv) {
  const Placement placement{16, 0, pairing()};
  const TestRows rows(7, 8);
  Tensor qkv({dtype(), 7, 10, 16}, Layout::kTokenMajor);
  qkv.fill(5);
  const auto heads = [](const Tensor& tensor, std::int64_t first, std::int64_t count) {
    TensorView view = tensor.view();
    view.data = static_cast<std::byte*>(view.data) + first * 16 * static_cast<std::int64_t>(dtype_size(view.dtype));
    view.heads = count;
    return view;
  };
  Tensor expected(qkv);
  ASSERT_TRUE(rotate(rows.rows(), placement, Operand::in_place(heads(expected, 0, 6))).ok());
  ASSERT_TRUE(rotate(rows.rows(), placement, Operand::in_place(heads(expected, 6, 2))).ok());
  ASSERT_TRUE(
      rotate(rows.rows(), placement, Operand::in_place(heads(qkv, 0, 6)), Operand::in_place(heads(qkv, 6, 2))).ok());
  EXPECT_TRUE(qkv.memory() == expected.memory());
}

// 96 query heads and 8 of keys: an allocator that thinks q's source is free puts k's result there.
TEST_P(Bits, B5_U1_KeysIntoTheSourceOfQueriesAreRefused) {
  const Placement placement{128, 0, pairing()};
  const TestRows rows(2, 64);
  Tensor q({dtype(), 2, 96, 128}, Layout::kTokenMajor);
  Tensor q_out({dtype(), 2, 96, 128}, Layout::kTokenMajor);
  Tensor k({dtype(), 2, 8, 128}, Layout::kTokenMajor);
  q.fill(1);
  k.fill(2);
  const Bytes q_before = q.memory();
  const Bytes q_out_before = q_out.memory();
  TensorView k_out = k.view();
  for (const std::int64_t offset : {0, 1, 95 * 128, 2 * 96 * 128 - 1}) {
    k_out.data = static_cast<std::byte*>(q.view().data) + offset * static_cast<std::int64_t>(dtype_size(dtype()));
    const Status status = rotate(rows.rows(), placement, {q.view(), q_out.view()}, {k.view(), k_out});
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << offset;
    EXPECT_TRUE(q.memory() == q_before && q_out.memory() == q_out_before);
  }
}

TEST_P(Bits, SplitByTokensEqualsOneCall) {
  const Placement placement{16, 0, pairing()};
  const TestRows rows(9, 8);
  Tensor whole({dtype(), 9, 3, 16}, Layout::kMerged);
  whole.fill(4);
  Tensor parts(whole);
  ASSERT_TRUE(rotate(rows.rows(), placement, Operand::in_place(whole.view())).ok());
  for (const auto& [first, count] : {std::pair{0, 4}, std::pair{4, 1}, std::pair{5, 4}}) {
    TensorView view = parts.view();
    const auto size = static_cast<std::int64_t>(dtype_size(view.dtype));
    view.data = static_cast<std::byte*>(view.data) + first * view.token_stride * size;
    view.tokens = count;
    Rows part = rows.rows();
    part.cos += first * part.pairs;
    part.sin += first * part.pairs;
    part.tokens = count;
    ASSERT_TRUE(rotate(part, placement, Operand::in_place(view)).ok());
  }
  EXPECT_TRUE(whole.memory() == parts.memory());
}

// A leaf that was not rotated in place gives the same result again; in place it turns on.
TEST_P(Bits, B151_RepeatedCalls) {
  const Placement placement{16, 0, pairing()};
  const TestRows rows(3, 8);
  Tensor x({dtype(), 3, 2, 16}, Layout::kTokenMajor);
  x.fill(9);
  Tensor once(x);
  Tensor again(x);
  Tensor twice(x);
  ASSERT_TRUE(rotate(rows.rows(), placement, {x.view(), once.view()}).ok());
  ASSERT_TRUE(rotate(rows.rows(), placement, {x.view(), again.view()}).ok());
  EXPECT_TRUE(once.memory() == again.memory());
  ASSERT_TRUE(rotate(rows.rows(), placement, {once.view(), twice.view()}).ok());
  ASSERT_TRUE(rotate(rows.rows(), placement, Operand::in_place(x.view())).ok());
  ASSERT_TRUE(rotate(rows.rows(), placement, Operand::in_place(x.view())).ok());
  EXPECT_TRUE(x.packed() == twice.packed());
}

// An expanded input (a gradient from sum()) is one head read by all.
TEST_P(Bits, B152_ExpandedAndTransposedInputs) {
  const Placement placement{16, 0, pairing()};
  const Shape shape{dtype(), 3, 2, 16};
  const TestRows rows(3, 8);
  for (const bool expand_tokens : {false, true}) {
    Tensor in({dtype(), 3, 2, 16}, Layout::kTokenMajor);
    in.fill(2);
    TensorView expanded = in.view();
    expanded.head_stride = 0;
    if (expand_tokens) expanded.token_stride = 0;
    Tensor materialized(shape, Layout::kTokenMajor);
    Bytes packed;
    const Bytes all = in.packed();
    const auto head = static_cast<std::ptrdiff_t>(all.size() / 6);
    for (std::ptrdiff_t t = 0; t < 3; ++t) {
      for (int h = 0; h < 2; ++h) {
        const auto from = all.begin() + (expand_tokens ? 0 : 2 * t * head);
        packed.insert(packed.end(), from, from + head);
      }
    }
    Tensor out(shape, Layout::kHeadMajor);
    ASSERT_TRUE(rotate(rows.rows(), placement, {expanded, out.view()}).ok());
    EXPECT_TRUE(out.packed() == rotated(packed, shape, rows.rows(), placement));
  }
}

// With one token or one head a stride is never taken.
TEST_P(Bits, StridesThatAreNotTakenMayBeAnything) {
  const Placement placement{16, 0, pairing()};
  const TestRows rows(4, 8);
  for (const std::int64_t junk : {std::int64_t{0}, INT64_MIN, INT64_MAX, std::int64_t{-1}}) {
    Tensor one_head({dtype(), 4, 1, 16}, Layout::kTokenMajor);
    Tensor one_token({dtype(), 1, 4, 16}, Layout::kTokenMajor);
    const Bytes head_in = one_head.fill(1).packed();
    const Bytes token_in = one_token.fill(2).packed();
    TensorView head_view = one_head.view();
    head_view.head_stride = junk;
    TensorView token_view = one_token.view();
    token_view.token_stride = junk;
    ASSERT_TRUE(rotate(rows.rows(), placement, {head_view, one_head.view()}).ok());
    ASSERT_TRUE(rotate(rows.rows(), placement, Operand::in_place(token_view)).ok());
    EXPECT_TRUE(one_head.packed() == rotated(head_in, {dtype(), 4, 1, 16}, rows.rows(), placement));
    EXPECT_TRUE(one_token.packed() == rotated(token_in, {dtype(), 1, 4, 16}, rows.rows(), placement));
  }
}

TEST_P(Bits, EveryAddress) {
  const Placement placement{16, 0, pairing()};
  const Shape shape{dtype(), 3, 2, 16};
  const TestRows rows(3, 8);
  Tensor x(shape, Layout::kTokenMajor);
  const Bytes packed = x.fill(6).packed();
  const Bytes expected = rotated(packed, shape, rows.rows(), placement);
  for (std::size_t shift = 0; shift < 8; ++shift) {
    Bytes memory(packed.size() + 16);
    std::copy(packed.begin(), packed.end(), memory.begin() + static_cast<std::ptrdiff_t>(shift));
    const TensorView view = TensorView::of(memory.data() + shift, dtype(), 3, 2, 16);
    ASSERT_TRUE(rotate(rows.rows(), placement, Operand::in_place(view)).ok());
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), memory.begin() + static_cast<std::ptrdiff_t>(shift)));
  }
}

}  // namespace
}  // namespace ropecache::test
