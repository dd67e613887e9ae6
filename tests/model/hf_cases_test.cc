// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Failures that people met in other projects, as configs: the reader must not repeat them. The numbers are those of the
// project's collection of public reports.
#include <gtest/gtest.h>

#include <cmath>
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

ModelRopes must_read(const Json& config, const ReadOptions& options = {}) {
  const auto result = hf_test::read(config, options);
  EXPECT_TRUE(result.ok()) << result.status().message();
  return *result;
}

std::string error_of(const Json& config) {
  const auto result = hf_test::read(config);
  EXPECT_FALSE(result.ok()) << config;
  return result.status().message();
}

double frequency(const ModelRope* rope, int pair) {
  if (rope == nullptr || pair >= rope->rope.pairs()) return std::nan("");
  return rope->rope.frequencies[static_cast<std::size_t>(pair)].to_double();
}

// Ten significant digits, as the reports give them.
void expect_digits(double found, double expected) { EXPECT_NEAR(found, expected, 6e-10 * std::fabs(expected)); }

const Json kMla = {{"num_hidden_layers", 2},  {"num_attention_heads", 8}, {"hidden_size", 1024},
                   {"qk_nope_head_dim", 128}, {"qk_rope_head_dim", 64},   {"max_position_embeddings", 163840}};

Json mla(const std::string& type, const Json& more = Json::object()) {
  Json config = kMla;
  config["model_type"] = type;
  config.update(more);
  return config;
}

Json plain(const std::string& type, const Json& more = Json::object()) {
  Json config = {{"model_type", type},
                 {"num_hidden_layers", 2},
                 {"num_attention_heads", 32},
                 {"hidden_size", 4096},
                 {"max_position_embeddings", 131072}};
  config.update(more);
  return config;
}

Json scaled(const Json& block, const std::string& type = "llama") {
  return plain(type, {{"rope_theta", 1e6}, {"rope_scaling", block}});
}

const YarnScaling& yarn_of(const ModelRope& rope) {
  static const YarnScaling kNone;
  const auto* yarn = std::get_if<YarnScaling>(&rope.config.scaling);
  EXPECT_NE(yarn, nullptr);
  return yarn == nullptr ? kNone : *yarn;
}

TEST(HfCases, B7_GlmIndexerFollowsItsOwnSwitch) {
  const Json both = {{"rope_interleave", true}, {"indexer_rope_interleave", true}, {"index_head_dim", 128}};
  const ModelRopes glm = must_read(mla("glm_moe_dsa", both));
  EXPECT_EQ(rope_at(glm, 0)->config.pairing, Pairing::kInterleaved);
  EXPECT_EQ(rope_at(glm, 0, Role::kIndexer)->config.pairing, Pairing::kInterleaved);
  Json half = both;
  half["indexer_rope_interleave"] = false;
  const ModelRopes other = must_read(mla("glm_moe_dsa", half));
  EXPECT_EQ(rope_at(other, 0)->config.pairing, Pairing::kInterleaved);
  EXPECT_EQ(rope_at(other, 0, Role::kIndexer)->config.pairing, Pairing::kHalf);
}

TEST(HfCases, B8_DeepSeekV32IndexerIsHalfBesideInterleavedAttention) {
  const ModelRopes model = must_read(mla("deepseek_v32", {{"index_head_dim", 128}}));
  const ModelRope* attention = rope_at(model, 0);
  const ModelRope* indexer = rope_at(model, 0, Role::kIndexer);
  ASSERT_TRUE(attention && indexer);
  EXPECT_EQ(attention->config.pairing, Pairing::kInterleaved);
  EXPECT_EQ(indexer->config.pairing, Pairing::kHalf);
  EXPECT_EQ(attention->config.rotary_dim, 64);
  EXPECT_EQ(indexer->config.rotary_dim, 64);
  EXPECT_EQ(indexer->config.head_dim, 128);
  EXPECT_EQ(indexer->config.rotary_offset, 0);
  EXPECT_EQ(attention->rope.frequencies, indexer->rope.frequencies);
}

