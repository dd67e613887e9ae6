// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "allocations.h"
#include "ropecache/cache.h"
#include "ropecache/step.h"
#include "ropes.h"

namespace ropecache {
namespace {

using testing_ropes::plain;

TEST(Step, allocates_nothing_after_warm_up) {
  RopeCache cache;
  std::vector<TableRef> tables = {cache.get(plain(10000, 128)).value(), cache.get(plain(1e11, 128)).value(),
                                  cache.get(plain(1e6, 128, 1.3), Profile::kFp32).value(),
                                  cache.get(plain(1e6, 128, 1.3), Profile::kGgml).value()};
  Step step(64);
  for (const auto& table : tables) ASSERT_TRUE(step.add(table).ok());
  std::vector<std::int64_t> positions(64);
  const auto pass = [&](std::int64_t first) {
    for (std::size_t i = 0; i < 64; ++i) positions[i] = first + static_cast<std::int64_t>(i);
    if (!step.begin(Positions::of(positions.data(), 64)).ok()) return false;
    for (const auto& table : tables) {
      if (!step.rows(*table).ok()) return false;
    }
    return true;
  };
  ASSERT_TRUE(pass(0));
  const long before = allocations();
  bool ok = true;
  for (std::int64_t first : {0, 1000, 5000000, 2000000000, -70}) ok = pass(first) && ok;
  EXPECT_EQ(allocations(), before);
  EXPECT_TRUE(ok);
}

}  // namespace
}  // namespace ropecache
