// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "rotate/overlap.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <random>
#include <vector>

namespace ropecache::test {
namespace {

std::array<std::byte, 1 << 16> memory;

// View of bf16 elements of `memory`, the first at index `first`.
TensorView view(std::int64_t first, std::int64_t tokens, std::int64_t heads, std::int64_t head_dim,
                std::int64_t token_stride, std::int64_t head_stride) {
  return {memory.data() + 2 * first, DType::kBF16, tokens, heads, head_dim, token_stride, head_stride};
}

Footprint footprint(const TensorView& view) {
  Footprint result;
  EXPECT_TRUE(footprint_of(view, 0, view.head_dim, &result));
  return result;
}

bool has_footprint(const TensorView& view, std::int64_t count) {
  Footprint ignored;
  return footprint_of(view, 0, count, &ignored);
}

bool disjoint(const TensorView& a, const TensorView& b) {
  const bool result = ropecache::disjoint(footprint(a), footprint(b));
  EXPECT_EQ(result, ropecache::disjoint(footprint(b), footprint(a)));
  return result;
}

bool heads_apart(const TensorView& a) { return ropecache::heads_apart(footprint(a)); }

TEST(Overlap, RangesThatTouch) {
  EXPECT_TRUE(disjoint(view(0, 4, 2, 8, 16, 8), view(64, 4, 2, 8, 16, 8)));
  EXPECT_FALSE(disjoint(view(0, 4, 2, 8, 16, 8), view(63, 4, 2, 8, 16, 8)));
  EXPECT_FALSE(disjoint(view(0, 1, 1, 8, 0, 0), view(0, 1, 1, 8, 0, 0)));
}

// [S, (6 + 2 + 2) D]: q, k, v beside each other in every token.
TEST(Overlap, MergedQkv) {
  EXPECT_TRUE(disjoint(view(0, 9, 6, 8, 80, 8), view(48, 9, 2, 8, 80, 8)));
  EXPECT_TRUE(disjoint(view(48, 9, 2, 8, 80, 8), view(64, 9, 2, 8, 80, 8)));
  EXPECT_FALSE(disjoint(view(0, 9, 7, 8, 80, 8), view(48, 9, 2, 8, 80, 8)));
  EXPECT_FALSE(disjoint(view(0, 9, 6, 8, 80, 8), view(47, 9, 2, 8, 80, 8)));
  // The last head of v reaches into the next token's q.
  EXPECT_FALSE(disjoint(view(0, 9, 6, 8, 80, 8), view(65, 9, 2, 8, 80, 8)));
}

// [S, H, 3 D]: q, k, v of one head beside each other (GPT-NeoX, Bloom, Megatron).
TEST(Overlap, QkvMergedByHead) {
  EXPECT_TRUE(disjoint(view(0, 9, 4, 8, 96, 24), view(8, 9, 4, 8, 96, 24)));
  EXPECT_FALSE(disjoint(view(0, 9, 4, 8, 96, 24), view(7, 9, 4, 8, 96, 24)));
  // [S, G, (4 + 1 + 1) D]: query 3 of every group against the keys (Falcon, InternLM2).
  EXPECT_TRUE(disjoint(view(24, 9, 2, 8, 96, 48), view(32, 9, 2, 8, 96, 48)));
}

// [H, 3, S, D] and [3, H, S, D].
TEST(Overlap, HeadMajor) {
  EXPECT_TRUE(disjoint(view(0, 9, 4, 8, 8, 216), view(72, 9, 4, 8, 8, 216)));
  EXPECT_TRUE(disjoint(view(0, 9, 4, 8, 8, 72), view(288, 9, 2, 8, 8, 72)));
  EXPECT_FALSE(disjoint(view(0, 9, 4, 8, 8, 216), view(64, 9, 4, 8, 8, 216)));
}

TEST(Overlap, NegativeStrides) {
  EXPECT_TRUE(disjoint(view(640, 9, 6, 8, -80, 8), view(48, 9, 2, 8, 80, 8)));
  EXPECT_TRUE(disjoint(view(680, 9, 6, 8, -80, -8), view(48, 9, 2, 8, 80, 8)));
  EXPECT_FALSE(disjoint(view(688, 9, 6, 8, -80, -8), view(48, 9, 2, 8, 80, 8)));
}

TEST(Overlap, HeadsApart) {
  EXPECT_TRUE(heads_apart(view(0, 9, 4, 8, 32, 8)));
  EXPECT_TRUE(heads_apart(view(0, 9, 4, 8, 8, 72)));
  EXPECT_TRUE(heads_apart(view(640, 9, 4, 8, -32, 8)));
  EXPECT_TRUE(heads_apart(view(0, 1, 1, 8, 0, 0)));
  EXPECT_FALSE(heads_apart(view(0, 9, 4, 8, 32, 7)));
  EXPECT_FALSE(heads_apart(view(0, 9, 4, 8, 31, 8)));
  EXPECT_FALSE(heads_apart(view(0, 9, 1, 8, 0, 8)));
  EXPECT_FALSE(heads_apart(view(0, 1, 4, 8, 32, 0)));
}

// Whatever is claimed to be apart is apart byte by byte, over many small views.
TEST(Overlap, NeverClaimsWhatIsNotSo) {
  std::mt19937 random(11);
  const auto draw = [&random](int low, int high) {
    return low + static_cast<std::int64_t>(random() % static_cast<unsigned>(high - low + 1));
  };
  const auto draw_view = [&draw] {
    return view(draw(4000, 4060), draw(1, 4), draw(1, 4), draw(1, 6), draw(-16, 16), draw(-16, 16));
  };
  // Bytes touched, with how many heads touch them.
  const auto touched = [](const TensorView& x) {
    std::vector<int> count(memory.size());
    const std::int64_t first = (static_cast<std::byte*>(x.data) - memory.data()) / 2;
    for (std::int64_t t = 0; t < x.tokens; ++t) {
      for (std::int64_t h = 0; h < x.heads; ++h) {
        for (std::int64_t d = 0; d < x.head_dim; ++d) {
          ++count[static_cast<std::size_t>(first + t * x.token_stride + h * x.head_stride + d)];
        }
      }
    }
    return std::vector<int>(count.begin() + 3800, count.begin() + 4300);
  };
  int claims = 0;
  int apart_claims = 0;
  for (int round = 0; round < 20000; ++round) {
    const TensorView a = draw_view();
    const TensorView b = draw_view();
    const std::vector<int> in_a = touched(a);
    if (heads_apart(a)) {
      ++apart_claims;
      for (const int count : in_a) ASSERT_LE(count, 1);
    }
    if (!disjoint(a, b)) continue;
    ++claims;
    const std::vector<int> in_b = touched(b);
    for (std::size_t i = 0; i < in_a.size(); ++i) ASSERT_FALSE(in_a[i] != 0 && in_b[i] != 0);
  }
  EXPECT_GT(claims, 1000);
  EXPECT_GT(apart_claims, 1000);
}

TEST(Overlap, ExtentsThatDoNotFit) {
  constexpr std::int64_t kHuge = INT64_MAX;
  EXPECT_FALSE(has_footprint(view(0, kHuge, 1, 8, 8, 8), 8));
  EXPECT_FALSE(has_footprint(view(0, 2, 1, 8, kHuge, 8), 8));
  EXPECT_FALSE(has_footprint(view(0, 2, 1, 8, INT64_MIN, 8), 8));
  EXPECT_FALSE(has_footprint(view(0, 1, 2, 8, 8, -kHuge / 2), 8));
  EXPECT_FALSE(has_footprint(view(0, 1, 1, kHuge, 8, 8), kHuge));
  EXPECT_FALSE(has_footprint(view(0, 2, 2, 8, kHuge / 4 + 1, kHuge / 4 + 1), 8));
  EXPECT_FALSE(has_footprint(view(0, 3, 3, 8, -kHuge / 4, -kHuge / 4), 8));
  EXPECT_FALSE(has_footprint(view(0, 2, 1, 8, kHuge / 2, 8), 8));
  EXPECT_FALSE(has_footprint(view(0, 2, 2, 8, INT64_MIN / 2, INT64_MIN / 2), 8));
  EXPECT_FALSE(has_footprint(view(0, 2, 1, 8, -(std::int64_t{1} << 60), 8), 8));  // below address 0
  EXPECT_TRUE(has_footprint(view(0, 2, 1, 8, 8, kHuge), 8));
}

}  // namespace
}  // namespace ropecache::test
