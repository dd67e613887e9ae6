// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Values of a config.json that contradict each other, or count as something else than they say: never decided in
// silence.
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

Json file(const std::string& type, const Json& more = Json::object()) {
  Json config = {{"model_type", type},
                 {"num_hidden_layers", 2},
                 {"num_attention_heads", 32},
                 {"hidden_size", 4096},
                 {"max_position_embeddings", 8192}};
  config.update(more);
  return config;
}

Json scaled(const std::string& type, const Json& block, const Json& more = Json::object()) {
  Json config = file(type, more);
  config["rope_scaling"] = block;
  return config;
}

ModelRopes must_read(const Json& config) {
  const auto result = hf_test::read(config);
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? *result : ModelRopes();
}

void expect_error(const Json& config, const std::string& message) {
  const auto result = hf_test::read(config);
  ASSERT_FALSE(result.ok()) << config;
  EXPECT_EQ(result.status().message(), "config.json: " + message);
}

const char* const kSectionedTypes[] = {"qwen2_vl",          "qwen2_5_vl_text", "qwen2_5_omni_text",
                                       "paddleocr_vl_text", "glm4v_text",      "glm4v_moe_text",
                                       "glm_image_text",    "glm_ocr_text",    "unheard_of"};
const char* const kInterleavedTypes[] = {"qwen3_vl_text",    "qwen3_vl_moe_text", "qwen3_omni_moe_text", "qwen3_5_text",
                                         "qwen3_5_moe_text", "cosmos3_edge_text", "cohere_compass_text"};

// Every other layer type of these is linear attention; all attend here.
Json attending(const Json& block) {
  return {{"rope_scaling", block}, {"head_dim", 128}, {"layer_types", {"full_attention", "full_attention"}}};
}

TEST(HfSections, ThatDoNotFitAreRefused) {
  for (const auto& types : {std::vector<std::string>(std::begin(kSectionedTypes), std::end(kSectionedTypes)),
                            std::vector<std::string>(std::begin(kInterleavedTypes), std::end(kInterleavedTypes))}) {
    for (const std::string& type : types) {
      for (const Json& list :
           {Json({99, 99, 99}), Json({0, 0, 0}), Json::array(), Json({16, 24, 23}), Json({-1, 45, 20})}) {
        const auto result = hf_test::read(
            file(type, attending({{"rope_type", "default"}, {"partial_rotary_factor", 1.0}, {"mrope_section", list}})));
        ASSERT_FALSE(result.ok()) << type << list;
        EXPECT_NE(result.status().message().find("rope_scaling.mrope_section: " + list.dump() + ", expected "),
                  std::string::npos)
            << result.status().message();
        EXPECT_NE(result.status().message().find("sections that add up to the 64 pairs"), std::string::npos);
        EXPECT_EQ(result.status().code(), StatusCode::kInvalidArgument);
      }
    }
  }
  expect_error(scaled("qwen3_vl_text", {{"rope_type", "default"}, {"mrope_section", {32, 32}}}),
               "rope_scaling.mrope_section: [32,32], expected 3 sections that add up to the 64 pairs");
  expect_error(scaled("ernie4_5_vl_moe_text", {{"rope_type", "default"}, {"mrope_section", {20, 24, 20}}}),
               "rope_scaling.mrope_section: [20,24,20], expected 3 sections that add up to the 64 pairs, the first two "
               "of one size");
}

TEST(HfSections, ThatFitAreTakenAsTheyAre) {
  const ModelRopes sectioned =
      must_read(scaled("qwen2_vl", {{"rope_type", "default"}, {"mrope_section", {16, 24, 24}}}));
  EXPECT_EQ(rope_at(sectioned, 0)->config.axes.sections, (std::vector<int>{16, 24, 24}));
  EXPECT_EQ(rope_at(sectioned, 0)->config.axes.layout, AxisLayout::kSectioned);
  EXPECT_TRUE(sectioned.warnings.empty());
  const ModelRopes interleaved =
      must_read(scaled("qwen3_vl_text", {{"rope_type", "default"}, {"mrope_section", {24, 20, 20}}}));
  EXPECT_EQ(rope_at(interleaved, 0)->config.axes.sections, (std::vector<int>{24, 20, 20}));
  EXPECT_EQ(rope_at(interleaved, 0)->config.axes.layout, AxisLayout::kInterleaved);
  EXPECT_TRUE(interleaved.warnings.empty());
}

