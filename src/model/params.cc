// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// params.json, beside the consolidated weights of Mistral and Meta. Those weights pair neighbours (complex numbers).
// Defaults: mistral-inference (args.py, rope.py, transformer.py), Meta's llama and llama-models (model.py, args.py).
#include <string>
#include <vector>

#include "model/assemble.h"
#include "model/hf_section.h"
#include "model/params_leftovers.h"
#include "model/params_scaling.h"
#include "model/readers.h"
#include "text.h"

namespace ropecache::model {
namespace {

// Keys that only one of the two writes.
bool is_meta(const Json& config) {
  for (const char* key : {"use_scaled_rope", "nope_layer_interval", "multiple_of", "ffn_dim_multiplier"}) {
    if (config.contains(key)) return true;
  }
  return false;
}

class ParamsReader {
 public:
  ParamsReader(const Json& config, std::string_view name, Audit& audit)
      : file_(&config, "", &audit), audit_(audit), config_(config), meta_(is_meta(config)), name_(name) {}

  Result<ModelRopes> read(const ReadOptions& options) {
    model_.path = name_;
    model_.format = meta_ ? ModelFormat::kMetaParams : ModelFormat::kMistralParams;
    model_.architecture = meta_ ? "llama" : "mistral";
    model_.layers = static_cast<int>(required("n_layers", kMaxLayers));
    read_context();
    read_head();
    read_theta();
    rope_.scaling = read_params_scaling(file_, meta_, mla_);
    read_query_scale();
    add_layers();
    read_vision();
    account_for_params_leftovers(config_, audit_);
    audit_.ledger.move_into(model_);
    Status status = assemble(ropes_, options, name_, model_);
    if (!status.ok()) return status;
    return std::move(model_);
  }

 private:
  std::int64_t required(std::string_view key, std::int64_t most) {
    const auto value = file_.integer(key, 1, most);
    if (!value) file_.refuse(key, text("a whole number from 1 to ", most));
    return *value;
  }

  void read_context() {
    for (const std::string_view key : {"max_position_embeddings", "max_seq_len", "model_max_length"}) {
      if (model_.context != 0) {
        file_.ignore_if_present(key, "another key gives the context");
      } else if (const auto value = file_.integer(key, 1, std::int64_t{1} << 40)) {
        model_.context = *value;
      }
    }
  }

  void read_head() {
    rope_.pairing = Pairing::kInterleaved;
    if (const auto rope = file_.integer("qk_rope_head_dim", 1, kMaxWidth)) {
      const auto nope = file_.integer("qk_nope_head_dim", 0, kMaxWidth);
      if (!nope) file_.refuse("qk_nope_head_dim", "the part of a head that does not turn");
      rope_.head_dim = static_cast<int>(*nope + *rope);
      rope_.rotary_dim = static_cast<int>(*rope);
      rope_.rotary_offset = static_cast<int>(*nope);
      mla_ = true;
      file_.ignore_if_present("head_dim", "qk_nope_head_dim and qk_rope_head_dim give the head");
      return;
    }
    std::optional<std::int64_t> head = file_.integer("head_dim", 1, kMaxWidth);
    if (!head) {
      const std::int64_t width = required("dim", std::int64_t{1} << 31);
      const std::int64_t heads = required("n_heads", kMaxWidth);
      if (width % heads != 0 || width / heads > kMaxWidth) file_.refuse("dim", text("a multiple of n_heads ", heads));
      head = width / heads;
      file_.defaulted("head_dim", *head, "dim / n_heads");
    }
    rope_.head_dim = rope_.rotary_dim = static_cast<int>(*head);
  }

  void read_theta() {
    if (const auto theta = file_.positive("rope_theta")) {
      rope_.theta = *theta;
      return;
    }
    const bool windowed = file_.has("sliding_window");
    rope_.theta = meta_ || windowed ? 10000 : 1000000;
    file_.defaulted("rope_theta", rope_.theta,
                    meta_      ? "of Llama 1 and 2, which leave it out"
                    : windowed ? "of the reference code for a model with a sliding window"
                               : "of the reference code for a model without a sliding window");
    audit_.warn(text("rope_theta is missing: ", rope_.theta, " is assumed"));
  }

