// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "ropecache/target.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace ropecache {
namespace {

TEST(Target, TheActiveOneIsCompiledIn) {
  EXPECT_EQ(std::ranges::count(targets(), "scalar"), 1);
  EXPECT_EQ(std::ranges::count(targets(), active_target()), 1);
}

}  // namespace
}  // namespace ropecache