// The sum is right, but pairs 1, 4, .. 61 are only 21.
TEST(HfSections, TheInterleavedRuleSaysWhatItMakesOfThem) {
  const ModelRopes model =
      must_read(scaled("qwen3_vl_text", {{"rope_type", "default"}, {"mrope_section", {20, 24, 20}}}));
  EXPECT_EQ(rope_at(model, 0)->config.axes.sections, (std::vector<int>{23, 21, 20}));
  EXPECT_TRUE(warned(model,
                     "rope_scaling.mrope_section: sections [20,24,20] interleaved over 64 pairs give the axes "
                     "[23,21,20] of them"));
}

TEST(HfSections, OfTheClassAreListedOrRefusedAsSuch) {
  for (const char* type : {"qwen2_vl_text", "qwen3_vl_text"}) {
    const ModelRopes model = must_read(file(type, {{"head_dim", 128}}));
    ASSERT_NE(note_of(model.defaults, "mrope_section"), nullptr);
    EXPECT_EQ(note_of(model.defaults, "mrope_section")->reason, std::string("class default of ") + type);
  }
  expect_error(file("qwen2_vl_text", {{"head_dim", 64}}),
               "mrope_section: missing, expected 3 sections that add up to the 32 pairs; [16,24,24], the class default "
               "of qwen2_vl_text, do not");
  expect_error(file("qwen3_vl_text", {{"head_dim", 64}}),
               "mrope_section: missing, expected 3 sections that add up to the 32 pairs; [24,20,20], the class default "
               "of qwen3_vl_text, do not");
  // Two classes whose own sections do not fit their own heads; transformers 5.24 turns by what the slices reach.
  const ModelRopes talker = must_read(file("qwen3_omni_moe_talker_text", {{"head_dim", 64}}));
  EXPECT_EQ(rope_at(talker, 0)->config.axes.sections, (std::vector<int>{11, 11, 10}));
  EXPECT_TRUE(
      warned(talker, "class default of qwen3_omni_moe_talker_text: sections [24,20,20] interleaved over 32 pairs"));
  expect_error(scaled("qwen3_omni_moe_talker_text", {{"rope_type", "default"}, {"mrope_section", {24, 20, 20}}},
                      {{"head_dim", 64}}),
               "rope_scaling.mrope_section: [24,20,20], expected 3 sections that add up to the 32 pairs");
  const ModelRopes text = must_read(file("hunyuan_vl_text"));
  EXPECT_EQ(note_of(text.defaults, "mrope_section")->reason, "one axis");
  EXPECT_EQ(rope_at(text, 0)->config.axes.layout, AxisLayout::kSingle);
}

TEST(HfSections, UnderBothNamesAgree) {
  const Json list = {16, 16, 16, 16};
  const Json same = {{"type", "xdrope"}, {"alpha", 1000}, {"mrope_section", list}, {"xdrope_section", list}};
  EXPECT_EQ(rope_at(must_read(scaled("hunyuan_vl_text", same)), 0)->config.axes.sections, list.get<std::vector<int>>());
  Json other = same;
  other["xdrope_section"] = {32, 32};
  expect_error(scaled("hunyuan_vl_text", other),
               "rope_scaling.xdrope_section: [32,32], expected [16,16,16,16] as rope_scaling.mrope_section says");
  expect_error(
      scaled("qwen2_vl", {{"type", "mrope"}, {"mrope_section", {16, 24, 24}}}, {{"mrope_section", {24, 20, 20}}}),
      "mrope_section: [24,20,20], expected [16,24,24] as rope_scaling.mrope_section says");
  const ModelRopes unknown = must_read(scaled("unheard_of", {{"type", "default"}, {"xdrope_section", {32, 32}}}));
  EXPECT_EQ(rope_at(unknown, 0)->config.axes.sections, (std::vector<int>{32, 32}));
}