  void read_query_scale() {
    const Section scaling = file_.child("llama_4_scaling");
    if (!scaling.exists()) return;
    const auto beta = scaling.number("beta");
    if (!beta) scaling.refuse("beta", "a number");
    const auto original = scaling.positive("original_max_position_embeddings");
    if (!original) scaling.refuse("original_max_position_embeddings", "the original context length");
    rope_.query_scale = {QueryScale::Rule::kLogFloor, *beta, *original};
  }

  void add_layers() {
    const std::int64_t interval = file_.integer("nope_layer_interval", 0, kMaxLayers).value_or(0);
    for (int layer = 0; layer < model_.layers; ++layer) {
      if (interval > 0 && (layer + 1) % interval == 0) continue;
      ropes_.push_back({Role::kAttention, layer, "all", rope_});
    }
    if (!file_.boolean("attn_temperature_tuning").value_or(false)) {
      for (const std::string_view key : {"attn_scale", "floor_scale"}) {
        file_.ignore_if_present(key, "attn_temperature_tuning is off");
      }
      return;
    }
    model_.query_scale_without_rope = {QueryScale::Rule::kLogFloorPlusOne, positive_or("attn_scale", 0.1),
                                       positive_or("floor_scale", 8192)};
  }

  double positive_or(std::string_view key, double standard) {
    const auto given = file_.positive(key);
    if (!given) file_.defaulted(key, standard, "of Llama 4");
    return given.value_or(standard);
  }

  // Pixtral's tower: rows turn by the frequencies of even index, columns by those of odd index.
  void read_vision() {
    Section vision = file_.child("vision_encoder");
    if (!vision.exists()) vision = file_.child("multimodal").child("vision_encoder_args");
    if (!vision.exists()) return;
    const auto width = vision.integer("hidden_size", 1, std::int64_t{1} << 31);
    const auto heads = vision.integer("num_attention_heads", 1, kMaxWidth);
    const auto layers = vision.integer("num_hidden_layers", 1, kMaxLayers);
    if (!width || !heads) vision.refuse("hidden_size", "the width of the tower, beside num_attention_heads");
    if (!layers) vision.refuse("num_hidden_layers", "the number of layers of the tower");
    const std::int64_t head = *width / *heads;
    if (*width % *heads != 0 || head % 4 != 0 || head > kMaxWidth) {
      vision.refuse("hidden_size", text("num_attention_heads ", *heads, " times a multiple of 4"));
    }
    RopeConfig config;
    config.head_dim = config.rotary_dim = static_cast<int>(head);
    config.pairing = Pairing::kInterleaved;
    const auto theta = vision.positive("rope_theta");
    if (!theta) vision.defaulted("rope_theta", 10000.0, "of the reference code");
    config.theta = theta.value_or(10000);
    config.axes = {AxisLayout::kAxialAlternating, {static_cast<int>(head / 4), static_cast<int>(head / 4)}};
    for (int layer = 0; layer < *layers; ++layer) ropes_.push_back({Role::kVision, layer, "all", config});
  }

  Section file_;
  Audit& audit_;
  const Json& config_;
  bool meta_;
  bool mla_ = false;
  std::string_view name_;
  RopeConfig rope_;
  std::vector<LayerRope> ropes_;
  ModelRopes model_;
};

}  // namespace

bool looks_like_params(const Json& config) {
  // "transformer" is what vLLM takes for files of this form without a model_type.
  const bool typed = config.contains("model_type") && config["model_type"] != "transformer";
  return config.contains("dim") && config.contains("n_layers") && !typed && !config.contains("architectures");
}

Result<ModelRopes> read_params(const Json& config, std::string_view name, const ReadOptions& options) {
  Audit audit;
  audit.name = name;
  try {
    return ParamsReader(config, name, audit).read(options);
  } catch (const Refusal& refusal) {
    return refusal.status;
  }
}

}  // namespace ropecache::model
