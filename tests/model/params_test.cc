// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Mistral's and Meta's params.json.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "model/model_test_util.h"
#include "ropecache/model.h"
#include "ropecache/table.h"
#include "text.h"

namespace ropecache {
namespace {

using test::expect_clean;
using test::find_note;
using test::has_warning;

ModelRopes read(std::string_view text) {
  const Result<ModelRopes> model = read_model_json(text, "params.json");
  EXPECT_TRUE(model.ok()) << model.status().message();
  return *model;
}

std::string error_of(std::string_view text) {
  const Result<ModelRopes> model = read_model_json(text, "params.json");
  expect_clean(model.status(), "params.json");
  return model.status().message();
}

constexpr std::string_view kMinistral3 = R"({
    "dim": 3072, "n_layers": 26, "head_dim": 128, "hidden_dim": 9216, "n_heads": 32, "n_kv_heads": 8,
    "rope_theta": 1000000.0, "norm_eps": 1e-05, "vocab_size": 131072, "tied_embeddings": true,
    "max_position_embeddings": 262144,
    "llama_4_scaling": {"original_max_position_embeddings": 16384, "beta": 0.1},
    "yarn": {"original_max_position_embeddings": 16384, "factor": 16, "apply_scale": false, "beta": 32, "alpha": 1},
    "vision_encoder": {"hidden_size": 1024, "num_attention_heads": 16, "num_hidden_layers": 24, "rope_theta": 10000.0,
                       "patch_size": 14, "image_size": 1540}})";

// The same model as a config.json turns by the same table, in the other pairing.
TEST(Params, Ministral3) {
  const ModelRopes model = read(kMinistral3);
  EXPECT_EQ(model.format, ModelFormat::kMistralParams);
  EXPECT_EQ(model.layers, 26);
  EXPECT_EQ(model.context, 262144);
  ASSERT_EQ(model.ropes.size(), 2u);
  const ModelRope& main = model.ropes[0];
  EXPECT_EQ(main.config.pairing, Pairing::kInterleaved);
  EXPECT_EQ(main.config.rotary_dim, 128);
  EXPECT_EQ(main.rope.magnitude, Real::one());
  EXPECT_EQ(main.config.query_scale, (QueryScale{QueryScale::Rule::kLogFloor, 0.1, 16384}));
  RopeConfig config;
  config.head_dim = config.rotary_dim = 128;
  config.theta = 1e6;
  YarnScaling yarn;
  yarn.factor = 16;
  yarn.original_context = 16384;
  yarn.mscale = yarn.mscale_all_dim = 1;
  config.scaling = yarn;
  EXPECT_EQ(*table_key(main.rope), *table_key(*resolve(config)));

  const ModelRope& vision = model.ropes[1];
  EXPECT_EQ(vision.role, Role::kVision);
  EXPECT_EQ(vision.layers.size(), 24u);
  EXPECT_EQ(vision.config.head_dim, 64);
  EXPECT_EQ(vision.config.axes, (Axes{AxisLayout::kAxialAlternating, {16, 16}}));
  EXPECT_TRUE(model.warnings.empty());
  for (const char* key : {"rope_theta", "yarn.factor", "yarn.beta", "yarn.alpha", "yarn.apply_scale",
                          "yarn.original_max_position_embeddings", "llama_4_scaling.beta"}) {
    EXPECT_NE(find_note(model.used, key), nullptr) << key;
    EXPECT_EQ(find_note(model.ignored, key), nullptr) << key;
  }
}

TEST(Params, ApplyScalePutsTheMagnitudeOnTheTable) {
  const std::string with = R"({"dim": 256, "n_layers": 1, "n_heads": 2, "rope_theta": 1e6, "yarn":
                             {"original_max_position_embeddings": 4096, "factor": 64, "beta": 4, "alpha": 1)";
  EXPECT_NEAR(read(with + R"(, "apply_scale": true}})").ropes[0].rope.magnitude.to_double(), 1.4158883083359672, 1e-15);
  EXPECT_EQ(read(with + R"(, "apply_scale": false}})").ropes[0].rope.magnitude, Real::one());
  const ModelRopes silent = read(with + ", \"gamma\": 3}}");
  EXPECT_NE(find_note(silent.defaults, "yarn.apply_scale"), nullptr);
  EXPECT_NE(find_note(silent.ignored, "yarn.gamma"), nullptr);
  EXPECT_TRUE(has_warning(silent, "yarn.gamma has no effect"));
  // B26: beta_fast is 4 here, range (23, 31).
  EXPECT_EQ(std::get<YarnScaling>(silent.ropes[0].config.scaling).beta_fast, 4);
}