TEST(HfInterleaving, OfATypeIsNotForTheFileToSay) {
  for (const bool interleaves : {false, true}) {
    const std::vector<std::string> types =
        interleaves ? std::vector<std::string>(std::begin(kInterleavedTypes), std::end(kInterleavedTypes))
                    : std::vector<std::string>{"qwen2_vl_text", "glm_ocr_text", "ernie4_5_vl_moe_text"};
    for (const std::string& type : types) {
      for (const char* key : {"mrope_interleaved", "interleaved"}) {
        SCOPED_TRACE(type);
        const Json sections = type == "ernie4_5_vl_moe_text" ? Json({22, 22, 20}) : Json({24, 20, 20});
        Json block = {{"rope_type", "default"}, {"partial_rotary_factor", 1.0}, {"mrope_section", sections}};
        block[key] = interleaves;
        const ModelRopes model = must_read(file(type, attending(block)));
        const std::string path = std::string("rope_scaling.") + key;
        ASSERT_NE(note_of(model.ignored, path), nullptr);
        EXPECT_EQ(note_of(model.used, path), nullptr);
        EXPECT_FALSE(warned(model, key));
        block[key] = !interleaves;
        const auto refused = hf_test::read(file(type, attending(block)));
        ASSERT_FALSE(refused.ok());
        EXPECT_NE(
            refused.status().message().find(path + (interleaves ? ": false, expected true" : ": true, expected false")),
            std::string::npos)
            << refused.status().message();
      }
    }
  }
}

TEST(HfInterleaving, OfAnUnknownTypeIsWhatTheFileSays) {
  Json block = {{"rope_type", "default"}, {"mrope_section", {24, 20, 20}}, {"mrope_interleaved", true}};
  const ModelRopes model = must_read(scaled("unheard_of", block));
  EXPECT_EQ(rope_at(model, 0)->config.axes.layout, AxisLayout::kInterleaved);
  EXPECT_NE(note_of(model.used, "rope_scaling.mrope_interleaved"), nullptr);
  block["interleaved"] = false;
  expect_error(scaled("unheard_of", block),
               "rope_scaling.interleaved: false, expected true as rope_scaling.mrope_interleaved says");
}

TEST(HfInterleaving, WithoutSectionsIsReported) {
  const ModelRopes model = must_read(scaled("llama", {{"rope_type", "default"}, {"mrope_interleaved", true}}));
  EXPECT_NE(note_of(model.ignored, "rope_scaling.mrope_interleaved"), nullptr);
  EXPECT_TRUE(warned(model, "rope_scaling.mrope_interleaved"));
}

// Keys of one meaning: equal values are one answer, others are none.
TEST(HfSynonyms, Agree) {
  struct Pair {
    const char* first;
    const char* second;
    Json value;
    Json other;
  };
  const Pair pairs[] = {
      {"rope_interleave", "rope_interleaved", true, false},
      {"rope_interleave", "rotary_emb_interleaved", false, true},
      {"rope_theta", "rotary_emb_base", 5e5, 1e6},
      {"rope_base", "rotary_base", 5e5, 1e6},
      {"partial_rotary_factor", "rotary_pct", 0.5, 0.25},
      {"rope_pct", "rotary_percentage", 0.5, 0.25},
      {"head_dim", "kv_channels", 64, 128},
      {"num_hidden_layers", "n_layer", 2, 3},
      {"num_attention_heads", "n_head", 32, 16},
      {"hidden_size", "n_embd", 4096, 2048},
      {"num_nextn_predict_layers", "mtp_num_hidden_layers", 1, 2},
  };
  for (const Pair& pair : pairs) {
    SCOPED_TRACE(pair.second);
    const Json same = {{pair.first, pair.value}, {pair.second, pair.value}};
    const ModelRopes model = must_read(file("unheard_of", same));
    EXPECT_NE(note_of(model.used, pair.first), nullptr);
    EXPECT_NE(note_of(model.used, pair.second), nullptr);
    EXPECT_EQ(model.warnings.size(), 1u);  // the type is not known
    const Json different = {{pair.first, pair.value}, {pair.second, pair.other}};
    expect_error(file("unheard_of", different), std::string(pair.second) + ": " + pair.other.dump() + ", expected " +
                                                    pair.value.dump() + " as " + pair.first + " says");
  }
}

TEST(HfSynonyms, OfKnownTypesAgree) {
  expect_error(file("stablelm", {{"partial_rotary_factor", 0.5}, {"rope_pct", 0.25}}),
               "rope_pct: 0.25, expected 0.5 as partial_rotary_factor says");
  EXPECT_EQ(
      rope_at(must_read(file("stablelm", {{"partial_rotary_factor", 0.5}, {"rope_pct", 0.5}})), 0)->config.rotary_dim,
      64);
  expect_error(file("qwen", {{"rope_theta", 5e5}, {"rotary_emb_base", 1e6}}),
               "rotary_emb_base: 1000000.0, expected 500000.0 as rope_theta says");
  expect_error(file("falcon", {{"n_head", 16}}), "n_head: 16, expected 32 as num_attention_heads says");
}