TEST(HfCases, B13_MscalesOfOneCancelInTheTable) {
  const Json ministral = {{"rope_type", "yarn"},
                          {"factor", 16},
                          {"mscale", 1},
                          {"mscale_all_dim", 1},
                          {"original_max_position_embeddings", 16384},
                          {"rope_theta", 1e6}};
  EXPECT_EQ(rope_at(must_read(plain("ministral3", {{"rope_parameters", ministral}})), 0)->rope.magnitude, Real::one());
  const Json v2 = {{"type", "yarn"},
                   {"factor", 40},
                   {"mscale", 0.707},
                   {"mscale_all_dim", 0.707},
                   {"original_max_position_embeddings", 4096}};
  EXPECT_EQ(rope_at(must_read(scaled(v2)), 0)->rope.magnitude, Real::one());
}

TEST(HfCases, B14_TableMagnitudeAndSoftmaxScaleAreTwoNumbers) {
  const auto read = [](double mscale) {
    return must_read(mla("deepseek_v3", {{"rope_scaling",
                                          {{"type", "yarn"},
                                           {"factor", 40},
                                           {"mscale", mscale},
                                           {"mscale_all_dim", mscale},
                                           {"original_max_position_embeddings", 4096}}}}));
  };
  const ModelRopes v3 = read(1.0);
  EXPECT_EQ(rope_at(v3, 0)->rope.magnitude, Real::one());
  expect_digits(rope_at(v3, 0)->rope.softmax_scale_multiplier.to_double(), 1.8738542071);
  const ModelRopes v2 = read(0.707);
  EXPECT_EQ(rope_at(v2, 0)->rope.magnitude, Real::one());
  EXPECT_NEAR(rope_at(v2, 0)->rope.softmax_scale_multiplier.to_double(), 1.58962617, 5e-9);
}

TEST(HfCases, B16_ExplicitAttentionFactorWins) {
  Json block = {
      {"rope_type", "yarn"}, {"factor", 64}, {"attention_factor", 1.0}, {"original_max_position_embeddings", 4096}};
  EXPECT_EQ(rope_at(must_read(scaled(block)), 0)->rope.magnitude, Real::one());
  block["attention_factor"] = nullptr;
  expect_digits(rope_at(must_read(scaled(block)), 0)->rope.magnitude.to_double(), 1.4158883083);
  block["attention_factor"] = 1.2079441541679836;
  EXPECT_EQ(rope_at(must_read(scaled(block)), 0)->rope.magnitude.to_double(), 1.2079441541679836);
}

TEST(HfCases, B17_TruncateFalseKeepsTheFractionalRange) {
  Json config = plain("gpt_oss", {{"head_dim", 64}, {"rope_theta", 150000}});
  config["rope_scaling"] = {{"rope_type", "yarn"},
                            {"factor", 32},
                            {"beta_fast", 32},
                            {"beta_slow", 1},
                            {"original_max_position_embeddings", 4096},
                            {"truncate", false}};
  const ModelRopes open = must_read(config);
  expect_digits(frequency(rope_at(open, 0), 9), 0.03170569618);
  expect_digits(frequency(rope_at(open, 0), 12), 0.00679495949);
  expect_digits(frequency(rope_at(open, 0), 16), 0.0004564839192);
  expect_digits(frequency(rope_at(open, 0), 17), 0.0001293187012);
  config["rope_scaling"]["truncate"] = true;
  const ModelRopes cut = must_read(config);
  expect_digits(frequency(rope_at(cut, 0), 9), 0.03162075228);
  expect_digits(frequency(rope_at(cut, 0), 17), 0.0002279477958);
}

TEST(HfCases, B22_ExplicitFactorBeatsTheLengthRatio) {
  const ModelRopes model = must_read(
      plain("qwen3",
            {{"max_position_embeddings", 40960},
             {"head_dim", 128},
             {"rope_theta", 1e6},
             {"rope_scaling", {{"rope_type", "yarn"}, {"factor", 4.0}, {"original_max_position_embeddings", 32768}}}}));
  EXPECT_EQ(yarn_of(*rope_at(model, 0)).factor, 4.0);
  expect_digits(rope_at(model, 0)->rope.magnitude.to_double(), 1.1386294361);
  EXPECT_TRUE(warned(model, "rope_scaling.factor is 4 but max_position_embeddings / original is 1.25"));
}

