// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// What becomes of each key of a config.json: used, ignored with a reason, or an error that names it.
#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "model/hf_test.h"

namespace ropecache {
namespace {

using hf_test::Json;
using hf_test::note_of;
using hf_test::rope_at;
using hf_test::warned;

Json llama(const Json& more = Json::object()) {
  Json config = {{"model_type", "llama"},
                 {"num_hidden_layers", 2},
                 {"num_attention_heads", 32},
                 {"hidden_size", 4096},
                 {"max_position_embeddings", 8192}};
  config.update(more);
  return config;
}

ModelRopes must_read(const Json& config) {
  const auto result = hf_test::read(config);
  EXPECT_TRUE(result.ok()) << result.status().message();
  return *result;
}

void expect_error(const Json& config, const std::string& words) {
  const auto result = hf_test::read(config);
  ASSERT_FALSE(result.ok()) << config;
  EXPECT_NE(result.status().message().find(words), std::string::npos)
      << result.status().message() << "\n  not: " << words;
  EXPECT_EQ(result.status().message().rfind("config.json: ", 0), 0u) << result.status().message();
  EXPECT_EQ(result.status().message().find('\n'), std::string::npos);
}

TEST(HfLedger, UsedKeysAndTakenDefaults) {
  const ModelRopes model = must_read(llama());
  EXPECT_EQ(note_of(model.used, "num_hidden_layers")->value, "2");
  EXPECT_EQ(note_of(model.used, "max_position_embeddings")->value, "8192");
  ASSERT_NE(note_of(model.defaults, "rope_theta"), nullptr);
  EXPECT_EQ(note_of(model.defaults, "rope_theta")->value, "10000.0");
  EXPECT_EQ(note_of(model.defaults, "rope_theta")->reason, "class default of llama");
  EXPECT_TRUE(model.ignored.empty());
  EXPECT_TRUE(model.warnings.empty());
}

TEST(HfLedger, OddKindsAndSurplusLayersAreNotSilent) {
  const ModelRopes odd = must_read(llama({{"model_type", "olmo3"}, {"layer_types", {"sliding-attention", "full_attention"}}}));
  EXPECT_EQ(odd.warnings.size(), 1u);
  EXPECT_NE(odd.warnings[0].find("\"sliding-attention\" is not a known kind of layer"), std::string::npos);
  const ModelRopes longer = must_read(llama({{"layer_types", {"full_attention", "full_attention", "full_attention"}}}));
  EXPECT_EQ(longer.mtp, 1);
  ASSERT_NE(note_of(longer.defaults, "num_nextn_predict_layers"), nullptr);
  EXPECT_FALSE(longer.warnings.empty());
}

TEST(HfLedger, NullIsAnAnswer) {
  const ModelRopes model = must_read(llama({{"rope_scaling", nullptr}, {"rope_theta", 5e5}}));
  EXPECT_EQ(note_of(model.used, "rope_scaling")->value, "null");
  EXPECT_EQ(rope_at(model, 0)->config.theta, 5e5);
}

TEST(HfLedger, B24_NothingIsDroppedSilently) {
  const Json block = {{"rope_type", "linear"}, {"factor", 2.0}, {"mscale", 0.7}, {"surprise", {1, 2}}};
  const ModelRopes model = must_read(llama({{"rope_scaling", block},
                                            {"rope_ratio", 3},
                                            {"rope_fancy", {{"depth", 1}}},
                                            {"vision_config", {{"rope_theta", 3.0}}}}));
  for (const char* key : {"rope_scaling.mscale", "rope_scaling.surprise"}) {
    ASSERT_NE(note_of(model.ignored, key), nullptr) << key;
    EXPECT_EQ(note_of(model.ignored, key)->reason, "not a key of scaling type linear");
  }
  EXPECT_TRUE(warned(model, "rope_scaling: no effect in scaling type linear: mscale, surprise"));
  EXPECT_EQ(note_of(model.ignored, "rope_ratio")->reason, "not a key of this model type");
  EXPECT_TRUE(warned(model, "rope_ratio has no effect"));
  EXPECT_NE(note_of(model.ignored, "rope_fancy.depth"), nullptr);
  EXPECT_EQ(note_of(model.ignored, "vision_config.rope_theta")->reason, "outside the parts that were read");
}

TEST(HfLedger, RemarksOnKeysOfCheckpointCode) {
  const Json qwen = {{"use_dynamic_ntk", true}, {"use_logn_attn", false}, {"original_rope", true}};
  Json config = llama(qwen);
  config["model_type"] = "qwen";
  const ModelRopes model = must_read(config);
  EXPECT_TRUE(warned(model, "use_dynamic_ntk has no effect: the checkpoint's code changes the base beyond seq_length"));
  EXPECT_FALSE(warned(model, "use_logn_attn"));
  EXPECT_FALSE(warned(model, "original_rope"));
  for (const auto& [key, value] : qwen.items()) EXPECT_NE(note_of(model.ignored, key), nullptr) << key;
}

TEST(HfLedger, StaleCopiesBesideTextConfigAreIgnored) {
  const Json text = llama({{"rope_theta", 1e6}});
  const ModelRopes model = must_read({{"model_type", "llava"}, {"rope_theta", 5.0}, {"text_config", text}});
  EXPECT_EQ(rope_at(model, 0)->config.theta, 1e6);
  EXPECT_EQ(model.architecture, "llama");
  EXPECT_NE(note_of(model.used, "text_config.rope_theta"), nullptr);
  EXPECT_NE(note_of(model.ignored, "rope_theta"), nullptr);
}

TEST(HfLedger, SparseTextConfigHasTheSizesOfItsClass) {
  const ModelRopes model = must_read({{"model_type", "llava"}, {"text_config", {{"max_position_embeddings", 4096}}}});
  EXPECT_EQ(model.layers, 32);
  EXPECT_EQ(rope_at(model, 0)->config.head_dim, 128);
  EXPECT_NE(note_of(model.defaults, "text_config.num_hidden_layers"), nullptr);
}

TEST(HfLedger, UnknownTypeIsReadByItsKeys) {
  const ModelRopes model = must_read(llama({{"model_type", "unheard_of"},
                                            {"rotary_pct", 0.5},
                                            {"rotary_emb_base", 1234},
                                            {"rotary_emb_interleaved", true}}));
  EXPECT_FALSE(model.known_architecture);
  EXPECT_TRUE(warned(model, "model_type unheard_of is not known"));
  EXPECT_EQ(rope_at(model, 0)->config.rotary_dim, 64);
  EXPECT_EQ(rope_at(model, 0)->config.theta, 1234);
  EXPECT_EQ(rope_at(model, 0)->config.pairing, Pairing::kInterleaved);
}

TEST(HfLedger, UnknownTypeWithDeepSeeksKeysIsSplit) {
  const ModelRopes model = must_read(
      llama({{"model_type", "unheard_of"}, {"qk_nope_head_dim", 128}, {"qk_rope_head_dim", 64}, {"head_dim", 77}}));
  EXPECT_EQ(rope_at(model, 0)->config.head_dim, 192);
  EXPECT_EQ(rope_at(model, 0)->config.rotary_offset, 128);
  EXPECT_NE(note_of(model.ignored, "head_dim"), nullptr);
}

TEST(HfLedger, TypesWithoutARope) {
  const ModelRopes bert = must_read(llama({{"model_type", "bert"}, {"rope_theta", 1e4}}));
  EXPECT_TRUE(bert.known_architecture);
  EXPECT_TRUE(bert.ropes.empty());
  EXPECT_EQ(bert.layers_without_rope, (std::vector<int>{0, 1}));
  EXPECT_NE(note_of(bert.ignored, "rope_theta"), nullptr);
  EXPECT_TRUE(must_read(llama({{"model_type", "falcon"}, {"alibi", true}})).ropes.empty());
  EXPECT_EQ(must_read(llama({{"model_type", "falcon"}, {"alibi", false}})).ropes.size(), 1u);
}

TEST(HfLedger, ListsOfKindsInATypesOwnWords) {
  const ModelRopes minimax = must_read(llama({{"model_type", "minimax_text_01"},
                                              {"num_hidden_layers", 4},
                                              {"head_dim", 128},
                                              {"rotary_dim", 64},
                                              {"attn_type_list", {0, 0, 0, 1}}}));
  EXPECT_EQ(minimax.layers_without_rope, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(rope_at(minimax, 3)->config.rotary_dim, 64);
  const ModelRopes mimo = must_read(llama({{"model_type", "mimo_v2_flash"},
                                           {"num_hidden_layers", 4},
                                           {"head_dim", 192},
                                           {"rope_theta", 5e6},
                                           {"swa_rope_theta", 1e4},
                                           {"partial_rotary_factor", 0.334},
                                           {"hybrid_layer_pattern", {0, 1, 1, 0}}}));
  EXPECT_EQ(rope_at(mimo, 0)->layers, (std::vector<int>{0, 3}));
  EXPECT_EQ(rope_at(mimo, 0)->config.rotary_dim, 64);
  EXPECT_EQ(rope_at(mimo, 1)->config.theta, 1e4);
}

TEST(HfLedger, ArchitecturesTellTypesOfOneNameApart) {
  Json config = llama({{"model_type", "bailing_moe"}, {"head_dim", 128}, {"architectures", {"BailingMoeForCausalLM"}}});
  EXPECT_EQ(rope_at(must_read(config), 0)->config.rotary_dim, 128);
  config["architectures"] = {"BailingMoeV2ForCausalLM"};
  EXPECT_EQ(rope_at(must_read(config), 0)->config.rotary_dim, 64);
}

TEST(HfLedger, ContradictionsAreToldAndDecidedAsTransformersDoes) {
  const ModelRopes theta =
      must_read(llama({{"rope_theta", 7e4}, {"rope_parameters", {{"rope_type", "default"}, {"rope_theta", 2e4}}}}));
  EXPECT_EQ(rope_at(theta, 0)->config.theta, 2e4);
  EXPECT_TRUE(warned(theta, "rope_parameters.rope_theta is 20000 but rope_theta is 70000"));

  const ModelRopes type =
      must_read(llama({{"rope_scaling", {{"rope_type", "linear"}, {"type", "dynamic"}, {"factor", 2}}}}));
  EXPECT_TRUE(std::holds_alternative<LinearScaling>(rope_at(type, 0)->config.scaling));
  EXPECT_TRUE(warned(type, "rope_scaling.rope_type is linear and type is dynamic"));

  const ModelRopes quiet =
      must_read(llama({{"rope_scaling", {{"rope_type", "linear"}, {"type", "linear"}, {"factor", 2}}}}));
  EXPECT_TRUE(quiet.warnings.empty());

  const ModelRopes width = must_read(
      llama({{"model_type", "minimax_m2"}, {"head_dim", 128}, {"rotary_dim", 32}, {"partial_rotary_factor", 0.5}}));
  EXPECT_EQ(rope_at(width, 0)->config.rotary_dim, 64);
  EXPECT_TRUE(warned(width, "rotary_dim is 32 but partial_rotary_factor gives 64"));

  const ModelRopes ignored = must_read(llama({{"partial_rotary_factor", 0.5}}));
  EXPECT_EQ(rope_at(ignored, 0)->config.rotary_dim, 128);
  EXPECT_TRUE(warned(ignored, "partial_rotary_factor 0.5 has no effect: llama turns whole heads"));
}

TEST(HfErrors, NameFileKeyValueAndExpectation) {
  expect_error(llama({{"rope_theta", true}}), "config.json: rope_theta: true, expected a number");
  expect_error(llama({{"rope_theta", "a lot"}}), "config.json: rope_theta: \"a lot\", expected a number");
  expect_error(llama({{"rope_theta", 0}}), "config.json: rope_theta: 0, expected a number above 0");
  expect_error(llama({{"rope_theta", -1e4}}), "rope_theta: -10000.0, expected a number above 0");
  expect_error(llama({{"rope_theta", {1, 2, 3}}, {"num_hidden_layers", 4}}), "rope_theta: [1,2,3], expected");
  expect_error(llama({{"rope_scaling", "linear"}}), "rope_scaling: \"linear\", expected an object or null");
  expect_error(llama({{"rope_scaling", {{"type", "linear"}}}}),
               "rope_scaling.factor: missing, expected a number above 0");
  expect_error(llama({{"rope_scaling", {{"type", "linear"}, {"factor", 0}}}}),
               "rope_scaling.factor: 0, expected a number above 0");
  expect_error(llama({{"rope_scaling", {{"type", "linear"}, {"factor", false}}}}),
               "rope_scaling.factor: false, expected a number");
  expect_error(llama({{"rope_scaling", {{"type", 7}, {"factor", 2}}}}), "rope_scaling.type: 7, expected a string");
  expect_error(llama({{"head_dim", 127}}), "rotary_dim is 127, expected an even number");
  expect_error(llama({{"num_hidden_layers", -1}}), "num_hidden_layers: -1, expected a whole number from 1");
  expect_error(llama({{"num_hidden_layers", 1000000000}}), "num_hidden_layers: 1000000000, expected");
  expect_error(llama({{"num_hidden_layers", 2.5}}), "num_hidden_layers: 2.5, expected a whole number");
  expect_error(llama({{"layer_types", {"full_attention"}}}),
               R"(layer_types: ["full_attention"], expected an entry for each of the 2 layers)");
  expect_error(llama({{"hidden_size", 4097}}), "hidden_size: 4097, expected a multiple of 32");
  expect_error(llama({{"max_position_embeddings", "long"}}), "max_position_embeddings: \"long\"");
  expect_error({{"model_type", "unheard_of"}}, "num_hidden_layers: missing, expected the number of layers");
  expect_error(Json::object(), "num_hidden_layers: missing");
  expect_error(llama({{"rope_scaling", {{"type", "longrope"}, {"short_factor", {1, 2}}, {"long_factor", {1, 2}}}}}),
               "one number for each of the 64 pairs");
  expect_error({{"model_type", "llava"}, {"text_config", llama({{"head_dim", 127}})}}, "config.json: text_config: ");
}

TEST(HfErrors, NestedBlockWithoutAnEntryForAKind) {
  Json config = llama({{"layer_types", {"full_attention", "sliding_attention"}}});
  config["model_type"] = "laguna";
  config["rope_parameters"] = {{"full_attention", {{"rope_theta", 5e5}}}};
  expect_error(config,
               "rope_parameters.sliding_attention: missing, expected the rope parameters of sliding_attention layers");
}

TEST(HfErrors, TextThatIsNotJson) {
  for (const char* text : {"", "{", "[1]", "{\"rope_theta\": NaN}", "{\"rope_theta\": Infinity}",
                           "{\"rope_theta\": 1e999}", "{\"rope_theta\": 1, \"rope_theta\": 2}"}) {
    EXPECT_EQ(hf_test::read_text(text).status().code(), StatusCode::kParse) << text;
  }
}

// Every leaf of some real files replaced by values that no model has: an answer or one clear line, never a crash.
TEST(HfErrors, HostileLeaves) {
  const Json values =
      Json::parse(R"([null, true, -1, 0, 1e300, 9007199254740993, "x\n\u0001", [], {}, [1, "a", null]])");
  int refused = 0;
  for (const char* name : {"gemma-3-1b", "deepseek-v4-flash", "glm-5", "phi-3.5-mini", "qwen2-vl-7b", "llama-4-scout",
                           "gpt-neox-20b", "minimax-m2"}) {
    const Json file = hf_test::file_json("models/" + std::string(name) + ".json");
    const Json flat = file.flatten();
    for (const auto& [pointer, leaf] : flat.items()) {
      const std::string last = pointer.substr(pointer.rfind('/') + 1);
      if (last.size() < 3 && last.find_first_not_of("0123456789") == last.npos && last > "1")
        continue;  // more of a list
      for (const Json& value : values) {
        Json changed = file;
        changed[Json::json_pointer(pointer)] = value;
        const auto result = hf_test::read(changed);
        if (result.ok()) continue;
        ++refused;
        EXPECT_EQ(result.status().message().rfind("config.json: ", 0), 0u) << result.status().message();
        EXPECT_EQ(result.status().message().find_first_of("\n\x01"), std::string::npos) << pointer;
        EXPECT_EQ(result.status().code(), StatusCode::kInvalidArgument)
            << pointer << value << result.status().message();
      }
    }
  }
  EXPECT_GT(refused, 400);
}

TEST(HfErrors, MoreKeysThanAnyModelHas) {
  Json block = {{"type", "linear"}, {"factor", 2}};
  Json file = llama();
  for (int i = 0; i < 1000; ++i) {
    block["key" + std::to_string(i)] = i;
    file["rope" + std::to_string(i)] = i;
  }
  const ModelRopes model = must_read(file);
  EXPECT_LT(model.ignored.size(), 600u);
  EXPECT_TRUE(warned(model, "500 more rope-like keys are not listed"));
  expect_error(llama({{"rope_scaling", block}}), "rope_scaling: more than 200 keys that no scaling type has");
}

TEST(HfErrors, AnyKeyMayBeMissing) {
  for (const char* name :
       {"gemma-4-e4b", "deepseek-v4-flash", "glm-5", "phi-3.5-mini", "qwen2.5-vl-7b", "llama-4-scout", "mimo-7b"}) {
    const Json file = hf_test::file_json("models/" + std::string(name) + ".json");
    for (const auto& [key, value] : file.items()) {
      Json changed = file;
      changed.erase(key);
      const auto result = hf_test::read(changed);
      if (result.ok()) continue;
      EXPECT_NE(result.status().message().find("expected"), std::string::npos) << result.status().message();
    }
  }
}

}  // namespace
}  // namespace ropecache
