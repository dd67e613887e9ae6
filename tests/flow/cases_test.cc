// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Failures that people met in other projects, followed from config to rotated heads. The names carry the numbers of
// docs/cases.md, which links the reports.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <set>
#include <vector>

#include "flow/compare.h"
#include "flow/random_ropes.h"

namespace ropecache::flow {
namespace {

constexpr Turn kForward = rotate;

Rope resolved(const RopeConfig& config, ResolveOptions options = {}) {
  const auto rope = resolve(config, options);
  EXPECT_TRUE(rope.ok()) << rope.status().message();
  return *rope;
}

RopeConfig config_of(int dim, double theta, Scaling scaling = {}) {
  return {.head_dim = dim, .rotary_dim = dim, .theta = theta, .scaling = std::move(scaling)};
}

YarnScaling yarn(double factor, std::int64_t original_context) {
  YarnScaling rule;
  rule.factor = factor;
  rule.original_context = original_context;
  return rule;
}

// The lanes that a unit vector in `lane` reaches when it is turned at position 1.
std::set<int> reached(const Rope& rope, const RowsOf& at_1, int lane) {
  std::vector<float> x(static_cast<std::size_t>(rope.head_dim), 0.0f);
  x[static_cast<std::size_t>(lane)] = 1;
  const auto y = turned(kForward, at_1.rows(), rope, x, 1);
  std::set<int> lanes;
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (y[i] != 0) lanes.insert(static_cast<int>(i));
  }
  return lanes;
}

// GLM-4.5: head 128, 64 of it turn. The numbers alone reach the other backend; without their header they are refused,
// with it they give the same bits.
TEST(Cases, B1_numbers_without_their_header_are_refused) {
  RopeConfig config = config_of(64, 1e6);
  config.head_dim = 128;
  const Rope rope = resolved(config);
  const RowsOf source(rope, {0, 1, 2, 3, 4, 5, 6, 7});
  const Rows rows = source.rows();
  const std::vector<float> cos(rows.cos, rows.cos + 8 * 32), sin(rows.sin, rows.sin + 8 * 32);
  auto x = random_tensor(1, 8, 4, 128);
  const auto before = x;
  const Operand operand = Operand::in_place(TensorView::of(x.data(), DType::kF32, 8, 4, 128));

  Rows blank;
  blank.cos = cos.data();
  blank.sin = sin.data();
  EXPECT_EQ(rotate(blank, Placement::of(rope), operand).code(), StatusCode::kMismatch);
  blank.pairs = 32;
  blank.tokens = 8;
  EXPECT_EQ(rotate(blank, Placement::of(rope), operand).code(), StatusCode::kMismatch);
  EXPECT_TRUE(same_bits(x, before));

  Rows copy = rows;
  copy.cos = cos.data();
  copy.sin = sin.data();
  ASSERT_TRUE(rotate(copy, Placement::of(rope), operand).ok());
  EXPECT_TRUE(same_bits(x, turned(kForward, rows, rope, before, 4)));
  EXPECT_FALSE(same_bits(x, before));
}

// DeepSeek: the magnitude that ggml applies by itself and the factor that cancels it give 1 in every profile.
TEST(Cases, B4_U7_cosine_at_position_zero_is_one) {
  YarnScaling rule = yarn(40, 4096);
  rule.mscale = rule.mscale_all_dim = 1;
  Rope rope = resolved(config_of(64, 10000, rule));
  const std::int64_t zero = 0;
  std::vector<float> cos(32), sin(32);
  for (const Profile profile : {Profile::kExact, Profile::kFp32, Profile::kGgml}) {
    const auto table = build_table(rope, profile);
    ASSERT_TRUE(table.ok());
    ASSERT_TRUE((*table)->rows(Positions::of(&zero, 1), cos.data(), sin.data()).ok());
    for (const float c : cos) EXPECT_NEAR(c, 1.0f, profile == Profile::kGgml ? 6e-8f : 0.0f) << profile_name(profile);
  }
  // With the raw factor the same recipe is another table, and scores grow by the square.
  const auto right = table_key(rope, Profile::kGgml);
  rope.ggml->attn_factor = 1;
  EXPECT_NE(*table_key(rope, Profile::kGgml), *right);
  const auto raw = build_table(rope, Profile::kGgml);
  ASSERT_TRUE((*raw)->rows(Positions::of(&zero, 1), cos.data(), sin.data()).ok());
  EXPECT_NEAR(cos[0], 1.3688879454, 1e-7);
  EXPECT_NEAR(cos[0] * cos[0], 1.8738542071, 3e-7);
}

// Rows of q and k that were never permuted: nothing shows where both stand at one position, scores differ elsewhere.
TEST(Cases, B11_a_forgotten_permutation_shows_at_a_distance) {
  RopeConfig config = config_of(64, 10000);
  const Rope half = resolved(config);
  config.pairing = Pairing::kInterleaved;
  const Rope interleaved = resolved(config);
  const auto q = random_tensor(1, 1, 1, 64), k = random_tensor(2, 1, 1, 64);
  const auto score = [&](const Rope& rope, std::int64_t at_q, std::int64_t at_k) {
    return dot(turned(kForward, RowsOf(rope, {at_q}).rows(), rope, q, 1),
               turned(kForward, RowsOf(rope, {at_k}).rows(), rope, k, 1));
  };
  EXPECT_NEAR(score(half, 9, 9), score(interleaved, 9, 9), 1e-5);
  double largest = 0;
  for (int p = 0; p < 9; ++p) largest = std::max(largest, std::fabs(score(half, 9, p) - score(interleaved, 9, p)));
  EXPECT_GT(largest, 0.5);
}

// Llama 3.1 8B with and without its scaling. The report measured 0.959, 0.757, 0.619 and 0.503 on keys of a model; a
// head of equal elements weighs all pairs alike.
TEST(Cases, B34_unscaled_heads_drift_from_scaled_ones) {
  const Rope scaled = resolved(config_of(128, 5e5, Llama3Scaling{8, 1, 4, 8192})), bare = resolved(config_of(128, 5e5));
  const std::vector<float> x(128, 1.0f);
  for (const auto& [position, reported] : {std::pair{1000, 0.959}, {8192, 0.757}, {20000, 0.619}, {60000, 0.503}}) {
    const auto a = turned(kForward, RowsOf(scaled, {position}).rows(), scaled, x, 1);
    const auto b = turned(kForward, RowsOf(bare, {position}).rows(), bare, x, 1);
    EXPECT_NEAR(dot(a, b) / 128, reported, 0.04) << position;
  }
}

// One token of a decode step against the same token inside a prompt, scaled by llama3 in both.
TEST(Cases, B37_prefill_and_decode_rotate_alike) {
  const Rope rope = resolved(config_of(128, 5e5, Llama3Scaling{8, 1, 4, 8192}));
  std::vector<std::int64_t> positions;
  for (std::int64_t p = 8150; p < 8250; ++p) positions.push_back(p);
  const auto x = random_tensor(3, 100, 2, 128);
  const auto table = build_table(rope).value();  // one for both
  Step prefill(100), decode(1);
  ASSERT_TRUE(prefill.add(table).ok() && decode.add(table).ok());
  ASSERT_TRUE(prefill.begin(Positions::of(positions.data(), 100)).ok());
  const auto all = turned(kForward, *prefill.rows(*table), rope, x, 2);
  for (std::size_t t = 0; t < 100; ++t) {
    ASSERT_TRUE(decode.begin(Positions::of(&positions[t], 1)).ok());
    const auto first = static_cast<std::ptrdiff_t>(t * 256);
    const std::vector<float> token(x.begin() + first, x.begin() + first + 256);
    const std::vector<float> want(all.begin() + first, all.begin() + first + 256);
    EXPECT_TRUE(same_bits(turned(kForward, *decode.rows(*table), rope, token, 2), want)) << t;
  }
}

// Dynamic NTK: the length is part of the rope, so keys of one sequence share a table; to grow it, cached keys are
// turned back by the old one.
TEST(Cases, B49_cached_keys_move_to_another_base_explicitly) {
  const RopeConfig config = config_of(128, 10000, DynamicNtkScaling{2, 4096});
  const Rope before = resolved(config, {8192}), after = resolved(config, {16384});
  EXPECT_EQ(*table_key(before), *table_key(resolved(config, {8192})));
  EXPECT_NE(*table_key(before), *table_key(after));
  const std::vector<std::int64_t> positions{0, 100, 4095, 8191};
  const auto k = random_tensor(4, 4, 2, 128);
  const auto cached = turned(kForward, RowsOf(before, positions).rows(), before, k, 2);
  const auto bare = turned(rotate_inverse, RowsOf(before, positions, Use::kInverse).rows(), before, cached, 2);
  const auto moved = turned(kForward, RowsOf(after, positions).rows(), after, bare, 2);
  EXPECT_LT(largest_difference(moved, turned(kForward, RowsOf(after, positions).rows(), after, k, 2)), 1e-6f);
}

// Gemma 4's full layers: lanes 0 to 63 and 256 to 319 turn, and the partner of 1 is 257; in an ordinary partial rope of
// the same width it is 65.
TEST(Cases, B59_partners_of_the_proportional_rule) {
  const Rope rope = resolved(config_of(512, 1e6, ProportionalScaling{0.25, 1}));
  const RowsOf at_1(rope, {1});
  EXPECT_EQ(reached(rope, at_1, 1), (std::set<int>{1, 257}));
  for (int lane = 0; lane < 512; ++lane) EXPECT_EQ(reached(rope, at_1, lane).size(), lane % 256 < 64 ? 2u : 1u) << lane;
  RopeConfig config = config_of(128, 1e6);
  config.head_dim = 512;
  const Rope partial = resolved(config);
  EXPECT_EQ(reached(partial, RowsOf(partial, {1}), 1), (std::set<int>{1, 65}));
}

// Interleaved axes and interleaved pairs are two switches.
TEST(Cases, B70_interleaved_axes_leave_the_partner_alone) {
  RopeConfig config = config_of(64, 1e7);
  config.axes = {AxisLayout::kInterleaved, {11, 11, 10}};
  const Rope half = resolved(config);
  const RowsOf at_1(half, {1});
  EXPECT_EQ(reached(half, at_1, 0), (std::set<int>{0, 32}));
  config.pairing = Pairing::kInterleaved;
  EXPECT_EQ(reached(resolved(config), at_1, 0), (std::set<int>{0, 1}));
}

// A query at position 5 beside 100 keys: no offset is derived from a length, each tensor has rows of its own.
TEST(Cases, B145_query_position_is_not_the_length_of_the_cache) {
  const Rope rope = resolved(config_of(64, 10000));
  std::vector<std::int64_t> key_positions;
  for (std::int64_t p = 0; p < 100; ++p) key_positions.push_back(p);
  const auto q = random_tensor(5, 1, 4, 64);
  std::vector<float> repeated;
  for (int t = 0; t < 100; ++t) repeated.insert(repeated.end(), q.begin(), q.end());
  const auto at_all = turned(kForward, RowsOf(rope, key_positions).rows(), rope, repeated, 4);
  const auto at_5 = turned(kForward, RowsOf(rope, {5}).rows(), rope, q, 4);
  EXPECT_TRUE(same_bits(at_5, {at_all.begin() + 5 * 256, at_all.begin() + 6 * 256}));
  EXPECT_FALSE(same_bits(at_5, {at_all.begin() + 99 * 256, at_all.end()}));
}

// Keys stored in half precision: each of ten thousand shifts rounds, one does once.
TEST(Cases, B154_shifts_of_keys_in_half_precision) {
  const Rope rope = resolved(config_of(128, 10000));
  const auto x = random_tensor(7, 1, 1, 128);
  const auto stored = [&](std::int64_t position) {
    std::vector<std::uint16_t> k;
    for (const float y : turned(kForward, RowsOf(rope, {position}).rows(), rope, x, 1)) k.push_back(f32_to_f16(y));
    return k;
  };
  const auto shift = [&](std::vector<std::uint16_t> k, std::int64_t delta, int times) {
    const RowsOf rows(rope, {delta}, Use::kShift);
    const Operand operand = Operand::in_place(TensorView::of(k.data(), DType::kF16, 1, 1, 128));
    for (int i = 0; i < times; ++i) EXPECT_TRUE(rotate_shift(rows.rows(), Placement::of(rope), operand).ok());
    return k;
  };
  const auto error = [&](const std::vector<std::uint16_t>& k) {
    const auto want = turned(kForward, RowsOf(rope, {-5000}).rows(), rope, x, 1);
    float largest = 0;
    for (std::size_t i = 0; i < 128; ++i) largest = std::max(largest, std::fabs(f16_to_f32(k[i]) - want[i]));
    return largest;
  };
  const auto keys = stored(5000);
  const float once = error(shift(keys, -10000, 1)), many = error(shift(keys, -1, 10000));
  RecordProperty("once", std::to_string(once));
  RecordProperty("ten_thousand_times", std::to_string(many));
  EXPECT_LT(once, 0x1p-9f);  // two roundings of values below sqrt(2), and one turn of the first
  EXPECT_GT(many, 4 * once);
}

// Rows of a rope of several axes, position (token, axis) at positions[token][axis].
class RowsAt {
 public:
  RowsAt(const Rope& rope, const std::vector<std::array<std::int64_t, 3>>& positions, Use use = Use::kRotate)
      : table_(build_table(rope, Profile::kExact, use).value()), step_(static_cast<std::int64_t>(positions.size())) {
    const auto tokens = static_cast<std::int64_t>(positions.size());
    EXPECT_TRUE(step_.add(table_).ok());
    EXPECT_TRUE(step_.begin({positions.front().data(), PositionType::kInt64, tokens, 3, 3, 1, 3 * tokens}).ok());
  }
  Rows rows() const { return step_.rows(*table_).value(); }