TEST(HfCases, B23_VendorSpellingsOfYarn) {
  const Json block = {{"factor", 4.0}, {"original_max_position_embeddings", 8192}};
  Json telechat = block;
  telechat["type"] = "telechat3-yarn";
  const ModelRopes model =
      must_read(plain("unheard_of", {{"max_position_embeddings", 32768}, {"rope_scaling", telechat}}));
  EXPECT_EQ(model.context, 32768);
  EXPECT_EQ(yarn_of(*rope_at(model, 0)).slope, 0.07);
  expect_digits(rope_at(model, 0)->rope.magnitude.to_double(), 0.07 * std::log(4.0) + 1);
  Json deepseek = block;
  deepseek["type"] = "deepseek_yarn";
  deepseek["factor"] = 40;
  const ModelRopes other = must_read(plain("unheard_of", {{"rope_scaling", deepseek}}));
  EXPECT_EQ(other.context, 131072);
  EXPECT_EQ(yarn_of(*rope_at(other, 0)).slope, 0.1);
}

TEST(HfCases, B23_UnknownTypeIsAnErrorThatNamesTheKnownOnes) {
  const std::string error = error_of(scaled({{"rope_type", "yarn3"}, {"factor", 4}}));
  EXPECT_NE(error.find("config.json: rope_scaling.rope_type: \"yarn3\", expected one of default"), error.npos) << error;
  EXPECT_NE(error.find("longrope"), error.npos);
}

TEST(HfCases, B28_EveryScalingKeepsTheBase) {
  const std::vector<double> list(64, 2.0);
  const std::vector<Json> blocks = {
      {{"type", "linear"}, {"factor", 2}},
      {{"type", "dynamic"}, {"factor", 2}},
      {{"type", "dynamic"}, {"alpha", 1000}},
      {{"type", "ntk"}, {"factor", 2}},
      {{"type", "yarn"}, {"factor", 2}, {"original_max_position_embeddings", 65536}},
      {{"rope_type", "llama3"},
       {"factor", 8},
       {"low_freq_factor", 1},
       {"high_freq_factor", 4},
       {"original_max_position_embeddings", 8192}},
      {{"type", "longrope"}, {"short_factor", list}, {"long_factor", list}, {"original_max_position_embeddings", 4096}},
      {{"rope_type", "proportional"}, {"partial_rotary_factor", 0.5}},
  };
  for (const Json& block : blocks) {
    Json config = scaled(block);
    const ModelRopes million = must_read(config);
    config["rope_theta"] = 1e4;
    const ModelRopes usual = must_read(config);
    EXPECT_EQ(million.ropes.front().config.theta, 1e6);
    EXPECT_NE(frequency(rope_at(million, 0), 1), frequency(rope_at(usual, 0), 1)) << block;
  }
}

TEST(HfCases, B35_ScalingOfANestedTextConfigIsApplied) {
  const Json llama3 = {{"rope_type", "llama3"},
                       {"factor", 8.0},
                       {"high_freq_factor", 4.0},
                       {"low_freq_factor", 1.0},
                       {"original_max_position_embeddings", 8192}};
  const Json text = {{"model_type", "mllama_text_model"},
                     {"hidden_size", 4096},
                     {"num_attention_heads", 32},
                     {"num_hidden_layers", 40},
                     {"rope_theta", 5e5},
                     {"rope_scaling", llama3},
                     {"cross_attention_layers", {3, 8, 13, 18, 23, 28, 33, 38}},
                     {"max_position_embeddings", 131072}};
  const ModelRopes model = must_read({{"model_type", "mllama"}, {"text_config", text}});
  const ModelRope* rope = rope_at(model, 0);
  EXPECT_TRUE(std::holds_alternative<Llama3Scaling>(rope->config.scaling));
  // B31 gives the frequencies of this rope.
  expect_digits(frequency(rope, 29), 2.1665707635e-3);
  expect_digits(frequency(rope, 34), 1.78507812768e-4);
  EXPECT_EQ(model.layers_without_rope, (std::vector<int>{3, 8, 13, 18, 23, 28, 33, 38}));
}

TEST(HfCases, B38_ThetaIsWhatTheFileSays) {
  expect_digits(frequency(rope_at(must_read(plain("llama", {{"rope_theta", 1e6}})), 0), 1), 0.8058421878);
  expect_digits(frequency(rope_at(must_read(plain("llama")), 0), 1), 0.8659643234);
  expect_digits(frequency(rope_at(must_read(plain("llama", {{"rope_theta", "1e6"}})), 0), 1), 0.8058421878);
}

