// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "ropecache/step.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "ropecache/cache.h"
#include "ropes.h"

namespace ropecache {
namespace {

using testing_ropes::plain;
using testing_ropes::with_axes;

TEST(Step, gathers_each_table_once_per_pass_however_many_layers_ask) {
  RopeCache cache;
  const auto local = cache.get(plain(10000, 64)).value();
  const auto global = cache.get(plain(1e6, 64)).value();
  Step step(16);
  for (int layer = 0; layer < 24; ++layer) ASSERT_TRUE(step.add(layer % 6 == 5 ? global : local).ok());
  std::vector<std::int32_t> positions{5, 6, 7};
  for (int pass = 0; pass < 10; ++pass) {
    ASSERT_TRUE(step.begin(Positions::of(positions.data(), 3)).ok());
    for (int layer = 0; layer < 24; ++layer) {
      const auto rows = step.rows(layer % 6 == 5 ? *global : *local);
      ASSERT_TRUE(rows.ok());
      EXPECT_EQ(rows->tokens, 3);
      EXPECT_EQ(rows->pairs, 32);
      EXPECT_EQ(rows->key, (layer % 6 == 5 ? global : local)->key());
    }
  }
  EXPECT_EQ(step.gathers(), 20u);
}

TEST(Step, rows_are_the_tables) {
  const auto table = build_table(plain(10000, 16)).value();
  Step step(4);
  ASSERT_TRUE(step.add(table).ok());
  const std::int64_t positions[4] = {0, 4095, 1048575, -3};
  ASSERT_TRUE(step.begin(Positions::of(positions, 4)).ok());
  const auto rows = step.rows(*table);
  std::vector<float> cos(32), sin(32);
  ASSERT_TRUE(table->rows(Positions::of(positions, 4), cos.data(), sin.data()).ok());
  EXPECT_EQ(std::memcmp(cos.data(), rows->cos, 128), 0);
  EXPECT_EQ(std::memcmp(sin.data(), rows->sin, 128), 0);
}

// One token at a time and many at once give the same rows.
TEST(Step, B37_prefill_and_decode_agree) {
  const auto table = build_table(plain(500000, 32)).value();
  Step prefill(100), decode(1);
  ASSERT_TRUE(prefill.add(table).ok());
  ASSERT_TRUE(decode.add(table).ok());
  std::vector<std::int32_t> positions;
  for (int i = 0; i < 100; ++i) positions.push_back(8150 + i);
  ASSERT_TRUE(prefill.begin(Positions::of(positions.data(), 100)).ok());
  const Rows all = prefill.rows(*table).value();
  for (std::int64_t t = 0; t < 100; ++t) {
    ASSERT_TRUE(decode.begin(Positions::of(&positions[static_cast<std::size_t>(t)], 1)).ok());
    const Rows one = decode.rows(*table).value();
    EXPECT_EQ(std::memcmp(one.cos, all.cos + t * 16, 64), 0);
    EXPECT_EQ(std::memcmp(one.sin, all.sin + t * 16, 64), 0);
  }
}

// A result never depends on batch mates.
TEST(Step, B46_rows_do_not_depend_on_the_batch) {
  const auto table = build_table(plain(10000, 96)).value();
  Step step(4);
  ASSERT_TRUE(step.add(table).ok());
  const std::int32_t mixed[4] = {0, 5000, 1, 10000};
  ASSERT_TRUE(step.begin(Positions::of(mixed, 4)).ok());
  const std::vector<float> in_batch(step.rows(*table)->cos, step.rows(*table)->cos + 4 * 48);
  for (std::size_t t = 0; t < 4; ++t) {
    ASSERT_TRUE(step.begin(Positions::of(&mixed[t], 1)).ok());
    EXPECT_EQ(std::memcmp(&in_batch[t * 48], step.rows(*table)->cos, 48 * 4), 0);
  }
}

// A device that starts in the middle of the model: no layer is the one that makes the table for others.
TEST(Step, B89_any_layer_may_be_the_first_to_ask) {
  RopeCache cache;
  const auto local = cache.get(plain(10000, 64)).value(), global = cache.get(plain(1e6, 64)).value();
  const std::int64_t positions[2] = {7, 8};
  std::vector<float> cos(64), sin(64);
  ASSERT_TRUE(local->rows(Positions::of(positions, 2), cos.data(), sin.data()).ok());
  for (int first = 0; first < 6; ++first) {
    Step device(2);
    for (int layer = first; layer < 6; ++layer) ASSERT_TRUE(device.add(layer == 5 ? global : local).ok());
    ASSERT_TRUE(device.begin(Positions::of(positions, 2)).ok());
    for (int layer = first; layer < 6; ++layer) {
      const auto rows = device.rows(layer == 5 ? *global : *local);
      ASSERT_TRUE(rows.ok());
      EXPECT_EQ(std::memcmp(rows->cos, cos.data(), 64 * 4) == 0, layer != 5);
    }
  }
}

// What a captured graph would need: nothing is made while layers ask, and another rope is another table.
TEST(Step, B130_rows_must_be_prepared) {
  const auto table = build_table(plain(10000, 16)).value(), other = build_table(plain(1e6, 16)).value();
  Step step(1);
  EXPECT_EQ(step.rows(*table).status().code(), StatusCode::kMismatch);
  ASSERT_TRUE(step.add(table).ok());
  EXPECT_EQ(step.rows(*table).status().code(), StatusCode::kMismatch);
  const std::int64_t position = 3;
  ASSERT_TRUE(step.begin(Positions::of(&position, 1)).ok());
  EXPECT_TRUE(step.rows(*table).ok());
  EXPECT_EQ(step.rows(*other).status().code(), StatusCode::kMismatch);
}

TEST(Step, B131_rows_stay_where_they_are_while_the_table_grows) {
  const auto table = build_table(plain(10000, 16), Profile::kFp32).value();
  Step step(3);
  ASSERT_TRUE(step.add(table).ok());
  const std::int64_t positions[3] = {0, 1000, 70000};
  ASSERT_TRUE(step.begin(Positions::of(positions, 3)).ok());
  const Rows before = step.rows(*table).value();
  const std::vector<float> cos(before.cos, before.cos + 24);
  for (const std::int64_t n : {10, 2000, 3000}) {
    ASSERT_TRUE(table->reserve(n).ok());
    EXPECT_EQ(step.rows(*table)->cos, before.cos);
    EXPECT_EQ(std::memcmp(before.cos, cos.data(), 24 * 4), 0);
  }
}

TEST(Step, refuses_what_it_cannot_answer) {
  const auto table = build_table(plain(10000, 8)).value();
  const auto other = build_table(plain(1e6, 8)).value();
  Step step(2);
  EXPECT_EQ(step.add(nullptr).code(), StatusCode::kInvalidArgument);
  ASSERT_TRUE(step.add(table).ok());
  EXPECT_EQ(step.rows(*table).status().code(), StatusCode::kMismatch);
  const std::int32_t positions[3] = {1, 2, 3};
  EXPECT_EQ(step.begin(Positions::of(positions, 3)).code(), StatusCode::kOutOfRange);
  EXPECT_EQ(step.rows(*table).status().code(), StatusCode::kMismatch);
  ASSERT_TRUE(step.begin(Positions::of(positions, 2)).ok());
  EXPECT_TRUE(step.rows(*table).ok());
  EXPECT_EQ(step.rows(*other).status().code(), StatusCode::kMismatch);
  // A failed pass takes the last one's rows away.
  const std::int64_t outside[1] = {kMaxPosition + 1};
  EXPECT_EQ(step.begin(Positions::of(outside, 1)).code(), StatusCode::kOutOfRange);
  EXPECT_EQ(step.rows(*table).status().code(), StatusCode::kMismatch);
  // More tokens than it was made for: refused before one of them is read.
  EXPECT_EQ(step.begin({positions, PositionType::kInt32, std::int64_t{1} << 60, 1, 0, 0, 1}).code(),
            StatusCode::kOutOfRange);
  Step negative(-1);
  EXPECT_EQ(negative.add(table).code(), StatusCode::kInvalidArgument);
  Step huge(INT64_MAX);
  EXPECT_EQ(huge.add(table).code(), StatusCode::kOutOfMemory);
}

TEST(Step, plain_and_multi_axis_tables_share_a_pass) {
  const auto text = build_table(plain(10000, 8)).value();
  const auto mrope = build_table(with_axes(plain(10000, 8), 3)).value();
  Step step(2);
  ASSERT_TRUE(step.add(text).ok());
  ASSERT_TRUE(step.add(mrope).ok());
  const std::int32_t thw[6] = {1, 2, 10, 20, 100, 200};
  EXPECT_EQ(step.begin(Positions::of(thw, 2)).code(), StatusCode::kInvalidArgument);
  ASSERT_TRUE(step.begin({thw, PositionType::kInt32, 2, 3, 1, 2, 6}).ok());
  EXPECT_EQ(step.rows(*text)->cos[0], step.rows(*mrope)->cos[0]);
  EXPECT_NE(step.rows(*text)->cos[1], step.rows(*mrope)->cos[1]);
}

}  // namespace
}  // namespace ropecache