TEST(HfPartial, BesideTheBlockIsReported) {
  const Json block = {{"rope_type", "default"}, {"partial_rotary_factor", 0.5}};
  const ModelRopes same = must_read(scaled("glm4", block, {{"partial_rotary_factor", 0.5}}));
  EXPECT_TRUE(same.warnings.empty());
  const ModelRopes other = must_read(scaled("glm4", block, {{"partial_rotary_factor", 0.25}}));
  EXPECT_EQ(rope_at(other, 0)->config.rotary_dim, 64);
  EXPECT_TRUE(warned(other,
                     "rope_scaling.partial_rotary_factor is 0.5 but partial_rotary_factor is 0.25; the first is "
                     "taken"));
  const ModelRopes whole = must_read(scaled("llama", block));
  EXPECT_EQ(rope_at(whole, 0)->config.rotary_dim, 128);
  EXPECT_NE(note_of(whole.ignored, "rope_scaling.partial_rotary_factor"), nullptr);
  EXPECT_EQ(note_of(whole.used, "rope_scaling.partial_rotary_factor"), nullptr);
  EXPECT_TRUE(warned(whole, "rope_scaling.partial_rotary_factor 0.5 has no effect: llama turns whole heads"));
}

TEST(HfYarn, ZeroBetaIsADefaultThatWasTaken) {
  const Json plain = {{"rope_type", "yarn"}, {"factor", 4.0}, {"original_max_position_embeddings", 2048}};
  Json block = plain;
  block["beta_fast"] = 0;
  block["beta_slow"] = 0;
  const ModelRopes model = must_read(scaled("llama", block));
  const auto& yarn = std::get<YarnScaling>(rope_at(model, 0)->config.scaling);
  EXPECT_EQ(yarn.beta_fast, 32);
  EXPECT_EQ(yarn.beta_slow, 1);
  EXPECT_EQ(rope_at(model, 0)->rope, rope_at(must_read(scaled("llama", plain)), 0)->rope);
  for (const char* key : {"rope_scaling.beta_fast", "rope_scaling.beta_slow"}) {
    EXPECT_NE(note_of(model.defaults, key), nullptr) << key;
    EXPECT_NE(note_of(model.ignored, key), nullptr) << key;
    EXPECT_EQ(note_of(model.used, key), nullptr) << key;
    EXPECT_TRUE(warned(model, std::string(key) + " is 0, which counts as missing"));
  }
}

// mscale acts together with mscale_all_dim only, and not beside attention_factor.
TEST(HfYarn, MscaleWithoutEffectIsReported) {
  const Json plain = {{"rope_type", "yarn"}, {"factor", 4.0}, {"original_max_position_embeddings", 2048}};
  const ModelRopes base = must_read(scaled("llama", plain));
  for (const Json& more : {Json({{"mscale", 0.7}}), Json({{"mscale", 0.7}, {"mscale_all_dim", 0}})}) {
    Json block = plain;
    block.update(more);
    const ModelRopes model = must_read(scaled("llama", block));
    EXPECT_EQ(rope_at(model, 0)->rope, rope_at(base, 0)->rope);
    EXPECT_NE(note_of(model.ignored, "rope_scaling.mscale"), nullptr);
    EXPECT_TRUE(warned(model, "rope_scaling: no effect in scaling type yarn: mscale"));
  }
  Json block = plain;
  block.update({{"mscale", 0.7}, {"mscale_all_dim", 0.5}});
  EXPECT_NE(rope_at(must_read(scaled("llama", block)), 0)->rope, rope_at(base, 0)->rope);
  block["attention_factor"] = 1.5;
  EXPECT_TRUE(warned(must_read(scaled("llama", block)), "no effect in scaling type yarn: mscale, mscale_all_dim"));
}