TEST(HfCases, B41_LowEqualToHighIsAHardStep) {
  const Json block = {{"rope_type", "llama3"},
                      {"factor", 16},
                      {"low_freq_factor", 1},
                      {"high_freq_factor", 1},
                      {"original_max_position_embeddings", 8192}};
  const ModelRopes scout =
      must_read(plain("llama4_text", {{"head_dim", 128}, {"rope_theta", 5e5}, {"rope_scaling", block}}));
  const ModelRopes bare = must_read(plain("llama4_text", {{"head_dim", 128}, {"rope_theta", 5e5}}));
  for (int pair = 0; pair < 64; ++pair) {
    const double divisor = pair < 35 ? 1 : 16;
    EXPECT_NEAR(frequency(rope_at(scout, 0), pair) * divisor / frequency(rope_at(bare, 0), pair), 1, 1e-15) << pair;
  }
}

TEST(HfCases, B53_DynamicNtkOfInternlm3) {
  const Json config = plain("internlm3", {{"head_dim", 128},
                                          {"rope_theta", 5e7},
                                          {"max_position_embeddings", 32768},
                                          {"rope_scaling", {{"rope_type", "dynamic"}, {"factor", 6.0}}}});
  ReadOptions options;
  options.length = 65536;
  const double base = std::pow(frequency(rope_at(must_read(config, options), 0), 1), -64.0);
  EXPECT_NEAR(base, 360979300.43, 0.01);
  options.length = 32768;
  EXPECT_NEAR(std::pow(frequency(rope_at(must_read(config, options), 0), 1), -64.0), 5e7, 1e-4);
}

TEST(HfCases, B55_PartialDefaultOfTheModelType) {
  const ModelRopes glm = must_read(plain("glm", {{"head_dim", 128}}));
  EXPECT_EQ(rope_at(glm, 0)->config.rotary_dim, 64);
  ASSERT_NE(note_of(glm.defaults, "partial_rotary_factor"), nullptr);
  EXPECT_EQ(note_of(glm.defaults, "partial_rotary_factor")->value, "0.5");
  const ModelRopes phi = must_read(plain("phi3", {{"partial_rotary_factor", 0.5}}));
  EXPECT_EQ(rope_at(phi, 0)->config.rotary_dim, 64);
  const ModelRopes foreign = must_read(plain("unheard_of", {{"head_dim", 128}, {"partial_rotary_factor", 0.5}}));
  EXPECT_EQ(rope_at(foreign, 0)->config.rotary_dim, 64);
}

TEST(HfCases, B55_WidthDefaultOfGptJ) {
  EXPECT_EQ(rope_at(must_read({{"model_type", "gptj"}, {"n_layer", 2}, {"n_head", 16}, {"n_embd", 4096}}), 0)
                ->config.rotary_dim,
            64);
  EXPECT_EQ(
      rope_at(must_read(
                  {{"model_type", "gptj"}, {"n_layer", 2}, {"n_head", 16}, {"n_embd", 4096}, {"rotary_dim", nullptr}}),
              0)
          ->config.rotary_dim,
      256);
}

TEST(HfCases, B56_FactorOfTheLinearHeadsIsNotAppliedToTheSplitHead) {
  Json config = mla("bailing_hybrid", {{"architectures", {"BailingMoeV2_5ForCausalLM"}},
                                       {"head_dim", 128},
                                       {"partial_rotary_factor", 0.5},
                                       {"num_hidden_layers", 32},
                                       {"layer_group_size", 8},
                                       {"rope_theta", 6e6}});
  const ModelRopes model = must_read(config);
  const ModelRope* attention = rope_at(model, 7);
  ASSERT_NE(attention, nullptr);
  EXPECT_EQ(attention->layers, (std::vector<int>{7, 15, 23, 31}));
  EXPECT_EQ(attention->config.rotary_dim, 64);
  EXPECT_EQ(attention->config.rotary_offset, 128);
  const ModelRope* linear = rope_at(model, 0, Role::kLinearAttention);
  ASSERT_NE(linear, nullptr);
  EXPECT_EQ(linear->config.head_dim, 128);
  EXPECT_EQ(linear->config.rotary_dim, 64);
  EXPECT_EQ(linear->layers.size(), 28u);
}

