// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "ropecache/cache.h"

#include <gtest/gtest.h>

#include <latch>
#include <set>
#include <thread>
#include <vector>

#include "ropes.h"

namespace ropecache {
namespace {

using testing_ropes::plain;

TEST(RopeCache, sixteen_threads_and_eight_ropes_are_eight_builds) {
  RopeCache cache;
  std::vector<Rope> ropes;
  for (int i = 0; i < 8; ++i) ropes.push_back(plain(10000 + i, 16));
  std::latch start(16);
  std::vector<std::vector<TableRef>> got(16);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 16; ++t) {
    threads.emplace_back([&, t] {
      start.arrive_and_wait();
      for (std::size_t i = 0; i < 8; ++i) got[t].push_back(cache.get(ropes[(i + t) % 8]).value());
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(cache.counters().builds, 8u);
  EXPECT_EQ(cache.counters().hits, 16u * 8u - 8u);
  EXPECT_EQ(cache.counters().tables, 8u);
  std::set<const Table*> tables;
  for (const auto& list : got) {
    for (const auto& table : list) tables.insert(table.get());
  }
  EXPECT_EQ(tables.size(), 8u);
}

TEST(RopeCache, threads_that_come_and_go_never_meet_a_dead_table) {
  RopeCache cache;
  const Rope rope = plain(10000, 8);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 40; ++i) {
        const auto table = cache.get(rope);
        ASSERT_TRUE(table.ok());
        const std::int64_t p = i;
        float cos[4], sin[4];
        ASSERT_TRUE((*table)->rows(Positions::of(&p, 1), cos, sin).ok());
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(cache.counters().builds + cache.counters().hits, 320u);
  EXPECT_EQ(cache.counters().tables, 0u);
  EXPECT_EQ(cache.counters().bytes, 0u);
}

TEST(RopeCache, B157_forty_equal_layers_are_one_build_and_one_storage) {
  RopeCache cache;
  std::vector<TableRef> layers;
  for (int i = 0; i < 40; ++i) layers.push_back(cache.get(plain(1e6, 128)).value());  // a copied rope each time
  for (const auto& layer : layers) EXPECT_EQ(layer.get(), layers[0].get());
  const auto counters = cache.counters();
  EXPECT_EQ(counters.builds, 1u);
  EXPECT_EQ(counters.hits, 39u);
  EXPECT_EQ(counters.bytes, layers[0]->bytes());
}

TEST(RopeCache, B92_two_alternating_ropes_are_two_builds_and_leave_nothing) {
  RopeCache cache;
  {
    const auto a = cache.get(plain(10000, 64)).value();
    const auto b = cache.get(plain(1e6, 64)).value();
    for (int i = 0; i < 60; ++i) (void)cache.get(plain(i % 2 == 0 ? 10000 : 1e6, 64)).ok();
    EXPECT_EQ(cache.counters().builds, 2u);
    EXPECT_EQ(cache.counters().hits, 60u);
  }
  EXPECT_EQ(cache.counters().tables, 0u);
  EXPECT_EQ(cache.counters().bytes, 0u);
}

TEST(RopeCache, B91_identical_calls_hit) {
  RopeCache cache;
  const auto keep = cache.get(plain(10000, 8)).value();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(cache.get(plain(10000, 8)).value().get(), keep.get());
  EXPECT_EQ(cache.counters().builds, 1u);
  EXPECT_EQ(cache.counters().hits, 100u);
}

TEST(RopeCache, B131_a_reference_outlives_the_cache) {
  TableRef table;
  {
    RopeCache cache;
    table = cache.get(plain(10000, 8)).value();
  }
  const std::int64_t p = 3;
  float cos[4], sin[4];
  EXPECT_TRUE(table->rows(Positions::of(&p, 1), cos, sin).ok());
}

TEST(RopeCache, two_models_share_only_by_choice) {
  const auto store = std::make_shared<TableStore>();
  RopeCache first(store), second(store), apart;
  const auto a = first.get(plain(10000, 8)).value();
  const auto b = second.get(plain(10000, 8)).value();
  const auto c = apart.get(plain(10000, 8)).value();
  EXPECT_EQ(a.get(), b.get());
  EXPECT_NE(a.get(), c.get());
  EXPECT_EQ(first.counters().builds, 1u);
  EXPECT_EQ(second.counters().builds, 0u);
  EXPECT_EQ(second.counters().hits, 1u);
  EXPECT_EQ(store->counters().builds, 1u);
}

TEST(RopeCache, failures_are_reported_and_not_remembered) {
  RopeCache cache;
  EXPECT_EQ(cache.get(Rope{}).status().code(), StatusCode::kInvalidArgument);
  Rope rope = plain(10000, 8);
  rope.ggml.reset();
  EXPECT_EQ(cache.get(rope, Profile::kGgml).status().code(), StatusCode::kUnsupported);
  EXPECT_EQ(cache.counters().builds, 0u);
  EXPECT_TRUE(cache.get(rope).ok());
}

TEST(RopeCache, profiles_and_uses_are_tables_of_their_own) {
  RopeCache cache;
  const Rope rope = plain(10000, 8, 1.5);
  const auto exact = cache.get(rope).value();
  const auto fp32 = cache.get(rope, Profile::kFp32).value();
  const auto inverse = cache.get(rope, Profile::kExact, Use::kInverse).value();
  const auto shift = cache.get(rope, Profile::kExact, Use::kShift).value();
  EXPECT_EQ(cache.counters().builds, 4u);
  EXPECT_TRUE(exact->serves(Use::kRotate));
  EXPECT_FALSE(exact->serves(Use::kShift));
  EXPECT_TRUE(inverse->serves(Use::kInverse));
  EXPECT_FALSE(inverse->serves(Use::kRotate));
  EXPECT_TRUE(shift->serves(Use::kShift));
  const std::int64_t zero = 0;
  float cos[4], sin[4];
  ASSERT_TRUE(inverse->rows(Positions::of(&zero, 1), cos, sin).ok());
  EXPECT_EQ(cos[0], 1.0f / 1.5f);
  ASSERT_TRUE(shift->rows(Positions::of(&zero, 1), cos, sin).ok());
  EXPECT_EQ(cos[0], 1.0f);
}

}  // namespace
}  // namespace ropecache
