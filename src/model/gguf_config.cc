// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "model/gguf_config.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "model/gguf_axes.h"
#include "model/gguf_geometry.h"
#include "model/gguf_indexer.h"
#include "model/gguf_scaling.h"
#include "text.h"

namespace ropecache::model {
namespace {

constexpr std::int64_t kMaxHeads = 1 << 20;

class ConfigReader {
 public:
  ConfigReader(const GgufArchitecture& row, const GgufKeys& keys, const GgufFile& file, const GgufLayers& layers,
               ModelRopes& model)
      : row_(row), keys_(keys), layers_(layers), model_(model) {
    hyper_ = row.has(kNormIfHyper) && keys.integer("hyper_connection.count", 0, kMaxHeads).value_or(0) > 0;
    geometry_ = read_gguf_geometry(row, keys, layers);
    scaling_ = read_gguf_scaling(row, keys, file, model.context);
    axes_ = read_gguf_axes(row, keys, hyper_ ? GgmlRope::kNorm : row.rope, geometry_.width);
    read_query_scale();
    warn_of_lost_factors();
  }

  std::vector<LayerRope> read() {
    if (row_.has(kCompressed)) read_compressed();
    const auto bases = keys_.numbers("rope.freq_base_per_layer", layers_.decoder);
    const auto widths = keys_.integers("rope.dimension_count_per_layer", layers_.decoder);
    const RopeConfig full = config(false);
    const RopeConfig sliding = layers_.windowed ? config(true) : full;
    // A window alone makes no second kind of rope.
    kinds_ = layers_.windowed && (sliding != full || std::find(layers_.rotates.begin(), layers_.rotates.end(), false) !=
                                                         layers_.rotates.end());
    for (int layer = 0; layer < layers_.all(); ++layer) {
      const auto at = static_cast<std::size_t>(layer);
      if (!layers_.rotates[at]) continue;
      const bool slides = layers_.sliding[at];
      LayerRope rope{Role::kAttention, layer, group(slides), slides ? sliding : full};
      if (bases && at < bases->size()) rope.config.theta = (*bases)[at];
      if (widths && at < widths->size()) set_width(rope.config, (*widths)[at]);
      if (is_compressed(layer)) {
        rope.group = "compress";
        rope.config = compressed_;
      } else if (row_.has(kCompressed)) {
        rope.group = "main";
      }
      ropes_.push_back(std::move(rope));
    }
    std::vector<LayerRope> indexers =
        gguf_indexer_ropes(row_, keys_, layers_, ratios_, row_.has(kCompressed) ? compressed_ : full);
    std::move(indexers.begin(), indexers.end(), std::back_inserter(ropes_));
    return std::move(ropes_);
  }

 private:
  // ---- What goes to attention ----------------------------------------------------------------------------------

  void read_query_scale() {
    if (row_.has(kLlama4Temperature) && layers_.windowed) {
      model_.query_scale_without_rope = {QueryScale::Rule::kLogFloorPlusOne, 0.1, 8192};
      keys_.defaulted("attention.temperature_scale", "0.1", "of this architecture, in layers without a rope");
    }
    if (!row_.has(kTemperature) && !row_.has(kTemperatureLength)) return;
    const double beta = keys_.number("attention.temperature_scale").value_or(0);
    if (beta == 0) return;
    query_scale_ = {QueryScale::Rule::kLogFloor, beta, static_cast<double>(scaling_.original_context)};
    constexpr std::string_view kLength = "attention.temperature_length";
    if (row_.has(kTemperatureLength)) query_scale_.context = keys_.number(kLength).value_or(0);
    if (!(query_scale_.context >= 1)) {
      keys_.refuse(row_.has(kTemperatureLength) ? kLength : "rope.scaling.original_context_length",
                   "the length over which attention.temperature_scale counts");
    }
  }

  // What a converter forgot leaves no trace but the absence of a tensor.
  void warn_of_lost_factors() {
    if (row_.factors == Factors::kFull && !row_.has(kFullHalf) && scaling_.divisors.empty()) {
      keys_.audit().warn(
          "tensor rope_freqs.weight is missing: every pair of full layers turns, where Gemma 4 turns a quarter");
    }
    if (!row_.has(kLlama3Family) || geometry_.base != 500000 || !scaling_.divisors.empty()) return;
    if (!std::holds_alternative<std::monostate>(scaling_.full)) return;
    if (model_.context > 0 && model_.context <= 8192) return;  // Llama 3.0, which has none
    keys_.audit().warn(
        "base 500000 without tensor rope_freqs.weight: if this is Llama 3.1 or later, the converter lost its llama3 "
        "scaling");
  }

  // ---- Configs -------------------------------------------------------------------------------------------------

  std::string group(bool slides) const { return !kinds_ ? "all" : slides ? "sliding_attention" : "full_attention"; }

