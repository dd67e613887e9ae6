// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// The whole way on real models: file to ropes to tables to rows, against golden tables, and counted.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "flow/compare.h"
#include "flow/random_ropes.h"
#include "ropecache/cache.h"
#include "ropecache/model.h"

namespace ropecache::flow {
namespace {

using Json = nlohmann::json;

ModelRopes model_of(const std::string& name, std::optional<std::int64_t> length = {}) {
  auto model = read_model(TEST_DATA "/models/" + name + ".json", {.length = length, .context = {}});
  EXPECT_TRUE(model.ok()) << model.status().message();
  return std::move(*model);
}

const ModelRope& rope_of(const ModelRopes& model, int layer) {
  for (const ModelRope& rope : model.ropes) {
    if (rope.role != Role::kAttention) continue;
    for (int one : rope.layers) {
      if (one == layer) return rope;
    }
  }
  ADD_FAILURE() << "layer " << layer << " has no rope";
  return model.ropes.front();
}

// golden-tables.json: every model, every row, every bit.
TEST(ModelFlow, golden_rows_to_the_last_bit) {
  std::ifstream file(TEST_DATA "/golden-tables.json");
  const Json golden = Json::parse(file);
  std::map<std::string, Json> tables;
  for (const Json& table : golden["tables"]) tables[table["id"]] = table;
  std::set<std::string> seen;
  std::size_t compared = 0;
  for (const Json& entry : golden["models"]) {
    const std::string name = entry["model"];
    for (const Json& group : entry["groups"]) {
      const bool long_regime = std::string(group["id"]).ends_with(":long");
      const ModelRopes model = model_of(name, long_regime ? std::optional<std::int64_t>(131072) : std::nullopt);
      const Rope& rope = rope_of(model, std::stoi(std::string(group["layers"]))).rope;
      const Json& table = tables.at(group["table"]);
      seen.insert(group["table"]);
      const auto built = build_table(rope).value();
      ASSERT_EQ(table["frequency"].size(), static_cast<std::size_t>(rope.pairs())) << name;
      for (const Json& row : table["rows"]) {
        const auto position = row["position"].get<std::int64_t>();
        std::vector<float> cos(static_cast<std::size_t>(rope.pairs())), sin(cos.size());
        const Positions view{&position, PositionType::kInt64, 1, built->axis_count(), 1, 0, 1};
        ASSERT_TRUE(built->rows(view, cos.data(), sin.data()).ok());
        for (std::size_t i = 0; i < cos.size(); ++i, compared += 2) {
          ASSERT_EQ(std::bit_cast<std::uint32_t>(cos[i]), std::stoul(std::string(row["cos"][i]), nullptr, 16))
              << name << " position " << position << " pair " << i;
          ASSERT_EQ(std::bit_cast<std::uint32_t>(sin[i]), std::stoul(std::string(row["sin"][i]), nullptr, 16))
              << name << " position " << position << " pair " << i;
        }
      }
    }
  }
  EXPECT_EQ(seen.size(), golden["tables"].size());
  EXPECT_GT(compared, 100000u);
}

// DeepSeek-V3: 61 layers and one for multi-token prediction, all of one rope.
TEST(ModelFlow, sixty_one_layers_with_mtp_are_one_build) {
  const ModelRopes model = model_of("deepseek-v3");
  ASSERT_EQ(model.layers, 61);
  ASSERT_EQ(model.mtp, 1);
  const auto store = std::make_shared<TableStore>();
  {
    RopeCache cache(store);
    std::vector<TableRef> layers;
    std::set<std::string> keys;
    for (int layer = 0; layer < model.layers + model.mtp; ++layer) {
      layers.push_back(cache.get(rope_of(model, layer).rope).value());
      keys.insert(layers.back()->key().hex());
    }
    EXPECT_EQ(keys.size(), 1u);
    const CacheCounters counters = cache.counters();
    EXPECT_EQ(counters.builds, 1u);
    EXPECT_EQ(counters.hits, 61u);
    EXPECT_EQ(counters.tables, 1u);
    EXPECT_EQ(counters.bytes, layers[0]->bytes());
    EXPECT_EQ(static_cast<std::int64_t>(counters.bytes), plan_memory(model, 163840).value().shared_bytes);
    EXPECT_EQ(plan_memory(model, 163840).value().per_layer_bytes, std::int64_t{62} * 163840 * 64 * 4);
    // The MTP layer turns as the last decoder layer does, bit for bit (B124).
    Step step(2);
    for (const TableRef& table : layers) ASSERT_TRUE(step.add(table).ok());
    const std::int64_t positions[2] = {4095, 4096};
    ASSERT_TRUE(step.begin(Positions::of(positions, 2)).ok());
    EXPECT_EQ(step.gathers(), 1u);
    EXPECT_EQ(step.rows(*layers[60])->cos, step.rows(*layers[61])->cos);
  }
  EXPECT_EQ(store->counters().tables, 0u);  // the leak checker of the sanitizer builds says the same
  EXPECT_EQ(store->counters().bytes, 0u);
}

// Gemma 3: two ropes in one pass; each layer of the model turns by its own.
TEST(ModelFlow, two_ropes_are_two_builds_and_two_gathers) {
  const ModelRopes model = model_of("gemma-3-4b");
  RopeCache cache;
  std::vector<TableRef> layers;
  for (int layer = 0; layer < model.layers; ++layer) layers.push_back(cache.get(rope_of(model, layer).rope).value());
  EXPECT_EQ(cache.counters().builds, 2u);
  EXPECT_EQ(cache.counters().hits, 32u);
  Step step(1);
  for (const TableRef& table : layers) ASSERT_TRUE(step.add(table).ok());
  const std::int64_t position = 800;
  ASSERT_TRUE(step.begin(Positions::of(&position, 1)).ok());
  EXPECT_EQ(step.gathers(), 2u);
  const std::vector<float> x = random_tensor(3, 1, 4, 256);
  std::set<std::vector<float>> results;
  for (int layer = 0; layer < model.layers; ++layer) {
    const Rope& rope = rope_of(model, layer).rope;
    results.insert(turned(rotate, step.rows(*layers[static_cast<std::size_t>(layer)]).value(), rope, x, 4));
  }
  EXPECT_EQ(results.size(), 2u);
}

}  // namespace
}  // namespace ropecache::flow
