// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Failures that people met in other projects, followed from config to rows: lengths, growth, which position meant what.
// The names carry the numbers of docs/cases.md, which links the reports.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "ropecache/cache.h"
#include "ropecache/rotate.h"

namespace ropecache {
namespace {

Rope resolved(int dim, double theta, const Scaling& scaling = {}, ResolveOptions options = {}) {
  const auto rope = resolve({.head_dim = dim, .rotary_dim = dim, .theta = theta, .scaling = scaling}, options);
  EXPECT_TRUE(rope.ok()) << rope.status().message();
  return *rope;
}

YarnScaling yarn(double factor, std::int64_t original_context) {
  YarnScaling rule;
  rule.factor = factor;
  rule.original_context = original_context;
  return rule;
}

using Ids = std::vector<std::int64_t>;

// cos and sin of some positions as one string of bytes per token.
std::vector<std::string> bytes_of(const Table& table, const Ids& ids) {
  const auto pairs = static_cast<std::size_t>(table.pairs());
  std::vector<float> cos(ids.size() * pairs), sin(ids.size() * pairs);
  const auto tokens = static_cast<std::int64_t>(ids.size());
  const Status status =
      table.rows({ids.data(), PositionType::kInt64, tokens, table.axis_count(), 1, 0, tokens}, cos.data(), sin.data());
  EXPECT_TRUE(status.ok()) << status.message();
  std::vector<std::string> out;
  for (std::size_t t = 0; t < ids.size(); ++t) {
    std::string row(2 * pairs * sizeof(float), '\0');
    std::memcpy(row.data(), &cos[t * pairs], pairs * sizeof(float));
    std::memcpy(row.data() + pairs * sizeof(float), &sin[t * pairs], pairs * sizeof(float));
    out.push_back(row);
  }
  return out;
}

Ids range(std::int64_t first, std::int64_t end) {
  Ids ids;
  for (std::int64_t p = first; p < end; ++p) ids.push_back(p);
  return ids;
}

// Rows taken out of another list of rows.
std::vector<std::string> at(const std::vector<std::string>& rows, const std::vector<std::size_t>& indices) {
  std::vector<std::string> out;
  for (const std::size_t i : indices) out.push_back(rows[i]);
  return out;
}

std::vector<Scaling> every_rule() {
  LongRopeScaling longrope;
  longrope.short_factor = longrope.long_factor = std::vector<double>(16, 1.5);
  longrope.original_context = 4096;
  longrope.factor = 4;
  return {std::monostate(),          LinearScaling{4},
          DynamicNtkScaling{4, 64},  NtkAlphaScaling{1000},
          NtkScaling{4, {}},         NtkScaling{4, 0.5},
          yarn(4, 64),               yarn(1, 4096),
          Llama3Scaling(),           longrope,
          ProportionalScaling{0.5, 1}};
}

// DeepSeek-V3 at 4096, 4097 and 163840 stored positions: one key, one set of numbers.
TEST(TableCases, B19_capacity_enters_no_value) {
  const Rope rope = resolved(64, 10000, yarn(40, 4096));
  const Ids ids = {0, 1, 4095, 4096, 5000};
  for (const Profile profile : {Profile::kExact, Profile::kFp32}) {
    const auto want = bytes_of(**build_table(rope, profile), ids);
    for (const std::int64_t capacity : {4096, 4097}) {
      const auto table = build_table(rope, profile);
      ASSERT_TRUE((*table)->reserve(capacity).ok());
      EXPECT_EQ(bytes_of(**table, ids), want);
      EXPECT_EQ((*table)->key(), *table_key(rope, profile));
    }
  }
  ASSERT_TRUE((*build_table(rope))->reserve(163840).ok());
}

// OLMo 3: no two neighbours share their angles between the original length and eight times of it.
TEST(TableCases, B25_positions_are_never_clamped) {
  const auto table = build_table(resolved(128, 5e5, yarn(8, 8192))).value();
  std::string last = bytes_of(*table, {8190}).front();
  for (std::int64_t first = 8191; first <= 8 * 8192; first += 1024) {
    for (const std::string& row : bytes_of(*table, range(first, first + 1024))) {
      EXPECT_NE(row, last);
      last = row;
    }
  }
}

// The advertised context is factor times the trained one; every profile answers all of it.
TEST(TableCases, B52_ntk_answers_the_scaled_context) {
  for (const Scaling& scaling : {Scaling(NtkScaling{4, {}}), Scaling(DynamicNtkScaling{4, 4096})}) {
    const Rope rope = resolved(32, 10000, scaling, {4 * 4096});
    for (const Profile profile : {Profile::kExact, Profile::kFp32, Profile::kGgml}) {
      const auto table = build_table(rope, profile).value();
      ASSERT_TRUE(table->reserve(4096).ok());
      std::vector<float> cos(4 * 16), sin(4 * 16);
      const Ids ids = {4095, 4096, 16383, 16384};
      ASSERT_TRUE(table->rows(Positions::of(ids.data(), 4), cos.data(), sin.data()).ok());
      for (std::size_t i = 0; i < cos.size(); ++i) EXPECT_NEAR(std::hypot(cos[i], sin[i]), 1, 1e-6);
    }
  }
}

// What is stored now, and how it grew, changes no row, under any rule; a short table is the beginning of a long one.
TEST(TableCases, B98_B158_growing_equals_building_under_every_rule) {
  const Ids ids = range(0, 132);  // n - 1, n, n + 1 of every size below among them
  for (const Scaling& scaling : every_rule()) {
    const Rope rope = resolved(32, 10000, scaling, {200});
    for (const Profile profile : {Profile::kFp32, Profile::kGgml}) {
      if (profile == Profile::kGgml && !rope.ggml) continue;
      const auto bare = build_table(rope, profile).value(), grown = build_table(rope, profile).value();
      const auto large = build_table(rope, profile).value();
      const auto want = bytes_of(*bare, ids);
      ASSERT_TRUE(large->reserve(256).ok());
      EXPECT_EQ(bytes_of(*large, ids), want) << scaling_name(scaling);
      for (const std::int64_t n : {32, 64, 128}) {
        ASSERT_TRUE(grown->reserve(n).ok());
        EXPECT_EQ(bytes_of(*grown, ids), want) << scaling_name(scaling) << " grown to " << n;
      }
    }
  }
}

// A position behind the stored rows gets its own numbers: 4096 of 4096, 2560 of 2560, 2048 of a default of 2048.
TEST(TableCases, B100_B101_B103_positions_behind_the_stored_rows) {
  const Rope rope = resolved(32, 1e6);
  const auto bare = build_table(rope, Profile::kFp32).value();
  for (const std::int64_t rows : {2048, 2560, 4096}) {
    const auto table = build_table(rope, Profile::kFp32).value();
    ASSERT_TRUE(table->reserve(rows).ok());
    const Ids ids = {rows - 1, rows, rows + 1, 40959, 262143};
    EXPECT_EQ(bytes_of(*table, ids), bytes_of(*bare, ids));
  }
}

// A model in bf16 at position 15962, which bf16 rounds to 15936: positions are integers, the type of x rounds x alone.
TEST(TableCases, B109_type_of_the_model_does_not_round_the_position) {
  EXPECT_EQ(bf16_to_f32(f32_to_bf16(15962.0f)), 15936.0f);
  const Rope rope = resolved(128, 10000);
  const auto table = build_table(rope).value();
  Step step(2);
  ASSERT_TRUE(step.add(table).ok());
  const Ids ids = {15962, 15936};
  ASSERT_TRUE(step.begin(Positions::of(ids.data(), 2)).ok());
  const Rows rows = step.rows(*table).value();
  EXPECT_NEAR(rows.cos[0], -0.908016, 1e-6);
  EXPECT_NEAR(rows.cos[64], -0.267950, 1e-6);
  std::vector<std::uint16_t> x(2 * 128, 0);
  x[0] = x[128] = f32_to_bf16(1.0f);
  const Operand operand = Operand::in_place(TensorView::of(x.data(), DType::kBF16, 2, 1, 128));
  ASSERT_TRUE(rotate(rows, Placement::of(rope), operand).ok());
  EXPECT_EQ(x[0], f32_to_bf16(-0.908016f));
  EXPECT_EQ(x[128], f32_to_bf16(-0.267950f));
}

// 5733 tokens of a prompt with images end at position 144: decoding goes on at 145 on all three axes, not at 0 or 5733.
TEST(TableCases, B67_decoding_goes_on_behind_the_largest_position) {
  RopeConfig config{.head_dim = 128, .rotary_dim = 128, .theta = 1e6};
  config.axes = {AxisLayout::kSectioned, {16, 24, 24}};
  const auto table = build_table(resolve(config).value()).value();
  const std::int64_t delta = 144 + 1 - 5733;
  EXPECT_EQ(delta, -5588);
  const Ids ids = {5733 + delta, 5734 + delta, 5735 + delta};
  const Ids thw = {145, 145, 145, 146, 146, 146, 147, 147, 147};
  std::vector<float> cos(3 * 64), sin(3 * 64);
  ASSERT_TRUE(table->rows({thw.data(), PositionType::kInt64, 3, 3, 3, 1, 9}, cos.data(), sin.data()).ok());
  const auto want = bytes_of(*table, ids);
  for (std::size_t t = 0; t < 3; ++t) {
    EXPECT_EQ(std::memcmp(want[t].data(), &cos[t * 64], 256), 0);
    EXPECT_EQ(std::memcmp(want[t].data() + 256, &sin[t * 64], 256), 0);
  }
  EXPECT_NE(want, bytes_of(*table, {0, 5734, 5735}));
}

// At t 7, h 3, w 5 the two layouts of axes differ in 43 pairs of 64, or 22 of 32; in text, all ids equal, in none.
TEST(TableCases, B68_an_image_tells_the_layouts_apart) {
  for (const auto& [sections, expected] : {std::pair{std::vector<int>{24, 20, 20}, 43}, {{11, 11, 10}, 22}}) {
    const std::size_t pairs = sections == std::vector<int>{24, 20, 20} ? 64 : 32;
    RopeConfig config{.head_dim = static_cast<int>(2 * pairs), .rotary_dim = static_cast<int>(2 * pairs), .theta = 5e6};
    const Ids thw = {7, 3, 5, 7, 7, 7};  // a token of an image, one of text
    std::vector<std::vector<float>> sines;
    for (const AxisLayout layout : {AxisLayout::kSectioned, AxisLayout::kInterleaved}) {
      config.axes = {layout, sections};
      std::vector<float> cos(2 * pairs), sin(2 * pairs);
      const auto table = build_table(resolve(config).value()).value();
      ASSERT_TRUE(table->rows({thw.data(), PositionType::kInt64, 2, 3, 3, 1, 6}, cos.data(), sin.data()).ok());
      sines.push_back(sin);
    }
    int different = 0;
    for (std::size_t i = 0; i < pairs; ++i) {
      different += sines[0][i] != sines[1][i];
      EXPECT_EQ(sines[0][pairs + i], sines[1][pairs + i]);
    }
    EXPECT_EQ(different, expected);
  }
}

// Zig-zag halves of packed sequences over two ranks: a rank's rows are those of its tokens' own positions.
TEST(TableCases, B119_packed_sequences_under_context_parallelism) {
  const auto table = build_table(resolved(64, 10000)).value();
  const auto two_of_4 = bytes_of(*table, {0, 1, 2, 3, 0, 1, 2, 3});
  EXPECT_EQ(at(two_of_4, {0, 3, 4, 7}), bytes_of(*table, {0, 3, 0, 3}));
  EXPECT_EQ(at(two_of_4, {1, 2, 5, 6}), bytes_of(*table, {1, 2, 1, 2}));
  const auto two_of_8 = bytes_of(*table, {0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(at(two_of_8, {0, 1, 6, 7, 8, 9, 14, 15}), bytes_of(*table, {0, 1, 6, 7, 0, 1, 6, 7}));
}

// Two pipeline stages with caches of their own and two ranks each: all rows are slices of one reference.
TEST(TableCases, B121_stages_of_a_pipeline_hold_the_same_numbers) {
  const auto reference = bytes_of(**build_table(resolved(64, 10000)), range(0, 16));
  for (int stage = 0; stage < 2; ++stage) {
    RopeCache cache;
    const auto table = cache.get(resolved(64, 10000)).value();
    for (std::size_t rank = 0; rank < 2; ++rank) {
      const auto first = static_cast<std::ptrdiff_t>(8 * rank);
      EXPECT_EQ(bytes_of(*table, range(first, first + 8)),
                std::vector<std::string>(reference.begin() + first, reference.begin() + first + 8));
    }
    EXPECT_EQ(cache.counters().builds, 1u);
  }
}

// Ids moved on by one end at a new position; a table that is rolled ends at row 0.
TEST(TableCases, B128_ids_are_rolled_not_rows) {
  const auto table = build_table(resolved(64, 10000)).value();
  const auto rows = bytes_of(*table, range(0, 8)), next = bytes_of(*table, range(1, 9));
  for (std::size_t i = 0; i + 1 < 8; ++i) EXPECT_EQ(next[i], rows[i + 1]);
  EXPECT_NE(next.back(), rows.front());
}

}  // namespace
}  // namespace ropecache
