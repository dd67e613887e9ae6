// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// What holds for every rope, on random ones: config to rope to table to rows to rotated heads.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "flow/compare.h"
#include "flow/random_ropes.h"

namespace ropecache::flow {
namespace {

constexpr int kHeads = 3;
constexpr Turn kForward = rotate;

Rope resolved(const RopeConfig& config, ResolveOptions options = {}) {
  auto rope = resolve(config, options);
  EXPECT_TRUE(rope.ok()) << rope.status().message();
  return *rope;
}

TEST(Properties, position_zero_is_the_identity_times_the_magnitude) {
  RandomRopes ropes(1);
  for (int n = 0; n < 60; ++n) {
    const Rope rope = resolved(ropes.next(n % 2 == 0));
    const auto x = random_tensor(static_cast<std::uint64_t>(n), 2, kHeads, rope.head_dim);
    const auto y = turned(kForward, RowsOf(rope, {0, 0}).rows(), rope, x, kHeads);
    const auto m = static_cast<float>(rope.magnitude.to_double());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto lane = static_cast<int>(i) % rope.head_dim - rope.rotary_offset;
      EXPECT_EQ(y[i], lane >= 0 && lane < rope.rotary_dim ? x[i] * m : x[i]);
    }
  }
}

TEST(Properties, forward_then_inverse_restores) {
  RandomRopes ropes(2);
  for (int n = 0; n < 60; ++n) {
    const Rope rope = resolved(ropes.next(n % 2 == 0));
    const std::vector<std::int64_t> positions{ropes.position(), ropes.position()};
    const auto x = random_tensor(static_cast<std::uint64_t>(n), 2, kHeads, rope.head_dim);
    const auto y = turned(kForward, RowsOf(rope, positions).rows(), rope, x, kHeads);
    const auto z = turned(rotate_inverse, RowsOf(rope, positions, Use::kInverse).rows(), rope, y, kHeads);
    EXPECT_LT(largest_difference(x, z), 1e-6f);
  }
}

// dx = M^T dy: <M x, y> = <x, M^T y>, with the magnitude in both (B149), and not the inverse.
TEST(Properties, B149_backward_is_the_transpose_with_the_same_magnitude) {
  RandomRopes ropes(3);
  for (int n = 0; n < 60; ++n) {
    const Rope rope = resolved(ropes.next(n % 2 == 0));
    const RowsOf rows(rope, {ropes.position(), ropes.position()});
    const auto x = random_tensor(static_cast<std::uint64_t>(n), 2, kHeads, rope.head_dim);
    const auto y = random_tensor(static_cast<std::uint64_t>(n) + 1000, 2, kHeads, rope.head_dim);
    EXPECT_NEAR(dot(turned(kForward, rows.rows(), rope, x, kHeads), y),
                dot(x, turned(rotate_backward, rows.rows(), rope, y, kHeads)), 2e-5);
  }
}

// B155: a shift has magnitude 1 whatever the rope's, and the rope's own frequencies and axes.
TEST(Properties, B155_a_shift_equals_rotating_at_the_sum) {
  RandomRopes ropes(4);
  for (int n = 0; n < 60; ++n) {
    const Rope rope = resolved(ropes.next(n % 2 == 0));
    const std::int64_t p = ropes.position() / 2, delta = ropes.position() / 2;
    const auto x = random_tensor(static_cast<std::uint64_t>(n), 1, kHeads, rope.head_dim);
    const auto at_p = turned(kForward, RowsOf(rope, {p}).rows(), rope, x, kHeads);
    const auto shifted = turned(rotate_shift, RowsOf(rope, {delta}, Use::kShift).rows(), rope, at_p, kHeads);
    const auto direct = turned(kForward, RowsOf(rope, {p + delta}).rows(), rope, x, kHeads);
    EXPECT_LT(largest_difference(shifted, direct), 1e-6f * static_cast<float>(rope.magnitude.to_double()));
  }
}

TEST(Properties, B154_one_long_shift_beats_ten_thousand_short_ones) {
  const Rope rope = resolved({.head_dim = 128, .rotary_dim = 128, .theta = 10000});
  const auto x = random_tensor(7, 1, kHeads, 128);
  const auto at_p = turned(kForward, RowsOf(rope, {20000}).rows(), rope, x, kHeads);
  const auto want = turned(kForward, RowsOf(rope, {10000}).rows(), rope, x, kHeads);
  const auto once = turned(rotate_shift, RowsOf(rope, {-10000}, Use::kShift).rows(), rope, at_p, kHeads);
  const RowsOf back(rope, {-1}, Use::kShift);
  auto many = at_p;
  for (int i = 0; i < 10000; ++i) many = turned(rotate_shift, back.rows(), rope, many, kHeads);
  EXPECT_LT(largest_difference(once, want), 1e-6f);
  EXPECT_LT(largest_difference(once, want), largest_difference(many, want));
  EXPECT_LT(largest_difference(many, want), 2e-3f);  // 10^4 roundings of 2^-24, at the very worst
}

TEST(Properties, in_place_equals_out_of_place) {
  RandomRopes ropes(5);
  for (int n = 0; n < 40; ++n) {
    const Rope rope = resolved(ropes.next(n % 2 == 0));
    const RowsOf rows(rope, {ropes.position(), ropes.position()});
    auto x = random_tensor(static_cast<std::uint64_t>(n), 2, kHeads, rope.head_dim);
    std::vector<float> out(x.size(), std::nanf(""));
    const TensorView in_view = TensorView::of(x.data(), DType::kF32, 2, kHeads, rope.head_dim);
    const TensorView out_view = TensorView::of(out.data(), DType::kF32, 2, kHeads, rope.head_dim);
    ASSERT_TRUE(rotate(rows.rows(), Placement::of(rope), Operand{in_view, out_view}).ok());
    EXPECT_TRUE(same_bits(out, turned(kForward, rows.rows(), rope, x, kHeads)));
  }
}

TEST(Properties, all_axis_layouts_with_equal_ids_are_the_plain_rope) {
  RandomRopes ropes(6);
  for (int n = 0; n < 60; ++n) {
    RopeConfig config = ropes.next(true);
    const Rope with_axes = resolved(config);
    config.axes = {};
    const Rope without = resolved(config);
    const std::vector<std::int64_t> positions{ropes.position(), ropes.position()};
    const auto x = random_tensor(static_cast<std::uint64_t>(n), 2, kHeads, with_axes.head_dim);
    EXPECT_TRUE(same_bits(turned(kForward, RowsOf(with_axes, positions).rows(), with_axes, x, kHeads),
                          turned(kForward, RowsOf(without, positions).rows(), without, x, kHeads)));
  }
}

TEST(Properties, B88_fields_without_effect_leave_the_key_alone) {
  RandomRopes ropes(7);
  for (int n = 0; n < 100; ++n) {
    const RopeConfig config = ropes.next(n % 3 == 0);
    RopeConfig other = config;
    other.pairing = config.pairing == Pairing::kHalf ? Pairing::kInterleaved : Pairing::kHalf;
    other.head_dim += 64;
    other.rotary_offset = 0;
    other.query_scale = {QueryScale::Rule::kLogFloor, 0.1, 8192};
    other.inverse_on_output = true;
    other.divisors.assign(static_cast<std::size_t>(config.rotary_dim / 2), 1.0);
    if (std::holds_alternative<std::monostate>(config.scaling)) other.scaling = LinearScaling{1.0};
    EXPECT_EQ(table_key(resolved(config)).value().hex(), table_key(resolved(other)).value().hex());
  }
}

TEST(Properties, different_frequencies_give_different_keys) {
  RandomRopes ropes(8);
  std::vector<Rope> all;
  for (int n = 0; n < 150; ++n) all.push_back(resolved(ropes.next(n % 3 == 0)));
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const bool same = all[i].frequencies == all[j].frequencies && all[i].axes == all[j].axes &&
                        all[i].magnitude == all[j].magnitude;
      EXPECT_EQ(*table_key(all[i]) == *table_key(all[j]), same);
    }
  }
}

