// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// What the reader says about the keys of a GGUF file: used, taken by default, ignored and why, or wrong.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/gguf_writer.h"
#include "model/model_test_util.h"
#include "ropecache/model.h"

namespace ropecache {
namespace {

using test::find_note;
using test::gguf_model;
using test::GgufWriter;
using test::has_warning;

ModelRopes read(const GgufWriter& file) {
  const Result<ModelRopes> model = read_model_gguf(file.bytes(), "m.gguf");
  EXPECT_TRUE(model.ok()) << model.status().message();
  return *model;
}

std::string error_of(const GgufWriter& file) {
  const Result<ModelRopes> model = read_model_gguf(file.bytes(), "m.gguf");
  EXPECT_FALSE(model.ok());
  return model.status().message();
}

GgufWriter llama(int context = 4096) { return gguf_model("llama", 2, 256, 4, context); }

TEST(GgufKeys, UsedDefaultsAndIgnored) {
  const ModelRopes model = read(llama()
                                    .f32("rope.freq_base", 10000)
                                    .u32("attention.sliding_window", 4096)
                                    .f32("rope.scaling.yarn_log_multiplier", 0.1f)
                                    .f32("gemma3n.rope.freq_base_local", 5)
                                    .u32("attention.value_length", 64));
  ASSERT_NE(find_note(model.used, "llama.rope.freq_base"), nullptr);
  EXPECT_EQ(find_note(model.used, "llama.rope.freq_base")->value, "10000");
  EXPECT_NE(find_note(model.used, "general.architecture"), nullptr);
  EXPECT_NE(find_note(model.used, "llama.block_count"), nullptr);
  ASSERT_NE(find_note(model.defaults, "llama.rope.dimension_count"), nullptr);
  EXPECT_EQ(find_note(model.defaults, "llama.rope.dimension_count")->value, "64");
  for (const char* key : {"llama.attention.sliding_window", "llama.rope.scaling.yarn_log_multiplier"}) {
    ASSERT_NE(find_note(model.ignored, key), nullptr) << key;
    EXPECT_FALSE(find_note(model.ignored, key)->reason.empty());
  }
  EXPECT_EQ(find_note(model.ignored, "llama.attention.value_length"), nullptr);
}

// Contract: every rope-relevant key is in exactly one of the lists.
TEST(GgufKeys, NoRopeKeyIsLost) {
  const std::vector<std::string> keys = {"rope.dimension_count",
                                         "rope.dimension_count_swa",
                                         "rope.freq_base",
                                         "rope.freq_base_swa",
                                         "rope.scale_linear",
                                         "rope.scaling.factor",
                                         "rope.scaling.attn_factor",
                                         "rope.scaling.original_context_length",
                                         "rope.scaling.yarn_log_multiplier",
                                         "rope.scaling.yarn_ext_factor",
                                         "rope.scaling.yarn_attn_factor",
                                         "rope.scaling.yarn_beta_fast",
                                         "rope.scaling.yarn_beta_slow",
                                         "rope.scaling.alpha",
                                         "attention.key_length",
                                         "attention.key_length_swa",
                                         "attention.key_length_mla",
                                         "attention.sliding_window",
                                         "attention.temperature_scale",
                                         "attention.temperature_length",
                                         "attention.compress_rope_freq_base",
                                         "attention.shared_kv_layers",
                                         "full_attention_interval",
                                         "rope.made_up_tomorrow"};
  for (const char* architecture : {"llama", "gemma3", "gpt-oss", "mistral3", "grok", "qwen3next", "jamba", "unheard"}) {
    SCOPED_TRACE(architecture);
    GgufWriter file = gguf_model(architecture, 4, 1024, 16, 4096);
    for (const std::string& key : keys) {
      const bool width = key.find("length") != std::string::npos || key.find("dimension") != std::string::npos;
      if (width) {
        file.u32(key, 64);
      } else if (key == "rope.freq_base" || key == "rope.freq_base_swa") {
        file.f32(key, 10000);
      } else {
        file.f32(key, 1);
      }
    }
    const ModelRopes model = read(file);
    for (const std::string& key : keys) {
      const std::string full = std::string(architecture) + "." + key;
      const int places =
          (find_note(model.used, full) != nullptr ? 1 : 0) + (find_note(model.ignored, full) != nullptr ? 1 : 0);
      EXPECT_EQ(places, 1) << full;
    }
  }
}

// B32
TEST(GgufKeys, B32_WarnsOfALostLlama3Scaling) {
  const auto base = [](int context) { return llama(context).f32("rope.freq_base", 500000); };
  EXPECT_TRUE(has_warning(read(base(131072)), "rope_freqs.weight"));
  EXPECT_FALSE(has_warning(read(base(8192)), "rope_freqs.weight"));  // Llama 3.0
  EXPECT_FALSE(has_warning(read(base(131072).tensor("rope_freqs.weight", std::vector<float>(32, 1))), "rope_freqs"));
  EXPECT_FALSE(has_warning(read(llama(131072).f32("rope.freq_base", 10000)), "rope_freqs.weight"));
}

TEST(GgufKeys, WarnsOfALostProportionalRule) {
  const ModelRopes model = read(gguf_model("gemma4", 2, 256, 4, 4096)
                                    .f32("rope.freq_base", 1e6f)
                                    .flags("attention.sliding_window_pattern", {1, 0}));
  EXPECT_TRUE(has_warning(model, "rope_freqs.weight is missing"));
}

// B40
TEST(GgufKeys, B40_WarnsOfAMissingBase) {
  const ModelRopes qwen = read(gguf_model("qwen2", 2, 256, 4, 32768));
  EXPECT_EQ(qwen.ropes.front().config.theta, 10000);
  ASSERT_NE(find_note(qwen.defaults, "qwen2.rope.freq_base"), nullptr);
  EXPECT_TRUE(has_warning(qwen, "qwen2.rope.freq_base is missing"));
  // Families that never write it, and mean 10000.
  const ModelRopes gemma = read(gguf_model("gemma", 2, 256, 4, 8192));
  ASSERT_NE(find_note(gemma.defaults, "gemma.rope.freq_base"), nullptr);
  EXPECT_TRUE(gemma.warnings.empty());
}

// U10
TEST(GgufKeys, U10_AnUnknownArchitectureIsReadAndMarked) {
  const ModelRopes model = read(gguf_model("unheard", 3, 256, 4, 4096).f32("rope.freq_base", 77));
  EXPECT_FALSE(model.known_architecture);
  EXPECT_TRUE(has_warning(model, "\"unheard\" is not known"));
  ASSERT_EQ(model.ropes.size(), 1u);
  EXPECT_EQ(model.ropes.front().config.theta, 77);
  EXPECT_EQ(model.ropes.front().config.pairing, Pairing::kHalf);
}

TEST(GgufKeys, TensorWithoutEffectIsReported) {
  const ModelRopes model = read(gguf_model("qwen2", 2, 256, 4, 4096)
                                    .f32("rope.freq_base", 1e6f)
                                    .tensor("rope_freqs.weight", std::vector<float>(32, 4)));
  EXPECT_TRUE(model.ropes.front().config.divisors.empty());
  EXPECT_NE(find_note(model.ignored, "rope_freqs.weight"), nullptr);
  EXPECT_TRUE(has_warning(model, "rope_freqs.weight has no effect"));
}

// Kimi-K2: the converter may write the betas, llama.cpp does not read them there.
TEST(GgufKeys, ListsThatGoOnBehindTheLastLayer) {
  const auto with = [](const std::vector<float>& bases) {
    return read(llama().f32("rope.freq_base", 10000).floats("rope.freq_base_per_layer", bases));
  };
  EXPECT_TRUE(with({1e4f, 2e4f}).warnings.empty());
  const ModelRopes longer = with({1e4f, 2e4f, 3e4f});
  EXPECT_TRUE(has_warning(longer, "llama.rope.freq_base_per_layer: a list of 3 for 2 layers: the rest of it has no"));
  ASSERT_EQ(longer.ropes.size(), 2u);
  EXPECT_EQ(longer.ropes[1].config.theta, 2e4);
  EXPECT_EQ(error_of(llama().floats("rope.freq_base_per_layer", {1e4f})),
            "m.gguf: llama.rope.freq_base_per_layer: [10000], expected a number, or a list of at least 2");
  EXPECT_TRUE(has_warning(read(gguf_model("llama", 1, 256, 4, 4096)
                                   .f32("rope.freq_base", 10000)
                                   .floats("rope.freq_base_per_layer", {1e4f, 1e4f})),
                          "a list of 2 for 1 layer:"));
}

TEST(GgufKeys, BetasThatLlamaCppDrops) {
  const ModelRopes model = read(gguf_model("deepseek2", 2, 7168, 64, 131072)
                                    .u32("attention.key_length_mla", 192)
                                    .u32("rope.dimension_count", 64)
                                    .f32("rope.freq_base", 50000)
                                    .text("rope.scaling.type", "yarn")
                                    .f32("rope.scaling.factor", 32)
                                    .u32("rope.scaling.original_context_length", 4096)
                                    .f32("rope.scaling.yarn_log_multiplier", 0.1f)
                                    .f32("rope.scaling.yarn_beta_fast", 1));
  EXPECT_EQ(std::get<YarnScaling>(model.ropes.front().config.scaling).beta_fast, 32);
  EXPECT_TRUE(has_warning(model, "yarn_beta_fast is 1"));
  EXPECT_NE(find_note(model.ignored, "deepseek2.rope.scaling.yarn_beta_fast"), nullptr);
  EXPECT_EQ(find_note(model.used, "deepseek2.rope.scaling.yarn_beta_fast"), nullptr);
}

TEST(GgufKeys, ScalingTypes) {
  const auto scaled = [](std::string_view type) {
    return llama(8192).f32("rope.freq_base", 10000).text("rope.scaling.type", type).f32("rope.scaling.factor", 2);
  };
  EXPECT_EQ(read(scaled("none")).ropes.front().config.scaling, Scaling());
  EXPECT_EQ(read(scaled("linear")).ropes.front().config.scaling, Scaling(LinearScaling{2}));
  EXPECT_EQ(read(llama().f32("rope.freq_base", 10000).f32("rope.scale_linear", 2)).ropes.front().config.scaling,
            Scaling(LinearScaling{2}));
  EXPECT_TRUE(std::holds_alternative<YarnScaling>(read(scaled("yarn")).ropes.front().config.scaling));
  EXPECT_EQ(error_of(scaled("dynamic")),
            "m.gguf: llama.rope.scaling.type: \"dynamic\", expected none, linear, yarn or longrope");
  EXPECT_EQ(error_of(scaled("longrope")),
            "m.gguf: llama.rope.scaling.type: \"longrope\", expected tensors rope_factors_long.weight and "
            "rope_factors_short.weight");
  const ModelRopes lame = read(llama().f32("rope.freq_base", 10000).text("rope.scaling.type", "yarn"));
  EXPECT_EQ(lame.ropes.front().rope.magnitude, Real::one());
  EXPECT_TRUE(has_warning(lame, "there is no rope.scaling.factor"));
}

TEST(GgufKeys, AttnFactorIsAMagnitudeOfItsOwn) {
  const ModelRopes model = read(llama().f32("rope.freq_base", 10000).f32("rope.scaling.attn_factor", 1.25f));
  RopeConfig plain = model.ropes.front().config;
  plain.scaling = {};
  EXPECT_EQ(model.ropes.front().rope.frequencies, resolve(plain)->frequencies);
  EXPECT_EQ(model.ropes.front().rope.magnitude.to_double(), 1.25);
}

TEST(GgufKeys, ErrorsNameKeyValueAndExpectation) {
  EXPECT_EQ(error_of(GgufWriter("llama")), "m.gguf: llama.block_count: missing, expected the number of layers");
  EXPECT_EQ(error_of(gguf_model("llama", 0, 256, 4, 1)),
            "m.gguf: llama.block_count: 0, expected a whole number from 1 to 1024");
  EXPECT_EQ(error_of(gguf_model("llama", 4000000, 256, 4, 1)),
            "m.gguf: llama.block_count: 4000000, expected a whole number from 1 to 1024");
  EXPECT_EQ(error_of(gguf_model("llama", 2, 257, 4, 1)),
            "m.gguf: llama.embedding_length: 257, expected a multiple of attention.head_count 4, or "
            "attention.key_length");
  EXPECT_EQ(error_of(llama().text("rope.freq_base", "ten")),
            "m.gguf: llama.rope.freq_base: \"ten\", expected a finite number");
  EXPECT_EQ(error_of(llama().f32("rope.freq_base", -1)),
            "m.gguf: llama.rope.freq_base: -1, expected a number above 1, at most 1e30");
  EXPECT_EQ(error_of(llama().f32("rope.freq_base", 0.0f / 0.0f).f32("x", 1)).substr(0, 30),
            "m.gguf: llama.rope.freq_base: ");
  EXPECT_EQ(error_of(llama().u32("rope.dimension_count", 32)),
            "m.gguf: llama.rope.dimension_count: 32, expected the size of a head, 64");
  // What only resolve() knows names the rope.
  EXPECT_TRUE(error_of(gguf_model("qwen2", 2, 256, 4, 1).f32("rope.freq_base", 1e6f).u32("rope.dimension_count", 66))
                  .starts_with("m.gguf: attention rope: rotary_dim"));
  EXPECT_EQ(error_of(gguf_model("qwen2vl", 2, 256, 4, 1).f32("rope.freq_base", 1e6f)),
            "m.gguf: qwen2vl.rope.dimension_sections: missing, expected the pairs that each position turns");
  EXPECT_EQ(error_of(gguf_model("gemma4", 2, 256, 4, 1)),
            "m.gguf: gemma4.attention.sliding_window_pattern: missing, expected a list that says of each layer "
            "whether it slides");
  EXPECT_EQ(error_of(llama().f32("rope.freq_base", 10000).tensor("rope_freqs.weight", {1, 2})),
            "m.gguf: tensor rope_freqs.weight: 2 numbers, expected 32, one for each pair");
  EXPECT_EQ(error_of(llama().tensor("rope_factors_long.weight", std::vector<float>(32, 1))),
            "m.gguf: tensor rope_factors_short.weight: missing, expected beside rope_factors_long.weight");
  EXPECT_EQ(error_of(llama().u32("nextn_predict_layers", 3)),
            "m.gguf: llama.nextn_predict_layers: 3, expected a whole number from 0 to 2");
}

TEST(GgufKeys, ElementTypesOfRopeTensors) {
  const auto factors = [](std::uint32_t type, const std::string& data) {
    return llama().f32("rope.freq_base", 10000).tensor_bytes("rope_freqs.weight", type, 32, data);
  };
  std::string half, brain;
  for (int i = 0; i < 32; ++i) {
    test::append<std::uint16_t>(half, 0x3e00);   // 1.5
    test::append<std::uint16_t>(brain, 0x3fc0);  // 1.5
  }
  EXPECT_EQ(read(factors(1, half)).ropes.front().config.divisors, std::vector<double>(32, 1.5));
  EXPECT_EQ(read(factors(30, brain)).ropes.front().config.divisors, std::vector<double>(32, 1.5));
  EXPECT_EQ(error_of(factors(8, half)),
            "m.gguf: tensor rope_freqs.weight: type 8, expected 0 (F32), 1 (F16) or 30 (BF16)");
}

TEST(GgufKeys, SecondVersionAndAlignmentAreRead) {
  const GgufWriter file = llama()
                              .alignment(64)
                              .f32("rope.freq_base", 10000)
                              .tensor("a", {1})
                              .tensor("rope_freqs.weight", std::vector<float>(32, 2));
  for (const std::uint32_t version : {2u, 3u}) {
    const Result<ModelRopes> model = read_model_gguf(file.bytes(version), "m.gguf");
    ASSERT_TRUE(model.ok()) << model.status().message();
    EXPECT_EQ(model->ropes.front().config.divisors, std::vector<double>(32, 2));
  }
}

}  // namespace
}  // namespace ropecache
