// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// 110 real models: every field of models-expected.json against what the reader says of models/<name>.json.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "model/hf_test.h"

namespace ropecache {
namespace {

using hf_test::Json;

std::vector<int> without_mtp(const ModelRope& rope) {
  std::vector<int> layers;
  std::set_difference(rope.layers.begin(), rope.layers.end(), rope.mtp_layers.begin(), rope.mtp_layers.end(),
                      std::back_inserter(layers));
  return layers;
}

// The few magnitudes that the file states as a formula.
double expected_magnitude(const Json& value) {
  if (value.is_number()) return value.get<double>();
  static const std::map<std::string, double> kFormulas = {
      {"0.1*ln(4)+1", 0.1 * std::log(4.0) + 1},
      {"0.1*ln(32)+1", 0.1 * std::log(32.0) + 1},
      {"sqrt(1+ln(32)/ln(4096))", std::sqrt(1 + std::log(32.0) / std::log(4096.0))},
  };
  return kFormulas.at(value.get<std::string>());
}

// A scaling rule in the words of models-expected.json.
Json scaling_json(const Scaling& scaling, const Rope& rope) {
  struct Writer {
    const Rope& rope;
    Json operator()(const std::monostate&) const { return nullptr; }
    Json operator()(const LinearScaling& s) const { return {{"type", "linear"}, {"factor", s.factor}}; }
    Json operator()(const DynamicNtkScaling& s) const {
      return {{"type", "dynamic"}, {"factor", s.factor}, {"max", s.original_context}};
    }
    Json operator()(const NtkAlphaScaling& s) const { return {{"type", "ntk-alpha"}, {"alpha", s.alpha}}; }
    Json operator()(const NtkScaling& s) const { return {{"type", "ntk"}, {"factor", s.factor}}; }
    Json operator()(const YarnScaling& s) const {
      Json out = {{"type", "yarn"},
                  {"factor", s.factor},
                  {"original", s.original_context},
                  {"beta_fast", s.beta_fast},
                  {"beta_slow", s.beta_slow}};
      if (!s.truncate) out["truncate"] = false;
      if (s.mscale) out["mscale"] = *s.mscale;
      if (s.mscale_all_dim) out["mscale_all_dim"] = *s.mscale_all_dim;
      if (s.attention_factor) out["attention_factor"] = *s.attention_factor;
      return out;
    }
    Json operator()(const Llama3Scaling& s) const {
      return {{"type", "llama3"},
              {"factor", s.factor},
              {"low_freq_factor", s.low_freq_factor},
              {"high_freq_factor", s.high_freq_factor},
              {"original", s.original_context}};
    }
    Json operator()(const LongRopeScaling& s) const {
      EXPECT_EQ(s.short_factor.size(), s.long_factor.size());
      return {{"type", "longrope"}, {"n", s.short_factor.size()}, {"original", s.original_context}};
    }
    Json operator()(const ProportionalScaling& s) const {
      const auto turning = std::count_if(rope.frequencies.begin(), rope.frequencies.end(),
                                         [](const Real& frequency) { return !frequency.is_zero(); });
      return {{"type", "proportional"}, {"partial", s.partial}, {"real_pairs", turning}};
    }
  };
  return std::visit(Writer{rope}, scaling);
}

// Objects with the same members, whatever their order and whether 4 is written 4.0.
void expect_same(const Json& found, const Json& expected) {
  if (!expected.is_object()) {
    EXPECT_EQ(found, expected);
    return;
  }
  ASSERT_TRUE(found.is_object()) << found;
  EXPECT_EQ(found.size(), expected.size()) << found;
  for (const auto& [key, value] : expected.items()) {
    ASSERT_TRUE(found.contains(key)) << key;
    EXPECT_EQ(found[key], value) << key;
  }
}

// Tables of the decoder: what differs in frequencies, axes or magnitude. Longrope has one more beyond its switch.
std::size_t distinct_tables(const ModelRopes& model) {
  std::vector<const Rope*> tables;
  const auto add = [&](const Rope& rope) {
    const bool known = std::any_of(tables.begin(), tables.end(), [&](const Rope* table) {
      return table->frequencies == rope.frequencies && table->axes == rope.axes && table->magnitude == rope.magnitude;
    });
    if (!known) tables.push_back(&rope);
  };
  for (const ModelRope& rope : model.ropes) {
    if (rope.role != Role::kAttention && rope.role != Role::kIndexer) continue;
    add(rope.rope);
    if (rope.beyond) add(*rope.beyond);
  }
  return tables.size();
}

int expected_mtp(const Json& expected) {
  return expected["mtp"].is_null() ? 0 : std::stoi(expected["mtp"].get<std::string>());
}

class HfModels : public testing::TestWithParam<std::string> {};

TEST_P(HfModels, GivesTheExpectedRopes) {
  static const Json all = hf_test::file_json("models-expected.json");
  const Json& expected = all[GetParam()];
  const auto result = hf_test::read(hf_test::file_json("models/" + GetParam() + ".json"));
  ASSERT_TRUE(result.ok()) << result.status().message();
  const ModelRopes& model = *result;

  EXPECT_TRUE(model.known_architecture);
  EXPECT_EQ(model.layers, expected["num_layers"].get<int>());
  EXPECT_EQ(model.mtp, expected_mtp(expected));
  EXPECT_EQ(distinct_tables(model), expected["distinct_tables"].get<std::size_t>());

  std::vector<int> bare;
  std::copy_if(model.layers_without_rope.begin(), model.layers_without_rope.end(), std::back_inserter(bare),
               [&](int layer) { return layer < model.layers; });
  EXPECT_EQ(bare, hf_test::parse_list(expected["no_rope_layers"].get<std::string>()));

  std::size_t attention = 0;
  for (const ModelRope& rope : model.ropes) attention += rope.role == Role::kAttention ? 1 : 0;
  EXPECT_EQ(attention, expected["ropes"].size());
  for (const Json& want : expected["ropes"]) {
    SCOPED_TRACE(want["id"].get<std::string>());
    const std::vector<int> layers = hf_test::parse_list(want["layers"].get<std::string>());
    const ModelRope* rope = hf_test::rope_at(model, layers.front());
    ASSERT_NE(rope, nullptr);
    EXPECT_EQ(without_mtp(*rope), layers);
    EXPECT_EQ(rope->config.head_dim, want["head_dim"].get<int>());
    EXPECT_EQ(rope->config.rotary_dim, want["rotary_dim"].get<int>());
    EXPECT_EQ(rope->config.pairing == Pairing::kHalf ? "half" : "interleaved", want["pairing_hf"].get<std::string>());
    // HunYuan's answer folds alpha into the base; the file and the config keep the two apart.
    EXPECT_EQ(rope->config.theta, want["theta"].is_number() ? want["theta"].get<double>() : 10000.0);
    expect_same(scaling_json(rope->config.scaling, rope->rope), want["scaling"]);
    EXPECT_NEAR(rope->rope.magnitude.to_double(), expected_magnitude(want["attention_factor"]), 1e-15);
    EXPECT_EQ(Json(rope->config.axes.sections), want.contains("sections") ? want["sections"] : Json::array());
    EXPECT_EQ(rope->config.inverse_on_output, want.contains("inverse_on_output"));
    const std::string placement = want.contains("placement") ? want["placement"].get<std::string>() : "first";
    const int behind = rope->config.head_dim - rope->config.rotary_dim;
    EXPECT_EQ(rope->config.rotary_offset, placement == "first" ? 0 : behind);
  }
}

// Contract: whatever looks like a rope in the file is in one of the lists.
TEST_P(HfModels, AccountsForEveryKey) {
  const Json file = hf_test::file_json("models/" + GetParam() + ".json");
  const auto result = hf_test::read(file);
  ASSERT_TRUE(result.ok()) << result.status().message();
  const auto accounted = [&](const std::string& key) {
    return hf_test::note_of(result->used, key) || hf_test::note_of(result->ignored, key);
  };
  const auto walk = [&](const auto& self, const Json& object, const std::string& path, bool inside) -> void {
    for (const auto& [key, value] : object.items()) {
      const std::string dotted = path.empty() ? key : path + "." + key;
      const bool rope =
          inside || key.find("rope") != key.npos || key.find("rotary") != key.npos || key.find("theta") != key.npos;
      if (value.is_object()) {
        self(self, value, dotted, rope);
      } else if (rope) {
        EXPECT_TRUE(accounted(dotted)) << dotted;
      }
    }
  };
  walk(walk, file, "", false);
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  const Json expected = hf_test::file_json("models-expected.json");
  for (const auto& [name, answer] : expected.items()) names.push_back(name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, HfModels, testing::ValuesIn(model_names()), [](const auto& instance) {
  std::string name = instance.param;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
});

}  // namespace
}  // namespace ropecache
