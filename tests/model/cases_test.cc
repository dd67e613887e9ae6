// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Failures that people met in other projects, as whole files through the public readers. The names carry the numbers of
// docs/cases.md, which links the reports.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <variant>
#include <vector>

#include "model/gguf_writer.h"
#include "model/model_test_util.h"
#include "ropecache/table.h"

namespace ropecache {
namespace {

using test::gguf_model;
using test::GgufWriter;
using test::has_warning;

ModelRopes json(std::string_view text, const ReadOptions& options = {}) {
  const Result<ModelRopes> model = read_model_json(text, "config.json", options);
  EXPECT_TRUE(model.ok()) << model.status().message();
  return *model;
}

ModelRopes gguf(const GgufWriter& file) {
  const Result<ModelRopes> model = read_model_gguf(file.bytes(), "m.gguf");
  EXPECT_TRUE(model.ok()) << model.status().message();
  return *model;
}

// A llama of one head width, with some more keys.
std::string llama(const std::string& keys) {
  return R"({"model_type":"llama","hidden_size":4096,"num_attention_heads":32,"num_hidden_layers":2,)"
         R"("max_position_embeddings":163840)" +
         (keys.empty() ? "" : "," + keys) + "}";
}

const ModelRope& first(const ModelRopes& model) {
  EXPECT_FALSE(model.ropes.empty());
  return model.ropes.front();
}

const ModelRope* rope_at(const ModelRopes& model, int layer) {
  for (const ModelRope& rope : model.ropes) {
    if (std::binary_search(rope.layers.begin(), rope.layers.end(), layer)) return &rope;
  }
  return nullptr;
}

double frequency(const ModelRope& rope, std::size_t pair) { return rope.rope.frequencies[pair].to_double(); }

// How many positions somebody means to serve is no length of a sequence.
TEST(ModelCases, B19_capacity_does_not_switch_yarn) {
  const std::string text =
      llama(R"("head_dim":64,"rope_theta":10000,)"
            R"("rope_scaling":{"type":"yarn","factor":40,"original_max_position_embeddings":4096})");
  for (const std::int64_t capacity : {4096, 4097, 163840}) {
    ReadOptions options;
    options.context = capacity;
    const ModelRopes model = json(text, options);
    EXPECT_NEAR(frequency(first(model), 10), 0.05623413252, 1e-11);
    EXPECT_NEAR(frequency(first(model), 11), 0.03900692657, 1e-11);
    EXPECT_NEAR(frequency(first(model), 16), 0.0055, 1e-12);
    EXPECT_NEAR(frequency(first(model), 23), 3.33380358e-5, 1e-13);
  }
}

// Mistral-Medium-3.5: its betas are read, and its magnitude is on the rope whatever the pairing.
TEST(ModelCases, B26_betas_are_read) {
  const ModelRopes model =
      json(llama(R"("head_dim":128,"rope_theta":1000000,"rope_scaling":{"rope_type":"yarn","factor":64,)"
                 R"("original_max_position_embeddings":4096,"beta_fast":4,"beta_slow":1})"));
  const auto& yarn = std::get<YarnScaling>(first(model).config.scaling);
  EXPECT_EQ(yarn.beta_fast, 4);
  EXPECT_EQ(yarn.beta_slow, 1);
  EXPECT_EQ(first(model).rope.magnitude.to_decimal(8), "1.4158883");
}

// Phi-3.5-mini: two lists, one rope of each, and the length that parts them; one magnitude for both.
TEST(ModelCases, B43_B44_longrope_switches_at_a_stated_length) {
  std::ifstream file(TEST_DATA "/models/phi-3.5-mini.json", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const ModelRopes both = json(text);
  const ModelRope& rope = first(both);
  const auto& rule = std::get<LongRopeScaling>(rope.config.scaling);
  EXPECT_EQ(rope.switch_length, 4096);
  ASSERT_TRUE(rope.beyond.has_value());
  EXPECT_EQ(rope.rope.magnitude.to_decimal(11), "1.1902380714");
  EXPECT_EQ(rope.beyond->magnitude, rope.rope.magnitude);
  EXPECT_LE(*std::max_element(rule.short_factor.begin(), rule.short_factor.end()), 3.0);
  EXPECT_GT(*std::max_element(rule.long_factor.begin(), rule.long_factor.end()), 64.0);
  EXPECT_NE(*table_key(rope.rope), *table_key(*rope.beyond));
  for (const auto& [length, expected] : {std::pair{4096, rope.rope}, {4097, *rope.beyond}}) {
    ReadOptions options;
    options.length = length;
    const ModelRopes one = json(text, options);
    EXPECT_EQ(first(one).rope, expected);
    EXPECT_FALSE(first(one).switch_length.has_value());
  }
}

// Order of keys and 4 against 4.0: the same table.
TEST(ModelCases, B88_spelling_does_not_enter_the_key) {
  const auto key = [](const std::string& block) {
    return table_key(first(json(llama(R"("rope_theta":1000000,"rope_scaling":)" + block))).rope).value().hex();
  };
  EXPECT_EQ(key(R"({"type":"yarn","factor":4,"original_max_position_embeddings":32768})"),
            key(R"({"original_max_position_embeddings":32768,"factor":4.0,"type":"yarn"})"));
  EXPECT_NE(key(R"({"type":"yarn","factor":4,"original_max_position_embeddings":32768})"),
            key(R"({"type":"yarn","factor":5,"original_max_position_embeddings":32768})"));
}

// Gemma 4's draft heads: factors on full layers, none on sliding ones.
TEST(ModelCases, B125_draft_layers_have_the_factors_of_their_kind) {
  std::vector<float> factors(256, 1.0f);
  std::fill(factors.begin() + 64, factors.end(), 1e30f);
  for (const char* architecture : {"gemma4_mtp", "gemma4-assistant"}) {
    SCOPED_TRACE(architecture);
    const ModelRopes model = gguf(gguf_model(architecture, 4, 1024, 4, 131072)
                                      .u32("attention.key_length", 512)
                                      .u32("attention.key_length_swa", 256)
                                      .u32("rope.dimension_count", 512)
                                      .u32("rope.dimension_count_swa", 256)
                                      .f32("rope.freq_base", 1e6f)
                                      .f32("rope.freq_base_swa", 10000)
                                      .u32("attention.sliding_window", 512)
                                      .flags("attention.sliding_window_pattern", {1, 1, 1, 0})
                                      .tensor("rope_freqs.weight", factors));
    ASSERT_NE(rope_at(model, 0), nullptr);
    ASSERT_NE(rope_at(model, 3), nullptr);
    EXPECT_TRUE(rope_at(model, 0)->config.divisors.empty());
    EXPECT_EQ(rope_at(model, 3)->config.divisors.size(), 256u);
    EXPECT_NEAR(frequency(*rope_at(model, 3), 63), 0.03337624694, 1e-11);
    EXPECT_TRUE(rope_at(model, 3)->rope.frequencies[64].is_zero());
  }
}

// PLaMo and Orion pair halves; an engine listed them among the interleaved ones.
TEST(ModelCases, B9_U9_plamo_and_orion_pair_halves) {
  for (const char* architecture : {"plamo", "orion"}) {
    const ModelRopes model = gguf(gguf_model(architecture, 2, 4096, 32, 4096).f32("rope.freq_base", 10000));
    EXPECT_EQ(first(model).config.pairing, Pairing::kHalf) << architecture;
  }
}

// A bridge forced the base to an integer, made a list of an object, and wanted mscale keys.
TEST(ModelCases, U4_base_stays_a_number_and_a_block_an_object) {
  EXPECT_EQ(first(json(llama(R"("rope_theta":10000.5)"))).config.theta, 10000.5);
  const Result<ModelRopes> list = read_model_json(llama(R"("rope_scaling":[4])"), "config.json");
  ASSERT_FALSE(list.ok());
  EXPECT_EQ(list.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(list.status().message().find("rope_scaling"), std::string::npos) << list.status().message();
  const ModelRopes yarn =
      json(llama(R"("rope_scaling":{"type":"yarn","factor":4,"original_max_position_embeddings":40960})"));
  EXPECT_EQ(first(yarn).rope.magnitude.to_decimal(11), "1.1386294361");
}

}  // namespace
}  // namespace ropecache
