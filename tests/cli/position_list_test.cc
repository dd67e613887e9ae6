// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "position_list.h"

#include <gtest/gtest.h>

#include <numeric>

namespace ropecache::cli {
namespace {

using List = std::vector<std::int64_t>;

TEST(PositionList, NumbersAndRanges) {
  EXPECT_EQ(*parse_positions("0"), List({0}));
  EXPECT_EQ(*parse_positions("3,1,2"), List({3, 1, 2}));
  EXPECT_EQ(*parse_positions("4095-4098"), List({4095, 4096, 4097, 4098}));
  EXPECT_EQ(*parse_positions("7-7"), List({7}));
}

TEST(PositionList, Signs) {
  EXPECT_EQ(*parse_positions("-5"), List({-5}));
  EXPECT_EQ(*parse_positions("-2-1"), List({-2, -1, 0, 1}));
  EXPECT_EQ(*parse_positions("-3--1"), List({-3, -2, -1}));
  EXPECT_EQ(*parse_positions("-2147483647,2147483647"), List({-2147483647, 2147483647}));
}

TEST(PositionList, Refusals) {
  for (const char* text : {"", ",", "1,", ",1", "-", "--1", "1-", "a", "1.0", "1e3", " 1", "+1", "2-1", "-1--2", "1-2-3",
                           "2147483648", "-2147483648", "18446744073709551617"}) {
    const auto result = parse_positions(text);
    EXPECT_EQ(result.status().code(), StatusCode::kInvalidArgument) << text;
    EXPECT_NE(result.status().message().find("--positions"), std::string::npos) << text;
  }
}

TEST(PositionList, StopsAtTheLimitWithoutMakingTheList) {
  EXPECT_EQ(parse_positions("0-4095")->size(), kMaxRows);
  EXPECT_FALSE(parse_positions("0-4096").ok());
  EXPECT_FALSE(parse_positions("0-4095,0").ok());
  EXPECT_FALSE(parse_positions("-2147483647-2147483647").ok());
}

}  // namespace
}  // namespace ropecache::cli