  bool is_compressed(int layer) const {
    const auto at = static_cast<std::size_t>(layer);
    return at < ratios_.size() && ratios_[at] != 0;
  }

  RopeConfig config(bool slides) const {
    RopeConfig config;
    config.head_dim = slides ? geometry_.head_sliding : geometry_.head;
    config.rotary_dim = slides ? geometry_.width_sliding : geometry_.width;
    if (row_.has(kMla) || row_.has(kTail) || hyper_) config.rotary_offset = config.head_dim - config.rotary_dim;
    config.pairing = axes_.rope == GgmlRope::kNorm ? Pairing::kInterleaved : Pairing::kHalf;
    config.theta = slides ? geometry_.base_sliding : geometry_.base;
    config.axes = axes_.axes;
    config.query_scale = query_scale_;
    config.inverse_on_output = row_.has(kCompressed);
    if (hyper_ || row_.has(kCompressed)) return config;  // main layers of DeepSeek-V4 are not scaled
    set_scaling(slides, config);
    return config;
  }

  void set_scaling(bool slides, RopeConfig& config) const {
    if (!slides || row_.sliding_scaling == SlidingScaling::kMain) {
      config.scaling = scaling_.full;
    } else if (row_.sliding_scaling == SlidingScaling::kUnscaled) {
      config.scaling = plain_with_magnitude(scaling_.attn_factor);
    }
    const bool takes_factors = row_.factors == Factors::kAll || (row_.factors == Factors::kFull && !slides) ||
                               (row_.factors == Factors::kFull && mask_says_sliding());
    if (takes_factors) config.divisors = scaling_.divisors;
    if (scaling_.longrope_factor != 1 && std::holds_alternative<LongRopeScaling>(config.scaling)) {
      config.divisors.assign(static_cast<std::size_t>(config.rotary_dim / 2), scaling_.longrope_factor);
    }
    if (const auto alpha = row_.has(kAlpha) ? keys_.number("rope.scaling.alpha") : std::nullopt; alpha && *alpha > 0) {
      if (!std::holds_alternative<std::monostate>(config.scaling)) {
        keys_.refuse("rope.scaling.alpha", "no other scaling beside it", StatusCode::kUnsupported);
      }
      config.scaling = NtkAlphaScaling{*alpha};
    }
    cut_divisors(config);
  }

  void set_width(RopeConfig& config, int width) {
    config.rotary_dim = width;
    if (config.rotary_offset != 0) config.rotary_offset = config.head_dim - width;
    cut_divisors(config);
  }

  // ik_llama.cpp's step35: bit 0 for full layers, bit 1 for sliding ones.
  bool mask_says_sliding() const { return (keys_.integer("rope.scaling.apply_mask", 0, 3).value_or(1) & 2) != 0; }

  // Layers narrower than the tensor take its first numbers; only Step-3.5 has such layers.
  void cut_divisors(RopeConfig& config) const {
    const auto pairs = static_cast<std::size_t>(std::max(config.rotary_dim, 0) / 2);
    if (config.divisors.empty() || config.divisors.size() == pairs) return;
    if (config.divisors.size() < pairs || !row_.has(kFullHalf)) {
      keys_.audit().refuse(text("tensor ", kGgufRopeFreqs, ": ", counted(config.divisors.size(), "number"),
                                ", expected ", pairs, ", one for each pair"));
    }
    config.divisors.resize(pairs);
  }

  void read_compressed() {
    const auto ratios = keys_.integers("attention.compress_ratios", layers_.all());
    if (!ratios) keys_.refuse("attention.compress_ratios", "a ratio for each layer");
    ratios_ = *ratios;
    const auto base = keys_.number("attention.compress_rope_freq_base");
    if (!base) keys_.refuse("attention.compress_rope_freq_base", "the base of compressed layers");
    compressed_ = config(false);
    compressed_.theta = checked_gguf_base(keys_, "attention.compress_rope_freq_base", *base);
    compressed_.scaling = scaling_.full;
  }

  const GgufArchitecture& row_;
  const GgufKeys& keys_;
  const GgufLayers& layers_;
  ModelRopes& model_;
  std::vector<LayerRope> ropes_;
  bool hyper_ = false;
  bool kinds_ = false;  // full and sliding layers turn differently
  GgufGeometry geometry_;
  GgufAxes axes_;
  QueryScale query_scale_;
  GgufScaling scaling_;
  std::vector<int> ratios_;  // of DeepSeek-V4; not 0: the layer turns by `compressed_`
  RopeConfig compressed_;
};

}  // namespace

std::vector<LayerRope> gguf_layer_ropes(const GgufArchitecture& row, const GgufKeys& keys, const GgufFile& file,
                                        const GgufLayers& layers, ModelRopes& model) {
  return ConfigReader(row, keys, file, layers, model).read();
}

}  // namespace ropecache::model
