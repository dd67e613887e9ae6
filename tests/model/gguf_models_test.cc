// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// GGUF files as converters write them for real models, against the same facts that the config.json tests use
// (tests/data/models-expected.json).
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/gguf_writer.h"
#include "ropecache/model.h"
#include "ropecache/table.h"

namespace ropecache {
namespace {

using nlohmann::json;
using test::gguf_model;
using test::GgufWriter;

struct Sample {
  std::string slug;
  GgufWriter file;
  double magnitude = 0;  // of the last rope group, where the facts give a formula; 0: as they say
  int mtp = 0;
};

std::vector<int> pattern(int layers, int period, bool dense_first = false) {
  std::vector<int> out;
  for (int layer = 0; layer < layers; ++layer) {
    out.push_back(layer % period == (dense_first ? 0 : period - 1) ? 0 : 1);
  }
  return out;
}

// Divisors as the converters bake a llama3 scaling into rope_freqs.
std::vector<float> llama3_divisors(int width, double base, double factor, double low, double high, double original) {
  std::vector<float> out;
  for (int i = 0; i < width / 2; ++i) {
    const double wavelength = 2 * M_PI * std::pow(base, 2.0 * i / width);
    if (wavelength < original / high) {
      out.push_back(1);
    } else if (wavelength > original / low) {
      out.push_back(static_cast<float>(factor));
    } else {
      const double smooth = (original / wavelength - low) / (high - low);
      out.push_back(static_cast<float>(1 / ((1 - smooth) / factor + smooth)));
    }
  }
  return out;
}

std::vector<float> proportional_divisors(int pairs, int turning) {
  std::vector<float> out(static_cast<std::size_t>(pairs), 1e30f);
  std::fill(out.begin(), out.begin() + turning, 1.0f);
  return out;
}

std::vector<Sample> samples() {
  std::vector<Sample> out;
  const auto add = [&](std::string slug, GgufWriter file, double magnitude = 0, int mtp = 0) {
    out.push_back({std::move(slug), std::move(file), magnitude, mtp});
  };
  add("llama-2-7b",
      gguf_model("llama", 32, 4096, 32, 4096).f32("rope.freq_base", 10000).u32("rope.dimension_count", 128));
  add("llama-3-8b",
      gguf_model("llama", 32, 4096, 32, 8192).f32("rope.freq_base", 500000).u32("rope.dimension_count", 128));
  add("llama-3.1-8b", gguf_model("llama", 32, 4096, 32, 131072)
                          .f32("rope.freq_base", 500000)
                          .u32("rope.dimension_count", 128)
                          .tensor("rope_freqs.weight", llama3_divisors(128, 500000, 8, 1, 4, 8192)));
  add("llama-2-7b-32k", gguf_model("llama", 32, 4096, 32, 32768)
                            .f32("rope.freq_base", 10000)
                            .text("rope.scaling.type", "linear")
                            .f32("rope.scaling.factor", 8));
  add("falcon3-7b", gguf_model("llama", 28, 3072, 12, 32768)
                        .f32("rope.freq_base", 1000042)
                        .u32("attention.key_length", 256)
                        .u32("rope.dimension_count", 256));
  add("mistral-7b-v0.3",
      gguf_model("llama", 32, 4096, 32, 32768).f32("rope.freq_base", 1e6f).u32("attention.sliding_window", 4096));
  add("qwen2-0.5b", gguf_model("qwen2", 24, 896, 14, 32768).f32("rope.freq_base", 1e6f));
  add("qwen3-0.6b",
      gguf_model("qwen3", 28, 1024, 16, 40960).f32("rope.freq_base", 1e6f).u32("attention.key_length", 128));
  add("qwen3-30b-a3b",
      gguf_model("qwen3moe", 48, 2048, 32, 40960).f32("rope.freq_base", 1e6f).u32("attention.key_length", 128));
  add("gemma-2-2b",
      gguf_model("gemma2", 26, 2304, 8, 8192).u32("attention.key_length", 256).u32("attention.sliding_window", 4096));
  add("gemma-3-4b", gguf_model("gemma3", 34, 2560, 8, 131072)
                        .u32("attention.key_length", 256)
                        .f32("rope.freq_base", 1e6f)
                        .u32("attention.sliding_window", 1024)
                        .text("rope.scaling.type", "linear")
                        .f32("rope.scaling.factor", 8));
  add("gemma-4-e4b", gguf_model("gemma4", 42, 2560, 8, 131072)
                         .u32("attention.key_length", 512)
                         .u32("attention.key_length_swa", 256)
                         .u32("rope.dimension_count", 512)
                         .u32("rope.dimension_count_swa", 256)
                         .f32("rope.freq_base", 1e6f)
                         .f32("rope.freq_base_swa", 10000)
                         .u32("attention.sliding_window", 512)
                         .flags("attention.sliding_window_pattern", pattern(42, 6))
                         .tensor("rope_freqs.weight", proportional_divisors(256, 64)));
  add("deepseek-v2-lite", gguf_model("deepseek2", 27, 2048, 16, 163840)
                              .u32("attention.key_length", 576)
                              .u32("attention.key_length_mla", 192)
                              .u32("rope.dimension_count", 64)
                              .f32("rope.freq_base", 10000)
                              .text("rope.scaling.type", "yarn")
                              .f32("rope.scaling.factor", 40)
                              .u32("rope.scaling.original_context_length", 4096)
                              .f32("rope.scaling.yarn_log_multiplier", 0.0707f));
  add("kimi-k2-0905", gguf_model("deepseek2", 61, 7168, 64, 262144)
                          .u32("attention.key_length", 192)
                          .u32("rope.dimension_count", 64)
                          .f32("rope.freq_base", 50000)
                          .text("rope.scaling.type", "yarn")
                          .f32("rope.scaling.factor", 64)
                          .u32("rope.scaling.original_context_length", 4096)
                          .f32("rope.scaling.yarn_log_multiplier", 0.1f));
  add("glm-4.5-air",
      gguf_model("glm4moe", 47, 4096, 96, 131072)
          .u32("nextn_predict_layers", 1)
          .u32("attention.key_length", 128)
          .u32("rope.dimension_count", 64)
          .f32("rope.freq_base", 1e6f),
      0, 1);
  add("glm-4.5v", gguf_model("glm4moe", 46, 4096, 96, 65536)
                      .u32("attention.key_length", 128)
                      .u32("rope.dimension_count", 64)
                      .f32("rope.freq_base", 10000)
                      .ints("rope.dimension_sections", {8, 12, 12, 0}));
  add("glm-4-9b-0414",
      gguf_model("glm4", 40, 4096, 32, 32768).u32("rope.dimension_count", 64).f32("rope.freq_base", 10000));
  add("gpt-oss-20b",
      gguf_model("gpt-oss", 24, 2880, 64, 131072)
          .u32("attention.key_length", 64)
          .u32("attention.sliding_window", 128)
          .f32("rope.freq_base", 150000)
          .text("rope.scaling.type", "yarn")
          .f32("rope.scaling.factor", 32)
          .u32("rope.scaling.original_context_length", 4096),
      1.3465735902799727);
  add("qwen2-vl-7b", gguf_model("qwen2vl", 28, 3584, 28, 32768)
                         .f32("rope.freq_base", 1e6f)
                         .ints("rope.dimension_sections", {16, 24, 24, 0}));
  add("qwen3-vl-2b", gguf_model("qwen3vl", 28, 2048, 16, 262144)
                         .f32("rope.freq_base", 5e6f)
                         .ints("rope.dimension_sections", {24, 20, 20, 0}));
  add("qwen3.5-4b",
      gguf_model("qwen35", 33, 2560, 16, 262144)
          .u32("nextn_predict_layers", 1)
          .u32("full_attention_interval", 4)
          .u32("attention.key_length", 256)
          .u32("rope.dimension_count", 64)
          .f32("rope.freq_base", 1e7f)
          .ints("rope.dimension_sections", {11, 11, 10, 0}),
      0, 1);
  add("qwen3-next-80b-a3b", gguf_model("qwen3next", 48, 2048, 16, 262144)
                                .u32("attention.key_length", 256)
                                .u32("rope.dimension_count", 64)
                                .f32("rope.freq_base", 1e7f));
  add("ministral-3-3b-2512", gguf_model("mistral3", 26, 3072, 32, 262144)
                                 .u32("attention.key_length", 128)
                                 .f32("rope.freq_base", 1e6f)
                                 .text("rope.scaling.type", "yarn")
                                 .f32("rope.scaling.factor", 16)
                                 .u32("rope.scaling.original_context_length", 16384)
                                 .f32("rope.scaling.yarn_beta_fast", 32)
                                 .f32("rope.scaling.yarn_beta_slow", 1)
                                 .f32("rope.scaling.yarn_log_multiplier", 1)
                                 .f32("attention.temperature_scale", 0.1f));
  add("ling-mini-2.0", gguf_model("bailingmoe2", 20, 2048, 16, 32768)
                           .u32("attention.key_length", 128)
                           .u32("rope.dimension_count", 64)
                           .f32("rope.freq_base", 600000));
  add("ling-lite-1.5",
      gguf_model("bailingmoe", 28, 2048, 16, 32768).u32("attention.key_length", 128).f32("rope.freq_base", 600000));
  add("minimax-m2", gguf_model("minimax-m2", 62, 3072, 48, 196608)
                        .u32("attention.key_length", 128)
                        .u32("rope.dimension_count", 64)
                        .f32("rope.freq_base", 5e6f));
  add("olmo-2-7b", gguf_model("olmo2", 32, 4096, 32, 4096).f32("rope.freq_base", 500000));
  add("olmo-3-7b", gguf_model("olmo2", 32, 4096, 32, 65536)
                       .f32("rope.freq_base", 500000)
                       .u32("attention.sliding_window", 4096)
                       .flags("attention.sliding_window_pattern", pattern(32, 4))
                       .text("rope.scaling.type", "yarn")
                       .f32("rope.scaling.factor", 8)
                       .u32("rope.scaling.original_context_length", 8192)
                       .f32("rope.scaling.yarn_attn_factor", 1.2079442f));
  add("exaone-4.0-1.2b", gguf_model("exaone4", 30, 2048, 32, 65536)
                             .f32("rope.freq_base", 1e6f)
                             .tensor("rope_freqs.weight", llama3_divisors(64, 1e6, 16, 1, 4, 8192)));
  add("command-r7b",
      gguf_model("cohere2", 32, 4096, 32, 8192).f32("rope.freq_base", 50000).u32("attention.sliding_window", 4096));
  add("lfm2-1.2b", gguf_model("lfm2", 16, 2048, 32, 128000)
                       .f32("rope.freq_base", 1e6f)
                       .ints("attention.head_count_kv", {0, 0, 8, 0, 0, 8, 0, 0, 8, 0, 8, 0, 8, 0, 8, 0}));
  add("jamba-v0.1", gguf_model("jamba", 32, 4096, 32, 262144));
  add("smollm3-3b", gguf_model("smollm3", 36, 2048, 16, 65536).f32("rope.freq_base", 5e6f));
  add("llama-4-scout", gguf_model("llama4", 48, 5120, 40, 10485760)
                           .f32("rope.freq_base", 500000)
                           .tensor("rope_freqs.weight", llama3_divisors(128, 500000, 16, 1, 1, 8192)));
  add("modernbert-base-v5", gguf_model("modern-bert", 22, 768, 12, 8192)
                                .f32("rope.freq_base", 160000)
                                .f32("rope.freq_base_swa", 10000)
                                .u32("attention.sliding_window", 128)
                                .u32("attention.sliding_window_pattern", 3));
  add("nomic-embed-text-v1.5", gguf_model("nomic-bert", 12, 768, 12, 2048).f32("rope.freq_base", 1000));
  add("hunyuan-ocr", gguf_model("hunyuan_vl", 24, 1024, 16, 131072)
                         .u32("attention.key_length", 128)
                         .f32("rope.freq_base", 10000)
                         .f32("rope.scaling.alpha", 1000)
                         .ints("rope.dimension_sections", {16, 16, 16, 16}));
  add("hunyuan-7b", gguf_model("hunyuan-dense", 32, 4096, 32, 262144).f32("rope.freq_base", 11158840));
  add("phi-3.5-mini",
      gguf_model("phi3", 32, 3072, 32, 131072)
          .f32("rope.freq_base", 10000)
          .u32("rope.dimension_count", 96)
          .u32("rope.scaling.original_context_length", 4096)
          .f32("rope.scaling.attn_factor", 1.190238f)
          .tensor("rope_factors_long.weight", std::vector<float>(48, 2))
          .tensor("rope_factors_short.weight", std::vector<float>(48, 1)),
      1.190238);
  add("phi-2", gguf_model("phi2", 32, 2560, 32, 2048).u32("rope.dimension_count", 32));
  add("pythia-6.9b", gguf_model("gptneox", 32, 4096, 32, 2048).u32("rope.dimension_count", 32));
  add("stablelm-2-1.6b",
      gguf_model("stablelm", 24, 2048, 32, 4096).u32("rope.dimension_count", 16).f32("rope.freq_base", 10000));
  add("granite-3.3-8b", gguf_model("granite", 40, 4096, 32, 131072).f32("rope.freq_base", 1e7f));
  add("baichuan2-7b", gguf_model("baichuan", 32, 4096, 32, 4096).u32("rope.dimension_count", 128));
  add("internlm2-7b", gguf_model("internlm2", 32, 4096, 32, 32768).f32("rope.freq_base", 1e6f));
  add("deepseek-v4-flash",
      gguf_model("deepseek4", 44, 4096, 64, 1048576)
          .u32("nextn_predict_layers", 1)
          .u32("attention.key_length", 512)
          .u32("rope.dimension_count", 64)
          .f32("rope.freq_base", 10000)
          .f32("attention.compress_rope_freq_base", 160000)
          .ints("attention.compress_ratios",
                [] {
                  std::vector<int> ratios = {0, 0};
                  while (ratios.size() < 43) ratios.push_back(ratios.size() % 2 == 0 ? 4 : 128);
                  ratios.push_back(0);
                  return ratios;
                }())
          .text("rope.scaling.type", "yarn")
          .f32("rope.scaling.factor", 16)
          .u32("rope.scaling.original_context_length", 65536),
      0, 1);
  return out;
}

std::vector<int> parse_layers(const std::string& ranges) {
  std::vector<int> out;
  for (std::size_t at = 0; at < ranges.size();) {
    std::size_t used = 0;
    const int first = std::stoi(ranges.substr(at), &used);
    at += used;
    int last = first;
    if (at < ranges.size() && ranges[at] == '-') {
      last = std::stoi(ranges.substr(at + 1), &used);
      at += 1 + used;
    }
    for (int layer = first; layer <= last; ++layer) out.push_back(layer);
    if (at < ranges.size()) ++at;  // the comma
  }
  return out;
}

std::vector<int> without_mtp(const ModelRope& rope) {
  std::vector<int> out;
  for (const int layer : rope.layers) {
    if (std::find(rope.mtp_layers.begin(), rope.mtp_layers.end(), layer) == rope.mtp_layers.end()) out.push_back(layer);
  }
  return out;
}

json expected_models() {
  std::ifstream in(TEST_DATA "/models-expected.json");
  return json::parse(in);
}

void compare_rope(const json& facts, const ModelRope& rope) {
  EXPECT_EQ(without_mtp(rope), parse_layers(facts.at("layers")));
  EXPECT_EQ(rope.config.head_dim, facts.at("head_dim").get<int>());
  EXPECT_EQ(rope.config.rotary_dim, facts.at("rotary_dim").get<int>());
  const std::string pairing = facts.at("pairing_gguf");
  EXPECT_EQ(rope.config.pairing, pairing == "NORM" ? Pairing::kInterleaved : Pairing::kHalf) << pairing;
  EXPECT_EQ(rope.config.axes.layout == AxisLayout::kSectioned, pairing == "MROPE");
  EXPECT_EQ(rope.config.axes.layout == AxisLayout::kInterleavedGgml, pairing == "IMROPE");
  if (facts.contains("sections")) {
    EXPECT_EQ(rope.config.axes.sections, facts.at("sections").get<std::vector<int>>());
  }
  if (facts.at("theta").is_number()) {
    EXPECT_EQ(rope.config.theta, facts.at("theta").get<double>());
  }
  const std::string placement = facts.value("placement", "");
  EXPECT_EQ(rope.config.rotary_offset, placement.empty() ? 0 : rope.config.head_dim - rope.config.rotary_dim);
  EXPECT_EQ(rope.config.inverse_on_output, facts.value("inverse_on_output", false));
}

TEST(GgufModels, AgreeWithTheFacts) {
  const json expected = expected_models();
  std::set<std::string> slugs;
  for (const Sample& sample : samples()) {
    SCOPED_TRACE(sample.slug);
    ASSERT_TRUE(slugs.insert(sample.slug).second);
    const json& facts = expected.at(sample.slug);
    const Result<ModelRopes> model = read_model_gguf(sample.file.bytes(), sample.slug + ".gguf");
    ASSERT_TRUE(model.ok()) << model.status().message();
    EXPECT_TRUE(model->known_architecture);
    EXPECT_EQ(model->layers, facts.at("num_layers").get<int>());
    EXPECT_EQ(model->mtp, sample.mtp);
    EXPECT_EQ(model->layers_without_rope, parse_layers(facts.at("no_rope_layers")));
    std::vector<ModelRope> attention;
    for (const ModelRope& rope : model->ropes) {
      if (rope.role == Role::kAttention) attention.push_back(rope);
    }
    std::vector<json> groups = facts.at("ropes");
    std::sort(groups.begin(), groups.end(), [](const json& a, const json& b) {
      return parse_layers(a.at("layers")).front() < parse_layers(b.at("layers")).front();
    });
    ASSERT_EQ(attention.size(), groups.size());
    for (std::size_t i = 0; i < attention.size(); ++i) {
      SCOPED_TRACE(attention[i].group);
      compare_rope(groups[i], attention[i]);
      const json& factor = groups[i].at("attention_factor");
      const double magnitude = factor.is_number() ? factor.get<double>() : sample.magnitude;
      EXPECT_NEAR(attention[i].rope.magnitude.to_double(), magnitude, 1e-12);
    }
    const Result<MemoryPlan> plan = plan_memory(*model, 4096);
    ASSERT_TRUE(plan.ok());
    EXPECT_EQ(plan->distinct_tables, facts.at("distinct_tables").get<std::size_t>());
    EXPECT_TRUE(model->warnings.empty()) << model->warnings.front();
  }
}

ModelRopes read(const GgufWriter& file, const ReadOptions& options = {}) {
  const Result<ModelRopes> model = read_model_gguf(file.bytes(), "m.gguf", options);
  EXPECT_TRUE(model.ok()) << model.status().message();
  return *model;
}

GgufWriter sample(std::string_view slug) {
  for (Sample& one : samples()) {
    if (one.slug == slug) return std::move(one.file);
  }
  ADD_FAILURE() << slug;
  return GgufWriter("llama");
}

const ModelRope& rope_of(const ModelRopes& model, int layer, Role role = Role::kAttention) {
  static const ModelRope kNone;
  for (const ModelRope& rope : model.ropes) {
    if (rope.role == role && std::find(rope.layers.begin(), rope.layers.end(), layer) != rope.layers.end()) return rope;
  }
  ADD_FAILURE() << "layer " << layer;
  return kNone;
}

// rope_freqs holds floats, so a llama3 rule comes back within their precision.
TEST(GgufModels, RopeFreqsAreLlama3Scaling) {
  const ModelRopes model = read(sample("llama-3.1-8b"));
  RopeConfig config = model.ropes.front().config;
  config.divisors.clear();
  config.scaling = Llama3Scaling{8, 1, 4, 8192};
  const Rope expected = *resolve(config);
  const Rope& found = model.ropes.front().rope;
  ASSERT_EQ(found.pairs(), 64);
  for (std::size_t i = 0; i < 64; ++i) {
    const double frequency = expected.frequencies[i].to_double();
    EXPECT_NEAR(found.frequencies[i].to_double(), frequency, frequency * 1.2e-7) << i;
  }
  EXPECT_EQ(found.frequencies[28], expected.frequencies[28]);  // untouched pairs are the same number
  EXPECT_EQ(found.frequencies[63], expected.frequencies[63]);  // and so are those divided by 8
}

// B41: low == high, a hard step at pair 35.
TEST(GgufModels, B41_Llama4ScoutHasAHardStep) {
  const ModelRopes model = read(sample("llama-4-scout"));
  RopeConfig config = model.ropes.front().config;
  config.divisors.clear();
  config.scaling = Llama3Scaling{16, 1, 1, 8192};
  EXPECT_EQ(model.ropes.front().rope.frequencies, resolve(config)->frequencies);
  EXPECT_EQ(model.ropes.front().config.divisors[34], 1);
  EXPECT_EQ(model.ropes.front().config.divisors[35], 16);
  EXPECT_EQ(model.query_scale_without_rope, (QueryScale{QueryScale::Rule::kLogFloorPlusOne, 0.1, 8192}));
}

TEST(GgufModels, Gemma4DivisorsAreTheProportionalRule) {
  const ModelRopes model = read(sample("gemma-4-e4b"));
  const ModelRope& full = rope_of(model, 5);
  RopeConfig config = full.config;
  config.divisors.clear();
  config.scaling = ProportionalScaling{0.25, 1};
  EXPECT_EQ(full.rope.frequencies, resolve(config)->frequencies);
  EXPECT_TRUE(full.rope.frequencies[64].is_zero());
  EXPECT_EQ(rope_of(model, 0).config.divisors, std::vector<double>());
}

// B76: angle(p = 800, pair 0) is 100 in global layers and 800 in local ones.
TEST(GgufModels, B76_Gemma3ScalesGlobalLayersOnly) {
  const ModelRopes model = read(sample("gemma-3-4b"));
  EXPECT_EQ(rope_of(model, 5).rope.frequencies[0].to_double(), 0.125);
  EXPECT_EQ(rope_of(model, 4).rope.frequencies[0].to_double(), 1);
  EXPECT_EQ(rope_of(model, 5).group, "full_attention");
  EXPECT_EQ(rope_of(model, 4).group, "sliding_attention");
}

// B77 as llama.cpp has it: YaRN and its magnitude in full layers only.
TEST(GgufModels, B77_Olmo3SlidingLayersArePlain) {
  const ModelRopes model = read(sample("olmo-3-7b"));
  EXPECT_TRUE(std::holds_alternative<std::monostate>(rope_of(model, 0).config.scaling));
  EXPECT_NEAR(rope_of(model, 3).rope.magnitude.to_double(), 1.2079441541679836, 1e-15);
}

// B82: the base of sliding layers, absent and present, where it is inherited and where it is not.
TEST(GgufModels, B82_BaseOfSlidingLayers) {
  const auto bases = [](std::string_view architecture, bool own) {
    GgufWriter file = gguf_model(architecture, 12, 2048, 16, 8192)
                          .f32("rope.freq_base", 70000)
                          .text("rope.scaling.type", "linear")
                          .f32("rope.scaling.factor", 4)
                          .u32("attention.sliding_window", 512);
    if (own) file.f32("rope.freq_base_swa", 33000);
    return read(file);
  };
  EXPECT_EQ(rope_of(bases("gemma2", false), 0).config.theta, 70000);
  EXPECT_EQ(rope_of(bases("gemma2", true), 0).config.theta, 33000);
  EXPECT_EQ(rope_of(bases("gpt-oss", false), 0).config.theta, 70000);
  EXPECT_EQ(rope_of(bases("gpt-oss", false), 0).config.scaling, Scaling(LinearScaling{4}));
  EXPECT_EQ(rope_of(bases("gemma3", false), 0).config.theta, 10000);
  EXPECT_EQ(rope_of(bases("gemma3", true), 0).config.theta, 33000);
  EXPECT_EQ(rope_of(bases("gemma3", true), 0).config.scaling, Scaling());
  EXPECT_EQ(rope_of(bases("gemma3", true), 5).config.scaling, Scaling(LinearScaling{4}));
  // Cohere2's graph takes the main base, whatever the key says.
  EXPECT_EQ(rope_of(bases("cohere2", true), 0).config.theta, 70000);
}

GgufWriter step35() {
  return gguf_model("step35", 8, 4096, 64, 65536)
      .u32("attention.key_length", 128)
      .u32("rope.dimension_count", 128)
      .f32("rope.freq_base", 5e6f)
      .u32("attention.sliding_window", 512)
      .flags("attention.sliding_window_pattern", pattern(8, 4, true))
      .tensor("rope_freqs.weight", llama3_divisors(128, 5e6, 2, 1, 32, 131072));
}

// B80
TEST(GgufModels, B80_Step35) {
  const ModelRopes model = read(step35().f32("rope.freq_base_swa", 10000));
  EXPECT_EQ(rope_of(model, 0).config.rotary_dim, 64);
  EXPECT_EQ(rope_of(model, 0).config.theta, 5e6);
  EXPECT_EQ(rope_of(model, 0).config.divisors.size(), 32u);  // the first of the tensor's 64
  EXPECT_EQ(rope_of(model, 1).config.rotary_dim, 128);
  EXPECT_EQ(rope_of(model, 1).config.theta, 10000);
  EXPECT_TRUE(rope_of(model, 1).config.divisors.empty());

  const Result<ModelRopes> neither = read_model_gguf(step35().bytes(), "step.gguf");
  ASSERT_FALSE(neither.ok());
  EXPECT_EQ(neither.status().message(),
            "step.gguf: step35.rope.freq_base_swa: missing, expected the base of sliding layers, or "
            "rope.freq_base_per_layer");

  // The other dialect: lists by layer, and a mask that scales all.
  const ModelRopes lists =
      read(step35()
               .floats("rope.freq_base_per_layer", {5e6f, 1e4f, 1e4f, 1e4f, 5e6f, 1e4f, 1e4f, 2e4f})
               .ints("rope.dimension_count_per_layer", {64, 128, 128, 128, 64, 128, 128, 128})
               .u32("rope.scaling.apply_mask", 3));
  EXPECT_EQ(rope_of(lists, 7).config.theta, 20000);
  EXPECT_EQ(rope_of(lists, 4).config.rotary_dim, 64);
  EXPECT_EQ(rope_of(lists, 1).config.divisors.size(), 64u);
}

// B83: no key says so; the architecture does.
TEST(GgufModels, B83_SmolLm3SkipsEveryFourthLayer) {
  EXPECT_EQ(read(sample("smollm3-3b")).layers_without_rope, (std::vector<int>{3, 7, 11, 15, 19, 23, 27, 31, 35}));
}

// B29: two units of one key.
TEST(GgufModels, B29_U7_UnitsOfTheLogMultiplier) {
  const auto yarn = [](std::string_view architecture, float multiplier) {
    const ModelRopes model = read(gguf_model(architecture, 4, 2048, 16, 163840)
                                      .u32("attention.key_length", 128)
                                      .u32("rope.dimension_count", 64)
                                      .f32("rope.freq_base", 10000)
                                      .text("rope.scaling.type", "yarn")
                                      .f32("rope.scaling.factor", 40)
                                      .u32("rope.scaling.original_context_length", 4096)
                                      .f32("rope.scaling.yarn_log_multiplier", multiplier));
    return model.ropes.front();
  };
  const auto all_dim = [](const ModelRope& rope) { return *std::get<YarnScaling>(rope.config.scaling).mscale_all_dim; };
  EXPECT_EQ(all_dim(yarn("deepseek2", 0.0707f)), 0.707);
  EXPECT_EQ(all_dim(yarn("deepseek2", 0.1f)), 1);
  EXPECT_EQ(all_dim(yarn("mistral3", 1.0f)), 1);
  // U7: ggml multiplies by 1 + 0.1 ln 40 by itself, so it must be given the reciprocal for a magnitude of 1.
  const ModelRope rope = yarn("deepseek2", 0.1f);
  EXPECT_EQ(rope.rope.magnitude, Real::one());
  ASSERT_TRUE(rope.rope.ggml.has_value());
  EXPECT_NEAR(rope.rope.ggml->attn_factor, 0.7305199840, 1e-7);
  EXPECT_EQ(rope.rope.ggml->ext_factor, 1);
  EXPECT_NEAR(rope.rope.softmax_scale_multiplier.to_double(), 1.8738542070926266, 1e-15);
  EXPECT_NEAR(yarn("deepseek2", 0.0707f).rope.softmax_scale_multiplier.to_double(), 1.5896261651208735, 1e-15);
}

// U6: a gpt-oss file runs with a rounded correction range, (8, 18).
TEST(GgufModels, U6_GgmlRoundsTheCorrectionRange) {
  const ModelRopes model = read(sample("gpt-oss-20b"));
  EXPECT_TRUE(std::get<YarnScaling>(model.ropes.front().config.scaling).truncate);
  EXPECT_NEAR(model.ropes.front().rope.frequencies[9].to_double(), 0.03162075228, 1e-11);
  EXPECT_NEAR(model.ropes.front().rope.frequencies[17].to_double(), 0.0002279477958, 1e-13);
}

// ggml's IMROPE leaves pairs 61 and 62 of [24, 20, 20] to a fourth position; [11, 11, 10] has no such rest.
TEST(GgufModels, InterleavedAxesAsGgmlHasThem) {
  const Rope rest = read(sample("qwen3-vl-2b")).ropes.front().rope;
  EXPECT_EQ(rest.axis_count, 4);
  EXPECT_EQ(rest.axes[60], 0);
  EXPECT_EQ(rest.axes[61], 3);
  EXPECT_EQ(rest.axes[62], 3);
  EXPECT_EQ(rest.axes[63], 0);
  EXPECT_EQ(read(sample("qwen3.5-4b")).ropes.front().rope.axis_count, 3);
}

TEST(GgufModels, B44_LongropeShowsBothRegimesUnlessALengthIsGiven) {
  const ModelRopes both = read(sample("phi-3.5-mini"));
  const ModelRope& rope = both.ropes.front();
  EXPECT_EQ(rope.switch_length, 4096);
  ASSERT_TRUE(rope.beyond.has_value());
  EXPECT_EQ(rope.rope.frequencies[0].to_double(), 1);
  EXPECT_EQ(rope.beyond->frequencies[0].to_double(), 0.5);
  // B44: at 4096 still the short list, at 4097 the long one.
  ReadOptions options;
  options.length = 4096;
  EXPECT_EQ(read(sample("phi-3.5-mini"), options).ropes.front().rope, rope.rope);
  options.length = 4097;
  const ModelRopes longer = read(sample("phi-3.5-mini"), options);
  EXPECT_EQ(longer.ropes.front().rope, *rope.beyond);
  EXPECT_FALSE(longer.ropes.front().switch_length.has_value());
}

TEST(GgufModels, DeepSeekV4HasTwoRopesAndAnIndexer) {
  const ModelRopes model = read(sample("deepseek-v4-flash").u32("attention.indexer.key_length", 128));
  EXPECT_EQ(rope_of(model, 0).group, "main");
  EXPECT_EQ(rope_of(model, 43).group, "main");
  EXPECT_EQ(rope_of(model, 0).mtp_layers, std::vector<int>{43});
  EXPECT_EQ(rope_of(model, 2).config.theta, 160000);
  EXPECT_EQ(rope_of(model, 2).rope.magnitude, Real::one());
  const ModelRope& indexer = rope_of(model, 2, Role::kIndexer);
  EXPECT_EQ(indexer.config.rotary_offset, 64);
  EXPECT_FALSE(indexer.config.inverse_on_output);
  EXPECT_EQ(indexer.layers.size(), 21u);  // those of ratio 4
  EXPECT_EQ(*table_key(indexer.rope), *table_key(rope_of(model, 2).rope));
}

// B7, B8: pairing is a matter of layer and role.
TEST(GgufModels, B7_B8_IndexersHaveAPairingOfTheirOwn) {
  const auto indexer = [](std::string_view architecture) {
    return rope_of(read(gguf_model(architecture, 3, 7168, 128, 163840)
                            .u32("attention.key_length_mla", 192)
                            .u32("rope.dimension_count", 64)
                            .f32("rope.freq_base", 10000)
                            .u32("attention.indexer.key_length", 128)),
                   0, Role::kIndexer)
        .config;
  };
  EXPECT_EQ(indexer("deepseek32").pairing, Pairing::kHalf);
  EXPECT_EQ(indexer("glm-dsa").pairing, Pairing::kInterleaved);
  EXPECT_EQ(indexer("glm-dsa").rotary_offset, 0);
  EXPECT_EQ(indexer("hy_v4").rotary_offset, 64);
}

// A float in the file stands for its shortest decimal.
TEST(GgufModels, FloatsAreDecimals) {
  const ModelRopes model = read(sample("ministral-3-3b-2512"));
  EXPECT_EQ(model.ropes.front().config.query_scale, (QueryScale{QueryScale::Rule::kLogFloor, 0.1, 16384}));
}

TEST(GgufModels, GraniteSwitchesItsRopeByFinetuned) {
  const auto file = [] { return gguf_model("granite", 4, 4096, 32, 4096).f32("rope.freq_base", 10000); };
  EXPECT_EQ(read(file().flag("rope.scaling.finetuned", false)).layers_without_rope.size(), 4u);
  EXPECT_EQ(read(file().flag("rope.scaling.finetuned", true)).layers_without_rope.size(), 0u);
  EXPECT_EQ(read(file()).layers_without_rope.size(), 0u);
}

}  // namespace
}  // namespace ropecache
