// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// A step and its rotations allocate nothing, take no lock, start no thread and print nothing.
#include <gtest/gtest.h>

#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

#include "allocations.h"
#include "locks.h"
#include "ropecache/cache.h"
#include "ropecache/kv.h"
#include "ropecache/norm.h"
#include "ropecache/quantized.h"
#include "ropecache/rotate.h"
#include "ropecache/target.h"

namespace ropecache {
namespace {

TEST(HotPath, TheCountersCount) {
  if (!interruptions_are_counted()) GTEST_SKIP() << "a sanitizer stands in the way";
  const Interruptions before = interruptions();
  std::mutex mutex;
  std::thread([&mutex] { const std::lock_guard lock(mutex); }).join();
  const char* volatile nothing = "";
  std::fputs(nothing, stdout);
  EXPECT_GT(interruptions().locks, before.locks);
  EXPECT_GT(interruptions().threads, before.threads);
  EXPECT_GT(interruptions().writes, before.writes);
}

// All that a model does in a forward and backward pass, after one pass of warming up.
TEST(HotPath, AllocatesLocksStartsAndPrintsNothing) {
  constexpr int kLayers = 3;
  constexpr std::int64_t kTokens = 5;
  RopeCache cache;
  const Rope plain = *resolve({.head_dim = 64, .rotary_dim = 64, .theta = 10000});
  const Rope scaled = *resolve({.head_dim = 64, .rotary_dim = 64, .theta = 500000, .scaling = Llama3Scaling{}});
  const TableRef tables[] = {*cache.get(plain), *cache.get(scaled), *cache.get(scaled, Profile::kFp32)};
  const TableRef inverse = *cache.get(plain, Profile::kExact, Use::kInverse);
  Step step(kTokens);
  for (const TableRef& table : tables) ASSERT_TRUE(step.add(table).ok());
  ASSERT_TRUE(step.add(inverse).ok());
  std::vector<float> q(kTokens * 4 * 64, 1.0f), k(kTokens * 2 * 64, 1.0f), out(q.size());

  const std::int32_t slots[kTokens] = {3, 0, -1, 1, 4};
  std::vector<std::byte> blocks(kTokens * 136);
  std::vector<float> cache_k(k.size()), cache_v(k.size());
  const auto cache_of = [&](DType dtype) {
    const DType narrow = dtype == DType::kF32 ? DType::kF16 : dtype;
    return KvCache{TensorView::of(cache_k.data(), narrow, kTokens, 2, 64),
                   TensorView::of(cache_v.data(), narrow, kTokens, 2, 64)};
  };

  const auto pass = [&](std::int64_t first) {
    std::int64_t positions[kTokens];
    for (std::int64_t t = 0; t < kTokens; ++t) positions[t] = first + t;
    bool ok = step.begin(Positions::of(positions, kTokens)).ok();
    for (int layer = 0; layer < kLayers; ++layer) {
      for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
        const Operand in_place = Operand::in_place(TensorView::of(q.data(), dtype, kTokens, 4, 64));
        const Operand keys = Operand::in_place(TensorView::of(k.data(), dtype, kTokens, 2, 64));
        Operand copied = in_place;
        copied.out.data = out.data();
        for (const TableRef& table : tables) {
          const auto rows = step.rows(*table);
          const Placement placement = Placement::of(plain);
          ok = ok && rows.ok() && rotate(*rows, placement, in_place, keys).ok() &&
               rotate(*rows, placement, copied).ok() && rotate_backward(*rows, placement, copied).ok() &&
               rotate_shift(*rows, placement, copied).ok();
          ok = ok && norm_rotate(*rows, placement, in_place, {}, keys, {}).ok() && rms_norm(copied, {}).ok() &&
               rotate_into_cache(*rows, placement, keys.in, keys.in, SlotMap::of(slots, kTokens), cache_of(dtype)).ok() &&
               rotate_shift(*rows, placement, {blocks.data(), BlockType::kQ8_0, kTokens, 2, 64, 136, 68}).ok();
          for (int part = 0; part < 3; ++part) ok = ok && rotate(*rows, placement, in_place, keys, {part, 3}).ok();
        }
        ok = ok && rotate_inverse(*step.rows(*inverse), Placement::of(plain), copied).ok();
      }
    }
    return ok;
  };

  for (const std::string_view target : targets()) {
    ASSERT_TRUE(use_target(target).ok());
    ASSERT_TRUE(pass(0));
    const long allocated = allocations();
    const Interruptions before = interruptions();
    const bool ok = pass(70000) && pass(-5) && pass(2000000000);
    const Interruptions after = interruptions();
    EXPECT_EQ(allocations(), allocated) << target;
    EXPECT_EQ(after.locks, before.locks) << target;
    EXPECT_EQ(after.threads, before.threads) << target;
    EXPECT_EQ(after.writes, before.writes) << target;
    EXPECT_TRUE(ok);
  }
  ASSERT_TRUE(use_target(targets().back()).ok());
}

}  // namespace
}  // namespace ropecache