// B10, B85: rows of the weights in half order, permuted to interleaved order per head, give the same scores under the
// other pairing, whatever the number of KV heads; without the rotation the mistake would not show.
TEST(Properties, B10_B85_permuted_weights_and_the_other_pairing_give_the_same_scores) {
  for (const auto& [heads, kv_heads, dim] : {std::tuple{32, 4, 64}, std::tuple{64, 8, 128}}) {
    RopeConfig config{.head_dim = dim, .rotary_dim = dim, .theta = 10000};
    const Rope half = resolved(config);
    config.pairing = Pairing::kInterleaved;
    const Rope interleaved = resolved(config);
    const auto permuted = [dim = dim](const std::vector<float>& x) {
      std::vector<float> y(x.size());
      for (std::size_t i = 0; i < x.size(); ++i) {
        const auto lane = i % static_cast<std::size_t>(dim), pairs = static_cast<std::size_t>(dim) / 2;
        y[i - lane + (lane < pairs ? 2 * lane : 2 * (lane - pairs) + 1)] = x[i];
      }
      return y;
    };
    const auto q = random_tensor(1, 1, heads, dim), k = random_tensor(2, 1, kv_heads, dim);
    const RowsOf at_q(half, {1234}), at_k(half, {77});
    const auto q_half = turned(kForward, at_q.rows(), half, q, heads);
    const auto k_half = turned(kForward, at_k.rows(), half, k, kv_heads);
    const auto q_inter = turned(kForward, at_q.rows(), interleaved, permuted(q), heads);
    const auto k_inter = turned(kForward, at_k.rows(), interleaved, permuted(k), kv_heads);
    EXPECT_TRUE(same_bits(permuted(q_half), q_inter));
    EXPECT_TRUE(same_bits(permuted(k_half), k_inter));
    const auto wrong = turned(kForward, at_q.rows(), interleaved, q, heads);
    EXPECT_FALSE(same_bits(permuted(q_half), wrong));
    // Without a rope both tensors permuted alike, or not at all, give one score: only a rotated layer tells.
    const auto score = [dim = dim](const std::vector<float>& a, const std::vector<float>& b) {
      return dot({a.begin(), a.begin() + dim}, {b.begin(), b.begin() + dim});
    };
    EXPECT_NEAR(score(permuted(q), permuted(k)), score(q, k), 1e-5);
    const auto wrong_k = turned(kForward, at_k.rows(), interleaved, k, kv_heads);
    EXPECT_GT(std::fabs(score(wrong, wrong_k) - score(q_half, k_half)), 1e-2);
  }
}