TEST(Params, LatentAttentionTurnsTheLastPart) {
  const ModelRopes model = read(R"({"dim": 7168, "n_layers": 61, "n_heads": 128, "head_dim": 128, "q_lora_rank": 1536,
      "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "rope_theta": 10000.0,
      "yarn": {"original_max_position_embeddings": 8192, "factor": 36, "apply_scale": false, "beta": 32, "alpha": 1}})");
  const RopeConfig& config = model.ropes[0].config;
  EXPECT_EQ(config.head_dim, 192);
  EXPECT_EQ(config.rotary_dim, 64);
  EXPECT_EQ(config.rotary_offset, 128);
  EXPECT_EQ(model.ropes[0].rope.magnitude, Real::one());
  const double growth = 0.1 * std::log(36.0) + 1;
  EXPECT_NEAR(model.ropes[0].rope.softmax_scale_multiplier.to_double(), growth * growth, 1e-14);
  EXPECT_NE(find_note(model.ignored, "head_dim"), nullptr);
}

TEST(Params, MissingThetaIsReported) {
  const ModelRopes v1 =
      read(R"({"dim": 4096, "n_layers": 32, "head_dim": 128, "n_heads": 32, "sliding_window": 4096})");
  EXPECT_EQ(v1.ropes[0].config.theta, 10000);
  EXPECT_TRUE(has_warning(v1, "rope_theta is missing: 10000"));
  EXPECT_EQ(read(R"({"dim": 4096, "n_layers": 32, "head_dim": 128, "n_heads": 32})").ropes[0].config.theta, 1e6);
  EXPECT_EQ(read(R"({"dim": 4096, "n_layers": 32, "n_heads": 32, "multiple_of": 256})").ropes[0].config.theta, 10000);
}

// Llama 3.1: the file only says that there is a scaling.
TEST(Params, MetaLlama3) {
  const std::string head = R"({"dim": 4096, "n_layers": 32, "n_heads": 32, "n_kv_heads": 8, "ffn_dim_multiplier": 1.3,
                             "multiple_of": 1024, "rope_theta": 500000.0)";
  const ModelRopes model = read(head + R"(, "use_scaled_rope": true})");
  EXPECT_EQ(model.format, ModelFormat::kMetaParams);
  EXPECT_EQ(model.ropes[0].config.scaling, Scaling(Llama3Scaling{8, 1, 4, 8192}));
  EXPECT_EQ(model.ropes[0].config.pairing, Pairing::kInterleaved);
  EXPECT_TRUE(has_warning(model, "Llama 3.2 needs 32"));
  EXPECT_NE(find_note(model.defaults, "rope_scaling_factor"), nullptr);

  const ModelRopes given = read(head + R"(, "use_scaled_rope": true, "rope_scaling_factor": 32})");
  EXPECT_EQ(given.ropes[0].config.scaling, Scaling(Llama3Scaling{32, 1, 4, 8192}));
  EXPECT_TRUE(given.warnings.empty());

  const ModelRopes plain = read(head + R"(, "use_scaled_rope": false, "rope_scaling_factor": 32})");
  EXPECT_EQ(plain.ropes[0].config.scaling, Scaling());
  EXPECT_NE(find_note(plain.ignored, "rope_scaling_factor"), nullptr);
}

