// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Linked into a test program, it runs all its tests on the target that ROPECACHE_TARGET names.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "ropecache/target.h"

namespace ropecache::test {
namespace {

std::string_view asked_for() {
  const char* name = std::getenv("ROPECACHE_TARGET");
  return name == nullptr ? "" : name;
}
bool is_here() { return std::ranges::count(targets(), asked_for()) == 1; }

class TargetEnvironment final : public testing::Environment {
 public:
  void SetUp() override {
    if (asked_for().empty()) return;
    if (!is_here()) GTEST_SKIP() << "no target " << asked_for() << " here";
    ASSERT_TRUE(use_target(asked_for()).ok());
  }
  // A test may choose another target, but must not leave it so.
  void TearDown() override {
    if (is_here()) {
      EXPECT_EQ(active_target(), asked_for());
    }
  }
};

const testing::Environment* const kEnvironment = testing::AddGlobalTestEnvironment(new TargetEnvironment);

}  // namespace
}  // namespace ropecache::test
