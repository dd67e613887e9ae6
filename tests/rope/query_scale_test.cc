// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "rope/configs.h"

namespace ropecache {
namespace {

TEST(QueryScale, none_is_one) {
  EXPECT_EQ(query_scale_at({}, 0), 1);
  EXPECT_EQ(query_scale_at({QueryScale::Rule::kNone, 0.1, 8192}, 100000), 1);
}

// Ministral 3: beta 0.1, original context 16384.
TEST(QueryScale, log_floor) {
  const QueryScale scale{QueryScale::Rule::kLogFloor, 0.1, 16384};
  EXPECT_EQ(query_scale_at(scale, 0), 1);
  EXPECT_EQ(query_scale_at(scale, 16383), 1);
  EXPECT_DOUBLE_EQ(query_scale_at(scale, 16384), 1 + 0.1 * std::log(2));
  EXPECT_DOUBLE_EQ(query_scale_at(scale, 32767), 1 + 0.1 * std::log(2));
  EXPECT_DOUBLE_EQ(query_scale_at(scale, 262143), 1 + 0.1 * std::log(16));
}

// Llama 4: attn_scale 0.1, floor_scale 8192; the position counts from one.
TEST(QueryScale, log_floor_plus_one) {
  const QueryScale scale{QueryScale::Rule::kLogFloorPlusOne, 0.1, 8192};
  EXPECT_EQ(query_scale_at(scale, 8190), 1);
  EXPECT_DOUBLE_EQ(query_scale_at(scale, 8191), 1 + 0.1 * std::log(2));
}

TEST(QueryScale, steps_are_where_they_belong_up_to_the_last_position) {
  const QueryScale scale{QueryScale::Rule::kLogFloor, 1, 8191};
  for (const std::int64_t steps : {1, 2, 3, 1000, 262000}) {
    EXPECT_DOUBLE_EQ(query_scale_at(scale, steps * 8191), 1 + std::log(1.0 + static_cast<double>(steps)));
    EXPECT_DOUBLE_EQ(query_scale_at(scale, steps * 8191 - 1), 1 + std::log(static_cast<double>(steps)));
  }
}

TEST(QueryScale, negative_positions_count_as_zero) {
  EXPECT_EQ(query_scale_at({QueryScale::Rule::kLogFloor, 0.1, 8192}, -1), 1);
  EXPECT_EQ(query_scale_at({QueryScale::Rule::kLogFloorPlusOne, 0.1, 8192}, -2147483647), 1);
}

TEST(QueryScale, is_handed_on_beside_the_rope) {
  RopeConfig config = plain(128, 1e6);
  config.query_scale = {QueryScale::Rule::kLogFloor, 0.1, 16384};
  const Rope rope = resolved(config);
  EXPECT_EQ(rope.query_scale, config.query_scale);
  EXPECT_EQ(rope.frequencies, resolved(plain(128, 1e6)).frequencies);
  EXPECT_EQ(rope.magnitude, Real::one());
}

}  // namespace
}  // namespace ropecache