TEST(Params, MetaLlama4) {
  const ModelRopes model = read(R"({"dim": 5120, "n_layers": 48, "n_heads": 40, "n_kv_heads": 8, "rope_theta": 500000.0,
      "use_scaled_rope": true, "rope_scaling_factor": 16.0, "rope_high_freq_factor": 1.0, "nope_layer_interval": 4,
      "attn_temperature_tuning": true, "floor_scale": 8192.0, "attn_scale": 0.1})");
  EXPECT_EQ(model.layers_without_rope, (std::vector<int>{3, 7, 11, 15, 19, 23, 27, 31, 35, 39, 43, 47}));
  EXPECT_EQ(model.ropes[0].config.scaling, Scaling(Llama3Scaling{16, 1, 1, 8192}));
  EXPECT_EQ(model.query_scale_without_rope, (QueryScale{QueryScale::Rule::kLogFloorPlusOne, 0.1, 8192}));
  EXPECT_TRUE(model.warnings.empty());
}

TEST(Params, Errors) {
  EXPECT_EQ(error_of(R"({"dim": 256, "n_layers": 0})"),
            "params.json: n_layers: 0, expected a whole number from 1 to 1024");
  EXPECT_EQ(error_of(R"({"dim": 100, "n_layers": 1, "n_heads": 3})"),
            "params.json: dim: 100, expected a multiple of n_heads 3");
  EXPECT_EQ(error_of(R"({"dim": 100, "n_layers": 1})"),
            "params.json: n_heads: missing, expected a whole number from 1 to 1048576");
  EXPECT_EQ(error_of(R"({"dim": 128, "n_layers": 1, "n_heads": 1, "rope_theta": 1e6, "yarn": {"factor": 4}})"),
            "params.json: yarn.original_max_position_embeddings: missing, expected the original context length");
  EXPECT_EQ(error_of(R"({"dim": 128, "n_layers": 1, "n_heads": 1, "rope_theta": "big"})").substr(0, 31),
            "params.json: rope_theta: \"big\",");
}

TEST(Params, RopeKeysThatAreNotReadAreReported) {
  const auto model = read_model_json(
      R"({"dim":512,"n_layers":2,"n_heads":8,"rope_theta":1e6,"head_dim":64,"partial_rotary_factor":0.5,"rotary_dim":32})",
      "params.json");
  ASSERT_TRUE(model.ok()) << model.status().message();
  ASSERT_EQ(model->ignored.size(), 2u);
  EXPECT_EQ(model->ignored[0].key, "partial_rotary_factor");
  EXPECT_EQ(model->ignored[1].key, "rotary_dim");
  EXPECT_TRUE(has_warning(*model, "partial_rotary_factor has no effect: not read from params.json"));
  EXPECT_TRUE(has_warning(*model, "rotary_dim has no effect"));
}

constexpr std::string_view kMistral = R"({"dim": 4096, "n_layers": 2, "n_heads": 32, "rope_theta": 5e5)";
constexpr std::string_view kYarn =
    R"("yarn": {"factor": 4, "original_max_position_embeddings": 8192, "apply_scale": false)";

std::string mistral(std::string_view more) { return text(kMistral, ", ", more, "}"); }

// Meta's rule has four numbers; those that a file does give count, under the name of the file or of other formats.
TEST(Params, TheNumbersOfMetasScaling) {
  const auto scaling = [](std::string_view more) {
    return read(mistral(R"("use_scaled_rope": true, "rope_scaling_factor": 32, )" + std::string(more)))
        .ropes[0].config.scaling;
  };
  EXPECT_EQ(scaling(R"("low_freq_factor": 2)"), Scaling(Llama3Scaling{32, 2, 4, 8192}));
  EXPECT_EQ(scaling(R"("high_freq_factor": 8)"), Scaling(Llama3Scaling{32, 1, 8, 8192}));
  EXPECT_EQ(scaling(R"("original_max_position_embeddings": 4096)"), Scaling(Llama3Scaling{32, 1, 4, 4096}));
  EXPECT_EQ(scaling(R"("old_context_len": 4096, "rope_low_freq_factor": 2, "rope_high_freq_factor": 8)"),
            Scaling(Llama3Scaling{32, 2, 8, 4096}));
  EXPECT_EQ(scaling(R"("high_freq_factor": 8, "rope_high_freq_factor": 8)"), Scaling(Llama3Scaling{32, 1, 8, 8192}));
  EXPECT_EQ(error_of(mistral(R"("use_scaled_rope": true, "high_freq_factor": 8, "rope_high_freq_factor": 4)")),
            "params.json: high_freq_factor: 8, expected the same as rope_high_freq_factor, 4");
  const ModelRopes model = read(mistral(R"("use_scaled_rope": true, "rope_scaling_factor": 8, "low_freq_factor": 1)"));
  EXPECT_NE(find_note(model.used, "low_freq_factor"), nullptr);
  EXPECT_EQ(find_note(model.defaults, "low_freq_factor"), nullptr);
  EXPECT_NE(find_note(model.defaults, "original_max_position_embeddings"), nullptr);
}