TEST(HfCases, B58_ExponentRunsOverTheTurningPart) {
  const Json block = {{"rope_type", "default"}, {"rope_theta", 1e7}, {"partial_rotary_factor", 0.25}};
  const ModelRopes model = must_read(
      plain("qwen3_5_text",
            {{"head_dim", 256}, {"layer_types", {"full_attention", "full_attention"}}, {"rope_parameters", block}}));
  EXPECT_EQ(rope_at(model, 0)->config.rotary_dim, 64);
  expect_digits(frequency(rope_at(model, 0), 1), 0.6042963902);
  expect_digits(frequency(rope_at(model, 0), 16), 3.16227766e-4);
}

TEST(HfCases, B59_ProportionalIsNotPartial) {
  const Json full = {{"rope_type", "proportional"}, {"partial_rotary_factor", 0.25}, {"rope_theta", 1e6}};
  const Json sliding = {{"rope_type", "default"}, {"rope_theta", 1e4}};
  const ModelRopes model = must_read(
      plain("gemma4_text", {{"head_dim", 256},
                            {"global_head_dim", 512},
                            {"layer_types", {"sliding_attention", "full_attention"}},
                            {"rope_parameters", {{"full_attention", full}, {"sliding_attention", sliding}}}}));
  const ModelRope* global = rope_at(model, 1);
  EXPECT_EQ(global->config.rotary_dim, 512);
  EXPECT_EQ(global->config.pairing, Pairing::kHalf);
  expect_digits(frequency(global, 1), 0.9474635257);
  expect_digits(frequency(global, 63), 0.03337624694);
  EXPECT_TRUE(global->rope.frequencies[64].is_zero());
  EXPECT_EQ(rope_at(model, 0)->config.head_dim, 256);
}

std::string axes_of(const ModelRopes& model) {
  std::string text;
  for (const std::uint8_t axis : rope_at(model, 0)->rope.axes) text += "thw"[axis];
  return text;
}

std::string repeat(const std::string& word, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += word;
  return out;
}

TEST(HfCases, B68_InterleavedAndSectionedAxes) {
  const Json block = {{"rope_type", "default"}, {"mrope_section", {24, 20, 20}}, {"mrope_interleaved", true}};
  const ModelRopes vl = must_read(plain("qwen3_vl_text", {{"head_dim", 128}, {"rope_parameters", block}}));
  EXPECT_EQ(axes_of(vl), repeat("thw", 20) + "tttt");
  const Json older = {{"type", "mrope"}, {"mrope_section", {16, 24, 24}}};
  const ModelRopes qwen2 = must_read(plain("qwen2_vl", {{"rope_scaling", older}}));
  EXPECT_EQ(axes_of(qwen2), std::string(16, 't') + std::string(24, 'h') + std::string(24, 'w'));
  const Json small = {{"rope_type", "default"},
                      {"mrope_section", {11, 11, 10}},
                      {"mrope_interleaved", true},
                      {"partial_rotary_factor", 0.25}};
  const ModelRopes qwen35 =
      must_read(plain("qwen3_5_text", {{"head_dim", 256}, {"full_attention_interval", 1}, {"rope_parameters", small}}));
  EXPECT_EQ(axes_of(qwen35), repeat("thw", 10) + "th");
}

TEST(HfCases, B70_InterleavedAxesAreNotInterleavedPairs) {
  const Json block = {{"rope_type", "default"},
                      {"mrope_section", {11, 11, 10}},
                      {"mrope_interleaved", true},
                      {"partial_rotary_factor", 0.25}};
  const ModelRopes model =
      must_read(plain("qwen3_5_text", {{"head_dim", 256}, {"full_attention_interval", 1}, {"rope_parameters", block}}));
  EXPECT_EQ(rope_at(model, 0)->config.pairing, Pairing::kHalf);
  EXPECT_EQ(rope_at(model, 0)->config.axes.layout, AxisLayout::kInterleaved);
}

Json gemma3(int layers) {
  return {{"model_type", "gemma3_text"},
          {"hidden_size", 2560},
          {"num_attention_heads", 8},
          {"num_hidden_layers", layers},
          {"head_dim", 256},
          {"rope_theta", 1e6},
          {"rope_local_base_freq", 1e4},
          {"sliding_window_pattern", 6},
          {"rope_scaling", {{"rope_type", "linear"}, {"factor", 8.0}}}};
}