 private:
  TableRef table_;
  Step step_;
};

// A magnitude, divisors, a partial width and three axes at once: keys of an image move along the time axis alone.
TEST(Cases, B155_shift_with_all_that_the_rope_has) {
  RopeConfig config = config_of(64, 10000, yarn(40, 4096));
  config.head_dim = 128;
  config.axes = {AxisLayout::kSectioned, {8, 12, 12}};
  for (int i = 0; i < 32; ++i) config.divisors.push_back(1 + 0.25 * (i % 5));
  const Rope rope = resolved(config);
  EXPECT_EQ(rope.magnitude.to_decimal(8), "1.3688879");
  const auto k = random_tensor(8, 3, 2, 128);
  const auto at = turned(kForward, RowsAt(rope, {{10, 3, 5}, {10, 4, 9}, {700, 700, 700}}).rows(), rope, k, 2);
  const std::int64_t delta = -7;
  const RowsAt deltas(rope, {{delta, 0, 0}, {delta, 0, 0}, {delta, delta, delta}}, Use::kShift);
  const auto moved = turned(rotate_shift, deltas.rows(), rope, at, 2);
  const auto want = turned(kForward, RowsAt(rope, {{3, 3, 5}, {3, 4, 9}, {693, 693, 693}}).rows(), rope, k, 2);
  EXPECT_LT(largest_difference(moved, want), 1e-6f);
  // Rows that hold the magnitude are refused for a shift.
  auto wrong = at;
  const Operand operand = Operand::in_place(TensorView::of(wrong.data(), DType::kF32, 3, 2, 128));
  const RowsAt forward(rope, {{delta, 0, 0}, {delta, 0, 0}, {delta, delta, delta}});
  EXPECT_EQ(rotate_shift(forward.rows(), Placement::of(rope), operand).code(), StatusCode::kMismatch);
  EXPECT_TRUE(same_bits(wrong, at));
}

}  // namespace
}  // namespace ropecache::flow
