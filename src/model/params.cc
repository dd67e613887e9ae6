// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// params.json, beside the consolidated weights of Mistral and Meta. Those weights pair neighbours (complex numbers).
// Rules and defaults: mistral-inference (rope.py, transformer.py), vLLM's mapping of Mistral's yarn keys
// (transformers_utils/configs/mistral.py), Meta's llama and llama-models (model.py, args.py).
#include <string>
#include <vector>

#include "model/assemble.h"
#include "model/hf_section.h"
#include "model/readers.h"
#include "text.h"

namespace ropecache::model {
namespace {

constexpr std::int64_t kMaxContext = std::int64_t{1} << 31;

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
    if (meta_) {
      read_llama3();
    } else {
      read_yarn();
    }
    read_query_scale();
    add_layers();
    if (!meta_) read_vision();
    ignore_the_rest();
    Status status = assemble(ropes_, options, name_, model_);
    if (!status.ok()) return status;
    audit_.ledger.move_into(model_);
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
      if (const auto value = file_.integer(key, 1, std::int64_t{1} << 40)) {
        model_.context = *value;
        return;
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

  // Meta: the file only switches the scaling on; its numbers are in the code of each release.
  void read_llama3() {
    const bool scaled = file_.boolean("use_scaled_rope").value_or(false);
    if (!scaled) {
      for (const std::string_view key : {"rope_scaling_factor", "rope_high_freq_factor"}) {
        file_.ignore_if_present(key, "use_scaled_rope is not set");
      }
      return;
    }
    const bool llama4 = file_.has("nope_layer_interval");
    Llama3Scaling rule;
    rule.factor = llama4 ? 16 : 8;
    rule.high_freq_factor = llama4 ? 1 : 4;
    if (const auto factor = file_.positive("rope_scaling_factor")) {
      rule.factor = *factor;
    } else {
      file_.defaulted("rope_scaling_factor", rule.factor, llama4 ? "of Llama 4 Scout" : "of Llama 3.1 and 3.3");
      audit_.warn(text("use_scaled_rope without rope_scaling_factor: ", rule.factor, " is assumed",
                       llama4 ? "" : "; Llama 3.2 needs 32"));
    }
    if (const auto high = file_.positive("rope_high_freq_factor")) {
      rule.high_freq_factor = *high;
    } else {
      file_.defaulted("rope_high_freq_factor", rule.high_freq_factor, "of this release");
    }
    file_.defaulted("original_max_position_embeddings", rule.original_context, "in the code of every release");
    file_.defaulted("low_freq_factor", rule.low_freq_factor, "in the code of every release");
    rope_.scaling = rule;
  }

  void read_yarn() {
    const Section yarn = file_.child("yarn");
    if (!yarn.exists()) return;
    YarnScaling rule;
    const auto factor = yarn.positive("factor");
    if (!factor) yarn.refuse("factor", "a number above 0");
    const auto original = yarn.integer("original_max_position_embeddings", 1, kMaxContext);
    if (!original) yarn.refuse("original_max_position_embeddings", "the original context length");
    rule.factor = *factor;
    rule.original_context = *original;
    rule.beta_fast = beta(yarn, "beta", 32);
    rule.beta_slow = beta(yarn, "alpha", 1);
    const auto scale = yarn.boolean("apply_scale");
    if (!scale)
      yarn.defaulted("apply_scale", true, "YaRN's magnitude is on cos and sin unless the file says otherwise");
    rule.magnitude = scale.value_or(true) ? YarnMagnitude::kPlain : YarnMagnitude::kOne;
    if (mla_) {
      // Latent attention carries the magnitude, squared, in the softmax scale (DeepSeek-V3's rule with mscale 1).
      rule.softmax_scale = true;
      rule.mscale_all_dim = 1;
    }
    rope_.scaling = rule;
  }

  static double beta(const Section& yarn, std::string_view key, double standard) {
    const auto given = yarn.positive(key);
    if (!given) yarn.defaulted(key, standard, "of YaRN");
    return given.value_or(standard);
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
    if (!file_.boolean("attn_temperature_tuning").value_or(false)) return;
    QueryScale& scale = model_.query_scale_without_rope;
    scale = {QueryScale::Rule::kLogFloorPlusOne, 0.1, 8192};
    if (const auto beta = file_.positive("attn_scale")) scale.beta = *beta;
    if (const auto floor = file_.positive("floor_scale")) scale.context = *floor;
  }

  // Pixtral's tower: rows turn by the frequencies of even index, columns by those of odd index.
  void read_vision() {
    const Section vision = file_.child("vision_encoder");
    if (!vision.exists() || !vision.has("rope_theta")) return;
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
    config.theta = *vision.positive("rope_theta");
    config.axes = {AxisLayout::kAxialAlternating, {static_cast<int>(head / 4), static_cast<int>(head / 4)}};
    for (int layer = 0; layer < *layers; ++layer) ropes_.push_back({Role::kVision, layer, "all", config});
  }

  void ignore_the_rest() {
    for (const std::string_view key : {"yarn", "llama_4_scaling"}) {
      const Section section = file_.child(key);
      if (!section.exists() || meta_) continue;
      audit_.seen.insert(section.path());
      for (const auto& item : section.object()->items()) section.ignore(item.key(), "not read from params.json");
    }
    for (const auto& item : config_.items()) {
      for (const std::string_view word : {"rope", "rotary", "partial", "yarn", "scal", "freq", "original_max", "window",
                                          "nope", "theta", "temperature"}) {
        if (item.key().find(word) != std::string::npos) {
          file_.ignore(item.key(), word == "window" ? "a window changes no rope" : "not read from params.json");
        }
      }
    }
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
  return config.contains("dim") && config.contains("n_layers") && !config.contains("model_type") &&
         !config.contains("architectures");
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