TEST(Params, NumbersWithoutTheirSwitch) {
  for (const char* key : {"rope_scaling_factor", "scale_factor", "low_freq_factor", "high_freq_factor",
                          "rope_low_freq_factor", "rope_high_freq_factor"}) {
    for (const char* meta : {"", ", \"multiple_of\": 256"}) {
      EXPECT_EQ(error_of(mistral(text("\"", key, "\": 8", meta))),
                text("params.json: use_scaled_rope: missing, expected true or false beside ", key, ", which is 8"));
    }
  }
  const ModelRopes off = read(mistral(R"("use_scaled_rope": false, "low_freq_factor": 2)"));
  EXPECT_EQ(off.ropes[0].config.scaling, Scaling());
  EXPECT_EQ(find_note(off.ignored, "low_freq_factor")->reason, "use_scaled_rope is false");
  const ModelRopes llama2 = read(mistral("\"multiple_of\": 256"));
  EXPECT_NE(find_note(llama2.defaults, "use_scaled_rope"), nullptr);
}

TEST(Params, ScalingOfOtherFormats) {
  const std::string expected = ", expected the scaling of params.json: yarn (Mistral) or use_scaled_rope (Meta)";
  const std::string object = R"({"rope_type": "linear", "factor": 2})";
  EXPECT_EQ(error_of(mistral("\"rope_scaling\": " + object)), "params.json: rope_scaling: an object" + expected);
  EXPECT_EQ(error_of(mistral("\"rope_parameters\": " + object)),
            "params.json: rope_parameters: an object" + expected);
  EXPECT_EQ(error_of(mistral(R"("rope_type": "linear")")), "params.json: rope_type: \"linear\"" + expected);
  EXPECT_EQ(error_of(mistral(R"("multiple_of": 1, "rope_scaling": 4)")), "params.json: rope_scaling: 4" + expected);
  EXPECT_EQ(read_model_json(mistral("\"rope_scaling\": " + object), "x").status().code(), StatusCode::kUnsupported);
  EXPECT_EQ(read(mistral("\"rope_scaling\": null")).ropes[0].config.scaling, Scaling());
}

TEST(Params, Contradictions) {
  EXPECT_EQ(error_of(mistral("\"use_scaled_rope\": true, " + std::string(kYarn) + "}")),
            "params.json: yarn: an object, expected none beside use_scaled_rope");
  EXPECT_EQ(error_of(mistral(std::string(kYarn) + "}, \"original_max_position_embeddings\": 4096")),
            "params.json: original_max_position_embeddings: 4096, expected the same as in yarn, 8192");
  const ModelRopes same = read(mistral(std::string(kYarn) + "}, \"original_max_position_embeddings\": 8192"));
  EXPECT_NE(find_note(same.used, "original_max_position_embeddings"), nullptr);
  const ModelRopes alone = read(mistral("\"original_max_position_embeddings\": 8192"));
  EXPECT_EQ(find_note(alone.ignored, "original_max_position_embeddings")->reason,
            "no scaling rule of this file needs it");
  // A key of Meta's does not hide Mistral's rule.
  EXPECT_TRUE(std::holds_alternative<YarnScaling>(
      read(mistral("\"multiple_of\": 256, " + std::string(kYarn) + "}")).ropes[0].config.scaling));
}

