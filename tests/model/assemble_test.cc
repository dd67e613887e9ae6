// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// assemble() groups layers into ropes; plan_memory() counts what they hold.
#include "model/assemble.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "ropecache/table.h"

namespace ropecache::model {
namespace {

RopeConfig config(double theta, int width = 64) {
  RopeConfig out;
  out.head_dim = out.rotary_dim = width;
  out.theta = theta;
  return out;
}

ModelRopes model_of(int layers, int mtp, const std::vector<LayerRope>& ropes, const ReadOptions& options = {}) {
  ModelRopes model;
  model.layers = layers;
  model.mtp = mtp;
  const Status status = assemble(ropes, options, "file", model);
  EXPECT_TRUE(status.ok()) << status.message();
  return model;
}

TEST(Assemble, EqualConfigsBecomeOneRope) {
  const ModelRopes model = model_of(5, 1,
                                    {{Role::kIndexer, 0, "all", config(10000)},
                                     {Role::kAttention, 5, "full", config(1e6)},
                                     {Role::kAttention, 4, "full", config(1e6)},
                                     {Role::kAttention, 1, "full", config(1e6)},
                                     {Role::kAttention, 0, "sliding", config(10000)},
                                     {Role::kVision, 30, "all", config(10000)}});
  ASSERT_EQ(model.ropes.size(), 4u);
  EXPECT_EQ(model.ropes[0].group, "sliding");
  EXPECT_EQ(model.ropes[1].layers, (std::vector<int>{1, 4, 5}));
  EXPECT_EQ(model.ropes[1].mtp_layers, std::vector<int>{5});
  EXPECT_EQ(model.ropes[2].role, Role::kIndexer);
  EXPECT_EQ(model.ropes[3].role, Role::kVision);
  EXPECT_EQ(model.layers_without_rope, (std::vector<int>{2, 3}));
  EXPECT_TRUE(model.ropes[3].mtp_layers.empty());
}

TEST(Assemble, RefusesLayersThatAreNotThere) {
  for (const auto& [layers, layer] : {std::pair{2, 2}, {2, -1}, {kMaxLayers + 1, 0}, {-1, 0}}) {
    ModelRopes model;
    model.layers = layers;
    const Status status = assemble({{Role::kAttention, layer, "all", config(10000)}}, {}, "file", model);
    EXPECT_FALSE(status.ok());
    EXPECT_TRUE(status.message().starts_with("file: "));
  }
  ModelRopes model;
  model.layers = 1;
  EXPECT_TRUE(assemble({{Role::kAttention, 0, "all", config(-1)}}, {}, "file", model)
                  .message()
                  .starts_with("file: attention rope: theta"));
}

// Work is bounded: a file can name a different base for each layer, or a head as wide as it likes.
TEST(Assemble, RefusesMoreRopesThanAnyModelHas) {
  std::vector<LayerRope> layers;
  for (int layer = 0; layer < 1000; ++layer) layers.push_back({Role::kAttention, layer, "all", config(10000 + layer)});
  ModelRopes many;
  many.layers = 1000;
  EXPECT_EQ(assemble(layers, {}, "file", many).message(), "file: more than 128 different ropes");
  ModelRopes wide;
  wide.layers = 2;
  EXPECT_EQ(assemble({{Role::kAttention, 0, "a", config(10000, 65536)}, {Role::kAttention, 1, "b", config(10000, 2)}},
                     {}, "file", wide)
                .message(),
            "file: ropes of 32769 pairs in all, expected at most 32768");
}

RopeConfig longrope(double longer) {
  RopeConfig out = config(10000, 4);
  LongRopeScaling rule;
  rule.short_factor = {1, 1};
  rule.long_factor = {longer, longer};
  rule.original_context = 100;
  rule.max_context = 100;
  out.scaling = rule;
  return out;
}

TEST(Assemble, LongropeHasASecondRegimeIfItDiffers) {
  const ModelRopes two = model_of(1, 0, {{Role::kAttention, 0, "all", longrope(2)}});
  EXPECT_EQ(two.ropes[0].switch_length, 100);
  EXPECT_NE(*two.ropes[0].beyond, two.ropes[0].rope);
  EXPECT_FALSE(model_of(1, 0, {{Role::kAttention, 0, "all", longrope(1)}}).ropes[0].beyond.has_value());
  ReadOptions options;
  options.length = 101;
  const ModelRopes fixed = model_of(1, 0, {{Role::kAttention, 0, "all", longrope(2)}}, options);
  EXPECT_FALSE(fixed.ropes[0].beyond.has_value());
  EXPECT_EQ(fixed.ropes[0].rope, *two.ropes[0].beyond);
}

// Forty layers of 128 elements at 131072 positions: 2.68 GB of tables against one small one.
TEST(PlanMemory, CountsTablesNotLayers) {
  std::vector<LayerRope> layers;
  for (int layer = 0; layer < 40; ++layer) layers.push_back({Role::kAttention, layer, "all", config(10000, 128)});
  const MemoryPlan plan = *plan_memory(model_of(40, 0, layers), 131072);
  EXPECT_EQ(plan.distinct_tables, 1u);
  EXPECT_EQ(plan.per_layer_bytes, std::int64_t{40} * 131072 * 128 * 4);
  const TableRef table = *build_table(*resolve(config(10000, 128)));
  EXPECT_EQ(plan.shared_bytes, static_cast<std::int64_t>(table->bytes()));
}

TEST(PlanMemory, RolesShareTablesAndRegimesAddThem) {
  RopeConfig interleaved = config(10000);
  interleaved.pairing = Pairing::kInterleaved;
  const ModelRopes model = model_of(2, 0,
                                    {{Role::kAttention, 0, "all", config(10000)},
                                     {Role::kIndexer, 0, "all", interleaved},
                                     {Role::kAttention, 1, "long", longrope(2)}});
  const MemoryPlan plan = *plan_memory(model, 1000);
  EXPECT_EQ(plan.distinct_tables, 3u);  // one for both roles, two for both regimes
  EXPECT_EQ(plan.per_layer_bytes, 1000 * (64 + 4) * 4);
}

TEST(PlanMemory, HugeContexts) {
  const ModelRopes model = model_of(1, 0, {{Role::kAttention, 0, "all", config(10000)}});
  EXPECT_EQ(plan_memory(model, 0)->per_layer_bytes, 0);
  EXPECT_FALSE(plan_memory(model, -1).ok());
  EXPECT_EQ(plan_memory(model, std::numeric_limits<std::int64_t>::max())->per_layer_bytes,
            std::numeric_limits<std::int64_t>::max());
}

}  // namespace
}  // namespace ropecache::model