TEST(HfPerLayerConfig, NamesEachLayerOnce) {
  const auto with = [](const Json& own) { return file("llama", {{"per_layer_config", own}}); };
  for (const char* key : {"1", "01", "0000000001"}) {
    const ModelRopes model = must_read(with({{key, {{"head_dim", 64}}}}));
    EXPECT_EQ(rope_at(model, 0)->config.head_dim, 128) << key;
    EXPECT_EQ(rope_at(model, 1)->config.head_dim, 64) << key;
  }
  expect_error(with({{"0", {{"head_dim", 64}}}, {"00", {{"head_dim", 32}}}}),
               "per_layer_config: keys \"0\" and \"00\" are one layer, expected one of them");
  for (const std::string key : {"2", "0002", "99999999999999999999999999"}) {
    expect_error(with({{key, {{"head_dim", 64}}}}), "per_layer_config: key \"" + key + "\", expected a layer below 2");
  }
  // A layer's own object goes before its kind's, whichever stands first.
  const Json by_number = {{"head_dim", 64}}, by_kind = {{"head_dim", 32}};
  for (const bool kind_first : {false, true}) {
    Json config = with(kind_first ? Json({{"full_attention", by_kind}, {"0", by_number}})
                                  : Json({{"0", by_number}, {"full_attention", by_kind}}));
    config["layer_types"] = {"full_attention", "full_attention"};
    const ModelRopes model = must_read(config);
    EXPECT_EQ(rope_at(model, 0)->config.head_dim, 64);
    EXPECT_EQ(rope_at(model, 1)->config.head_dim, 32);
  }
}

TEST(HfPerLayerConfig, OfKindsThatNoLayerHasIsReported) {
  for (const char* key : {"sliding_attention", "-1", "1.0", ""}) {
    const ModelRopes model = must_read(file("llama", {{"per_layer_config", {{key, {{"head_dim", 64}}}}}}));
    EXPECT_EQ(rope_at(model, 0)->config.head_dim, 128);
    const bool unnamed = std::string(key).empty();
    EXPECT_NE(note_of(model.ignored, unnamed ? "per_layer_config" : std::string("per_layer_config.") + key), nullptr)
        << key;
    EXPECT_TRUE(
        warned(model, "per_layer_config: no effect, as no layer is of this kind: \"" + std::string(key) + "\""));
  }
}

TEST(HfKinds, OfABlockThatNoLayerHasAreReportedOnce) {
  Json config = file("laguna", {{"layer_types", {"full_attention", "full_attention"}}});
  config["rope_parameters"] = {{"full_attention", {{"rope_theta", 5e5}}}, {"sliding-attention", {{"rope_theta", 7.0}}}};
  const ModelRopes model = must_read(config);
  ASSERT_NE(note_of(model.ignored, "rope_parameters.sliding-attention.rope_theta"), nullptr);
  EXPECT_TRUE(warned(model,
                     "rope_parameters.sliding-attention.rope_theta has no effect: no layer that rotates is of "
                     "this kind"));
  config["yarn_only_types"] = {"full-attention"};
  EXPECT_TRUE(warned(must_read(config), "yarn_only_types: no layer that rotates is of kind \"full-attention\""));
  config["yarn_only_types"] = "full_attention";
  expect_error(config, "yarn_only_types: \"full_attention\", expected a list of layer kinds");
}

TEST(HfLists, ThatGoOnAfterTheLastLayerAreReported) {
  const ModelRopes model = must_read(file("smollm3", {{"no_rope_layers", {1, 0, 1}}}));
  EXPECT_EQ(model.layers_without_rope, (std::vector<int>{1}));
  EXPECT_TRUE(warned(model, "no_rope_layers: 3 entries for 2 layers; the rest has no effect"));
  expect_error(file("smollm3", {{"no_rope_layers", {1}}}),
               "no_rope_layers: [1], expected an entry for each of the 2 layers");
  expect_error(file("mllama_text_model", {{"cross_attention_layers", {1, 2}}}),
               "cross_attention_layers: [1,2], expected layers from 0 to 1");
  EXPECT_EQ(must_read(file("mllama_text_model", {{"cross_attention_layers", {1}}})).layers_without_rope,
            (std::vector<int>{1}));
}

TEST(HfIndexers, AreFullOrShared) {
  const auto with = [](const Json& types) {
    return file("glm_moe_dsa", {{"index_head_dim", 128}, {"indexer_types", types}});
  };
  const ModelRopes model = must_read(with({"full", "shared"}));
  EXPECT_TRUE(model.warnings.empty());
  for (const ModelRope& rope : model.ropes) {
    EXPECT_EQ(rope.layers, rope.role == Role::kIndexer ? (std::vector<int>{0}) : (std::vector<int>{0, 1}));
  }
  expect_error(with({"full", "none"}), "indexer_types: [\"full\",\"none\"], expected a list of full and shared");
  expect_error(with({"full"}), "indexer_types: [\"full\"], expected an entry for each of the 2 layers");
}