TEST(Params, YarnKeysOfOtherFormats) {
  const auto yarn = [](std::string_view more) { return mistral(text(kYarn, ", ", more, "}")); };
  const auto betas = [&](std::string_view more) {
    const auto rule = std::get<YarnScaling>(read(yarn(more)).ropes[0].config.scaling);
    return std::vector<double>{rule.beta_fast, rule.beta_slow};
  };
  EXPECT_EQ(betas(R"("beta": 16, "alpha": 2)"), (std::vector<double>{16, 2}));
  EXPECT_EQ(betas(R"("beta_fast": 16, "beta_slow": 2)"), (std::vector<double>{16, 2}));
  EXPECT_EQ(betas(R"("rope_type": "yarn")"), (std::vector<double>{32, 1}));
  EXPECT_EQ(error_of(yarn(R"("beta": 16, "beta_fast": 32)")),
            "params.json: yarn.beta_fast: 32, expected the same as yarn.beta, 16");
  EXPECT_EQ(error_of(yarn(R"("type": "linear")")), "params.json: yarn.type: \"linear\", expected \"yarn\"");
  for (const char* key : {"mscale", "mscale_all_dim", "attention_factor", "truncate", "extrapolation_factor"}) {
    EXPECT_EQ(error_of(yarn(text("\"", key, "\": 0.5"))),
              text("params.json: yarn.", key, ": 0.5, expected of yarn only factor, "
                   "original_max_position_embeddings, beta, alpha and apply_scale"));
  }
}

TEST(Params, TowersOfOtherForms) {
  const std::string tower = R"({"hidden_size": 1024, "num_attention_heads": 16, "num_hidden_layers": 24})";
  for (const std::string& key : {"\"vision_encoder\": " + tower,
                                 "\"multimodal\": {\"vision_encoder_args\": " + tower + "}"}) {
    const ModelRopes model = read(mistral(key));
    ASSERT_EQ(model.ropes.size(), 2u) << key;
    EXPECT_EQ(model.ropes[1].config.theta, 10000);
    ASSERT_EQ(model.defaults.size(), 2u);  // head_dim too
    EXPECT_TRUE(model.defaults[1].key.ends_with(".rope_theta"));
  }
  // Voxtral's encoder turns too, by numbers that are not read.
  const ModelRopes audio = read(mistral(
      R"("multimodal": {"whisper_model_args": {"encoder_args": {"dim": 1280, "pos_embed": "rope", "rope_theta": 1e6}}})"));
  EXPECT_TRUE(has_warning(audio, "multimodal.whisper_model_args.encoder_args.rope_theta has no effect"));
  const ModelRopes meta = read(mistral(R"("use_scaled_rope": false, "vision_args": {"dim": 1408, "n_layers": 34})"));
  EXPECT_TRUE(has_warning(meta, "vision_args has no effect: the rope of Meta's vision tower is not in the file"));
}

TEST(Params, DefaultsOfTheTemperature) {
  const ModelRopes on = read(mistral(R"("nope_layer_interval": 2, "attn_temperature_tuning": true)"));
  EXPECT_EQ(on.query_scale_without_rope, (QueryScale{QueryScale::Rule::kLogFloorPlusOne, 0.1, 8192}));
  EXPECT_NE(find_note(on.defaults, "attn_scale"), nullptr);
  EXPECT_NE(find_note(on.defaults, "floor_scale"), nullptr);
  const ModelRopes off = read(mistral(R"("nope_layer_interval": 2, "attn_scale": 0.2)"));
  EXPECT_EQ(off.query_scale_without_rope, QueryScale{});
  EXPECT_NE(find_note(off.ignored, "attn_scale"), nullptr);
}

TEST(Params, OneLengthOfSeveral) {
  const ModelRopes model = read(mistral(R"("max_position_embeddings": 131072, "max_seq_len": 4096)"));
  EXPECT_EQ(model.context, 131072);
  EXPECT_NE(find_note(model.ignored, "max_seq_len"), nullptr);
}

}  // namespace
}  // namespace ropecache