// The rows of K in groups of heads / KV heads: with 64 and 8 that is the number of KV heads, and nothing shows.
TEST(Properties, B10_groups_of_the_wrong_size_show_with_32_heads_and_4) {
  for (const auto& [heads, kv_heads, dim] : {std::tuple{32, 4, 64}, std::tuple{64, 8, 128}}) {
    const auto permuted = [](const std::vector<float>& x, int groups) {
      std::vector<float> y(x.size());
      const std::size_t size = x.size() / static_cast<std::size_t>(groups), half = size / 2;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const std::size_t lane = i % size;
        y[i - lane + (lane < half ? 2 * lane : 2 * (lane - half) + 1)] = x[i];
      }
      return y;
    };
    RopeConfig config{.head_dim = dim, .rotary_dim = dim, .theta = 10000};
    const Rope half = resolved(config);
    config.pairing = Pairing::kInterleaved;
    const Rope interleaved = resolved(config);
    const auto k = random_tensor(2, 1, kv_heads, dim);
    const RowsOf at_k(half, {77});
    const auto want = permuted(turned(kForward, at_k.rows(), half, k, kv_heads), kv_heads);
    EXPECT_TRUE(same_bits(turned(kForward, at_k.rows(), interleaved, permuted(k, kv_heads), kv_heads), want));
    EXPECT_EQ(same_bits(turned(kForward, at_k.rows(), interleaved, permuted(k, heads / kv_heads), kv_heads), want),
              heads / kv_heads == kv_heads);
  }
}

// The tails of merged buffers, one call against two, are in tests/rotate; here a whole step of two ropes and two layers.
TEST(Properties, B94_each_layer_turns_by_its_own_rope) {
  const Rope local = resolved({.head_dim = 256, .rotary_dim = 256, .theta = 10000});
  const Rope global = resolved({.head_dim = 256, .rotary_dim = 256, .theta = 1e6, .scaling = LinearScaling{8}});
  // B76: angle of pair 0 at position 800 is 800 on local layers and 100 on global ones.
  EXPECT_EQ(local.frequencies[0], Real::one());
  EXPECT_EQ(global.frequencies[0].to_double(), 0.125);
  const auto x = random_tensor(5, 1, kHeads, 256);
  const auto a = turned(kForward, RowsOf(local, {800}).rows(), local, x, kHeads);
  const auto b = turned(kForward, RowsOf(global, {800}).rows(), global, x, kHeads);
  EXPECT_FALSE(same_bits(a, b));
  EXPECT_NEAR(a[0], x[0] * std::cos(800.0f) - x[128] * std::sin(800.0f), 1e-5f);
  EXPECT_NEAR(b[0], x[0] * std::cos(100.0f) - x[128] * std::sin(100.0f), 1e-5f);
}

}  // namespace
}  // namespace ropecache::flow