TEST(HfNoRope, IsSaidTruthfully) {
  expect_error(file("llama", {{"num_hidden_layers", 0}}),
               "num_hidden_layers: 0, expected a whole number from 1 to 1024");
  const ModelRopes model = must_read(scaled("llama", {{"rope_type", "linear"}, {"factor", 2.0}},
                                            {{"rope_theta", 5e5}, {"layer_types", {"conv", "linear_attention"}}}));
  EXPECT_TRUE(model.ropes.empty());
  EXPECT_TRUE(warned(model, "no layer rotates; the kinds of layers are \"conv\", \"linear_attention\""));
  EXPECT_TRUE(warned(model,
                     "rope_theta, rope_scaling.rope_type, rope_scaling.factor have no effect: no layer of this "
                     "model rotates"));
  EXPECT_EQ(note_of(model.ignored, "rope_theta")->reason, "no layer of this model rotates");
  const ModelRopes towerless =
      must_read(file("qwen2_vl", {{"vision_config", {{"depth", 0}, {"embed_dim", 1280}, {"num_heads", 16}}}}));
  EXPECT_TRUE(warned(towerless, "vision_config.depth is 0: the tower has no layers"));
  EXPECT_EQ(towerless.ropes.size(), 1u);
}

TEST(HfLedger, KeysWithoutEffectForOneReasonMakeOneWarning) {
  const ModelRopes model = must_read(file("hunyuan", {{"rotary_a", 2}, {"rope_b", "x"}, {"theta_c", {1, 2}}}));
  ASSERT_EQ(model.warnings.size(), 1u);
  EXPECT_EQ(model.warnings[0], "config.json: rotary_a, rope_b, theta_c have no effect: not a key of this model type");
  EXPECT_EQ(model.ignored.size(), 3u);
}

// Expected from Cohere2MoeConfig and Cohere2MoeAttention of transformers 5.24: full attention rotates only in dense
// layers, and those only where the prefix has no pattern of its own.
TEST(HfDense, LayersOfCohere2MoeRotate) {
  const auto unturned = [](const Json& more) {
    Json config = file("cohere2_moe", {{"num_hidden_layers", 8}});
    config.update(more);
    return must_read(config).layers_without_rope;
  };
  using Layers = std::vector<int>;
  EXPECT_EQ(unturned(Json::object()), (Layers{3, 7}));
  EXPECT_EQ(unturned({{"first_k_dense_replace", 2}}), (Layers{5}));
  EXPECT_EQ(unturned({{"first_k_dense_replace", 4}, {"prefix_dense_sliding_window_pattern", 2}}), (Layers{1, 3, 7}));
  const Json kinds = {"full_attention", "full_attention",    "sliding_attention", "sliding_attention",
                      "full_attention", "sliding_attention", "full_attention",    "full_attention"};
  const Json mlps = {"dense", "dense", "sparse", "sparse", "sparse", "sparse", "dense", "sparse"};
  EXPECT_EQ(unturned({{"layer_types", kinds}, {"mlp_layer_types", mlps}}), (Layers{4, 7}));
  EXPECT_EQ(unturned({{"layer_types", kinds}, {"mlp_layer_types", mlps}, {"prefix_dense_sliding_window_pattern", 4}}),
            (Layers{0, 1, 4, 6, 7}));
}

// What a type's code takes where the file says nothing.
TEST(HfDefaults, AreAllListed) {
  const auto expect_default = [](const Json& config, const std::string& key, const std::string& value) {
    const ModelRopes model = must_read(config);
    const auto* note = note_of(model.defaults, key);
    ASSERT_NE(note, nullptr) << key;
    EXPECT_EQ(note->value, value) << key;
  };
  expect_default(file("deepseek_v3"), "rope_interleave", "true");
  expect_default(file("unheard_of"), "rope_interleave", "false");
  expect_default(file("esm"), "position_embedding_type", "null");
  expect_default(scaled("llama", {{"rope_type", "proportional"}}), "rope_scaling.partial_rotary_factor", "1.0");
  expect_default(scaled("llama", {{"rope_type", "proportional"}}), "rope_scaling.factor", "1.0");
  expect_default(file("llama4_text"), "attn_scale", "0.1");
  expect_default(file("llama4_text"), "floor_scale", "8192.0");
  expect_default(file("llama4_text"), "attn_temperature_tuning", "true");
}

}  // namespace
}  // namespace ropecache