TEST(HfCases, B76_Gemma3ScalesGlobalLayersOnly) {
  const ModelRopes model = must_read(gemma3(34));
  for (int layer = 0; layer < 34; ++layer) {
    const bool global = (layer + 1) % 6 == 0;
    EXPECT_EQ(800 * frequency(rope_at(model, layer), 0), global ? 100 : 800) << layer;
    EXPECT_EQ(rope_at(model, layer)->config.theta, global ? 1e6 : 1e4) << layer;
  }
}

TEST(HfCases, B77_Olmo3ScalesFullLayersOnlyAndSaysSo) {
  const Json block = {{"rope_type", "yarn"},
                      {"factor", 8.0},
                      {"original_max_position_embeddings", 8192},
                      {"attention_factor", 1.2079441541679836}};
  const Json config = plain(
      "olmo3",
      {{"num_hidden_layers", 4}, {"max_position_embeddings", 65536}, {"rope_theta", 500000}, {"rope_scaling", block}});
  const ModelRopes model = must_read(config);
  EXPECT_EQ(rope_at(model, 3)->group, "full_attention");
  EXPECT_EQ(yarn_of(*rope_at(model, 3)).factor, 8.0);
  EXPECT_EQ(rope_at(model, 3)->rope.magnitude.to_double(), 1.2079441541679836);
  EXPECT_EQ(rope_at(model, 0)->group, "sliding_attention");
  EXPECT_TRUE(std::holds_alternative<std::monostate>(rope_at(model, 0)->config.scaling));
  EXPECT_EQ(rope_at(model, 0)->rope.magnitude, Real::one());
  EXPECT_EQ(rope_at(model, 0)->config.theta, 500000);
}

TEST(HfCases, B79_NestedAndFlatForms) {
  const Json v4 = {
      {"model_type", "deepseek_v4"},
      {"num_hidden_layers", 3},
      {"head_dim", 512},
      {"qk_rope_head_dim", 64},
      {"num_attention_heads", 8},
      {"hidden_size", 4096},
      {"max_position_embeddings", 1048576},
      {"layer_types", {"sliding_attention", "compressed_sparse_attention", "heavily_compressed_attention"}},
      {"rope_parameters",
       {{"main", {{"rope_type", "default"}, {"rope_theta", 10000}}},
        {"compress",
         {{"rope_type", "yarn"},
          {"rope_theta", 160000},
          {"factor", 16},
          {"original_max_position_embeddings", 65536}}}}}};
  const ModelRopes compressed = must_read(v4);
  EXPECT_EQ(rope_at(compressed, 0)->group, "main");
  EXPECT_EQ(rope_at(compressed, 0)->config.theta, 10000);
  EXPECT_EQ(rope_at(compressed, 1)->config.theta, 160000);
  EXPECT_EQ(rope_at(compressed, 2)->rope.magnitude, Real::one());
  EXPECT_EQ(rope_at(compressed, 1), rope_at(compressed, 2));

  Json nested = gemma3(6);
  for (const char* key : {"rope_theta", "rope_local_base_freq", "rope_scaling"}) nested.erase(key);
  nested["rope_parameters"] = {{"full_attention", {{"rope_type", "linear"}, {"factor", 8}, {"rope_theta", 1e6}}},
                               {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", 1e4}}}};
  const ModelRopes flat = must_read(gemma3(6));
  const ModelRopes other = must_read(nested);
  for (int layer = 0; layer < 6; ++layer) EXPECT_EQ(rope_at(flat, layer)->rope, rope_at(other, layer)->rope);
}

TEST(HfCases, B80_Step35ListsPerLayerAndScalingByKind) {
  std::vector<std::string> kinds;
  std::vector<double> thetas;
  std::vector<double> partials;
  for (int layer = 0; layer < 11; ++layer) {  // 8 layers and 3 of MTP
    const bool full = layer % 4 == 0 && layer < 8;
    kinds.emplace_back(full ? "full_attention" : "sliding_attention");
    thetas.push_back(full ? 5e6 : 1e4);
    partials.push_back(full ? 0.5 : 1.0);
  }
  const Json block = {{"rope_type", "llama3"},
                      {"factor", 2.0},
                      {"low_freq_factor", 1.0},
                      {"high_freq_factor", 32.0},
                      {"original_max_position_embeddings", 131072}};
  const ModelRopes model = must_read(plain("step3p5", {{"num_hidden_layers", 8},
                                                       {"head_dim", 128},
                                                       {"layer_types", kinds},
                                                       {"rope_theta", thetas},
                                                       {"partial_rotary_factors", partials},
                                                       {"yarn_only_types", {"full_attention"}},
                                                       {"rope_scaling", block}}));
  EXPECT_EQ(model.layers, 8);
  EXPECT_EQ(model.mtp, 3);
  const ModelRope* full = rope_at(model, 0);
  EXPECT_EQ(full->layers, (std::vector<int>{0, 4}));
  EXPECT_EQ(full->config.rotary_dim, 64);
  EXPECT_EQ(full->config.theta, 5e6);
  EXPECT_TRUE(std::holds_alternative<Llama3Scaling>(full->config.scaling));
  const ModelRope* sliding = rope_at(model, 1);
  EXPECT_EQ(sliding->config.rotary_dim, 128);
  EXPECT_EQ(sliding->config.theta, 1e4);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(sliding->config.scaling));
  EXPECT_EQ(sliding->mtp_layers, (std::vector<int>{8, 9, 10}));
}

TEST(HfCases, B83_SmolLm3LeavesEveryFourthLayerUnturned) {
  const std::vector<int> bare = {3, 7, 11, 15, 19, 23, 27, 31, 35};
  std::vector<int> list;
  for (int layer = 0; layer < 36; ++layer) list.push_back((layer + 1) % 4 != 0 ? 1 : 0);
  EXPECT_EQ(must_read(plain("smollm3", {{"num_hidden_layers", 36}, {"no_rope_layers", list}})).layers_without_rope,
            bare);
  EXPECT_EQ(must_read(plain("smollm3", {{"num_hidden_layers", 36}, {"no_rope_layer_interval", 4}})).layers_without_rope,
            bare);
  EXPECT_EQ(must_read(plain("smollm3", {{"num_hidden_layers", 36}})).layers_without_rope, bare);
}

TEST(HfCases, B88_OrderOfKeysAndSpellingOfNumbersDoNotMatter) {
  const auto read = [](const char* block) {
    Json config = plain("llama", {{"rope_theta", 1e6}});
    config["rope_scaling"] = Json::parse(block);
    return must_read(config).ropes.front().rope;
  };
  const Rope one = read(R"({"type":"yarn","factor":4,"original_max_position_embeddings":32768,"beta_fast":32})");
  EXPECT_EQ(read(R"({"beta_fast":32.0,"original_max_position_embeddings":32768.0,"factor":4.0,"type":"yarn"})"), one);
  EXPECT_EQ(read(R"({"rope_type":"yarn","factor":"4","original_max_position_embeddings":"32768","beta_fast":3.2e1})"),
            one);
}

TEST(HfCases, B94_RopesBelongToLayersAndRoles) {
  const ModelRopes model = must_read(gemma3(12));
  EXPECT_EQ(model.ropes.size(), 2u);
  EXPECT_NE(rope_at(model, 3), rope_at(model, 5));
  EXPECT_NE(rope_at(model, 3)->rope.frequencies, rope_at(model, 5)->rope.frequencies);
}

TEST(HfCases, B106_HugeContextCostsNothing) {
  const ModelRopes model = must_read(plain("llama", {{"max_position_embeddings", 10485760}}));
  EXPECT_EQ(model.context, 10485760);
  EXPECT_EQ(rope_at(model, 0)->rope, rope_at(must_read(plain("llama")), 0)->rope);
}

TEST(HfCases, B124_MtpLayersRotateAsTheDecoder) {
  const ModelRopes model = must_read(
      mla("deepseek_v3",
          {{"num_nextn_predict_layers", 1},
           {"rope_scaling", {{"type", "yarn"}, {"factor", 40}, {"original_max_position_embeddings", 4096}}}}));
  EXPECT_EQ(model.mtp, 1);
  EXPECT_EQ(rope_at(model, 2), rope_at(model, 0));
  EXPECT_EQ(rope_at(model, 2)->mtp_layers, (std::vector<int>{2}));
}

}  // namespace
}  // namespace ropecache
