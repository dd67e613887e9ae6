// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "model/gguf_config.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "model/gguf_scaling.h"
#include "text.h"

namespace ropecache::model {
namespace {

constexpr double kStandardBase = 10000;  // llama.cpp's where a file has none
constexpr std::int64_t kMaxHeads = 1 << 20;

class ConfigReader {
 public:
  ConfigReader(const GgufArchitecture& row, const GgufKeys& keys, const GgufFile& file, const GgufLayers& layers,
               ModelRopes& model)
      : row_(row), keys_(keys), layers_(layers), model_(model) {
    hyper_ = row.has(kNormIfHyper) && keys.integer("hyper_connection.count", 0, kMaxHeads).value_or(0) > 0;
    read_heads();
    read_bases();
    scaling_ = read_gguf_scaling(row, keys, file, model.context);
    read_axes();
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
    read_indexer(full);
    return std::move(ropes_);
  }

 private:
  // ---- Heads and widths ------------------------------------------------------------------------------------------

  void read_heads() {
    const auto key_length = keys_.integer("attention.key_length", 1, kMaxWidth);
    if (row_.has(kMla)) {
      const auto mla = keys_.integer("attention.key_length_mla", 1, kMaxWidth);
      head_ = static_cast<int>(mla ? *mla : key_length ? *key_length : 0);
      if (head_ == 0) keys_.refuse("attention.key_length_mla", "the size of a head, or attention.key_length");
    } else {
      head_ = key_length ? static_cast<int>(*key_length) : head_by_division();
    }
    head_sliding_ = head_;
    if (layers_.windowed) {
      const std::string_view key = row_.has(kMla) ? "attention.key_length_mla_swa" : "attention.key_length_swa";
      if (const auto given = keys_.integer(key, 1, kMaxWidth)) head_sliding_ = static_cast<int>(*given);
    }
    read_widths();
  }

  int head_by_division() {
    const auto width = keys_.integer("embedding_length", 1, std::int64_t{1} << 31);
    const auto heads = keys_.integers("attention.head_count", 1);
    if (!width || !heads) {
      keys_.refuse("attention.key_length", "the size of a head, or embedding_length and attention.head_count");
    }
    const auto some = std::find_if(heads->begin(), heads->end(), [](int count) { return count > 0; });
    if (some == heads->end()) keys_.refuse("attention.head_count", "a positive number of heads");
    if (*width % *some != 0 || *width / *some > kMaxWidth) {
      keys_.refuse("embedding_length", text("a multiple of attention.head_count ", *some, ", or attention.key_length"));
    }
    keys_.defaulted("attention.key_length", text(*width / *some), "embedding_length / attention.head_count");
    return static_cast<int>(*width / *some);
  }

  void read_widths() {
    constexpr std::string_view kKey = "rope.dimension_count";
    width_ = width_sliding_ = head_;
    if (row_.has(kWholeHead)) {
      keys_.ignore(kKey, "llama.cpp turns the whole head of this architecture");
    } else if (const auto given = keys_.integer(kKey, 1, kMaxWidth)) {
      width_ = width_sliding_ = static_cast<int>(*given);
    } else if (row_.has(kMla)) {
      keys_.refuse(kKey, "the size of the part of a head that turns");
    } else {
      width_sliding_ = head_sliding_;
      keys_.defaulted(kKey, text(width_), "the size of a head");
    }
    if (row_.has(kMustBeWholeHead) && width_ != head_) keys_.refuse(kKey, text("the size of a head, ", head_));
    if (layers_.windowed) {
      if (const auto given = keys_.integer("rope.dimension_count_swa", 1, kMaxWidth)) {
        width_sliding_ = static_cast<int>(*given);
      }
    }
    if (row_.has(kFullHalf)) width_ /= 2;
  }

  void set_width(RopeConfig& config, int width) {
    config.rotary_dim = width;
    if (config.rotary_offset != 0) config.rotary_offset = config.head_dim - width;
    cut_divisors(config);
  }

  // ---- Bases ---------------------------------------------------------------------------------------------------

  void read_bases() {
    constexpr std::string_view kKey = "rope.freq_base";
    base_ = kStandardBase;
    if (row_.has(kFixedBase)) {
      keys_.ignore(kKey, "llama.cpp turns this architecture by 10000");
    } else if (const auto given = keys_.number(kKey)) {
      base_ = checked_base(kKey, *given);
    } else if (!keys_.has("rope.freq_base_per_layer")) {
      keys_.defaulted(kKey, text(base_), "what llama.cpp takes for files without it");
      if (!row_.has(kOmitsBase)) {
        keys_.audit().warn(text(keys_.full_name(kKey),
                                " is missing: 10000 is assumed; many models of this family were"
                                " trained with another base"));
      }
    }
    base_sliding_ = base_;
    if (!layers_.windowed || row_.sliding_base == SlidingBase::kAlwaysMain) return;
    read_sliding_base();
  }

  double checked_base(std::string_view key, double base) const {
    if (!(base > 1 && base <= 1e30)) keys_.refuse(key, "a number above 1, at most 1e30");
    return base;
  }

  void read_sliding_base() {
    constexpr std::string_view kKey = "rope.freq_base_swa";
    if (const auto given = keys_.number(kKey)) {
      base_sliding_ = checked_base(kKey, *given);
    } else if (row_.sliding_base == SlidingBase::kTenThousand) {
      base_sliding_ = kStandardBase;
      keys_.defaulted(kKey, text(base_sliding_), "of this architecture");
    } else if (row_.sliding_base == SlidingBase::kRequired && !keys_.has("rope.freq_base_per_layer")) {
      keys_.refuse(kKey, "the base of sliding layers, or rope.freq_base_per_layer");
    } else {
      keys_.defaulted(kKey, text(base_sliding_), "rope.freq_base");
    }
  }

  // ---- Axes ----------------------------------------------------------------------------------------------------

  void read_axes() {
    rope_ = hyper_ ? GgmlRope::kNorm : row_.rope;
    const bool by_sections = row_.has(kMropeIfSections);
    if (rope_ != GgmlRope::kMrope && rope_ != GgmlRope::kImrope && !by_sections) return;
    constexpr std::string_view kKey = "rope.dimension_sections";
    const auto given = keys_.integers(kKey, 2);
    if (!given) {
      if (!by_sections) keys_.refuse(kKey, "the pairs that each position turns");
      return;
    }
    std::vector<int> sections = *given;
    if (sections.size() > 4) keys_.refuse(kKey, "at most 4 sections");
    for (const int section : sections) {
      if (section < 0) keys_.refuse(kKey, "sections of 0 pairs or more");
    }
    sections.resize(4, 0);
    if (by_sections) {
      // DFlash drafts carry [pairs, 0, 0, 0]; for the others two sections make it M-RoPE.
      if (sections[0] == 0 || (sections[1] == 0 && !row_.has(kNormIfHyper))) return;
      rope_ = GgmlRope::kMrope;
    }
    if (sections[3] == 0) sections.pop_back();
    axes_.layout = AxisLayout::kInterleavedGgml;
    if (rope_ == GgmlRope::kMrope) {
      const int sum = std::accumulate(sections.begin(), sections.end(), 0);
      axes_.layout = 2 * sum == width_ ? AxisLayout::kSectioned : AxisLayout::kSectionedGgml;
    }
    axes_.sections = std::move(sections);
  }

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
    if (!row_.has(kLlama3Family) || base_ != 500000 || !scaling_.divisors.empty()) return;
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
    config.head_dim = slides ? head_sliding_ : head_;
    config.rotary_dim = slides ? width_sliding_ : width_;
    if (row_.has(kMla) || row_.has(kTail) || hyper_) config.rotary_offset = config.head_dim - config.rotary_dim;
    config.pairing = rope_ == GgmlRope::kNorm ? Pairing::kInterleaved : Pairing::kHalf;
    config.theta = slides ? base_sliding_ : base_;
    config.axes = axes_;
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

  // ik_llama.cpp's step35: bit 0 for full layers, bit 1 for sliding ones.
  bool mask_says_sliding() const { return (keys_.integer("rope.scaling.apply_mask", 0, 3).value_or(1) & 2) != 0; }

  // Layers narrower than the tensor take its first numbers; only Step-3.5 has such layers.
  void cut_divisors(RopeConfig& config) const {
    const auto pairs = static_cast<std::size_t>(std::max(config.rotary_dim, 0) / 2);
    if (config.divisors.empty() || config.divisors.size() == pairs) return;
    if (config.divisors.size() < pairs || !row_.has(kFullHalf)) {
      keys_.audit().refuse(text("tensor ", kGgufRopeFreqs, ": ", config.divisors.size(), " numbers, expected ", pairs,
                                ", one for each pair"));
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
    compressed_.theta = checked_base("attention.compress_rope_freq_base", *base);
    compressed_.scaling = scaling_.full;
  }

  // ---- Indexers ------------------------------------------------------------------------------------------------

  void read_indexer(const RopeConfig& full) {
    if (row_.indexer == Indexer::kNone) return;
    const auto head = keys_.integer("attention.indexer.key_length", 1, kMaxWidth);
    if (!head) return;
    RopeConfig config = row_.has(kCompressed) ? compressed_ : full;
    config.head_dim = static_cast<int>(*head);
    config.rotary_offset = row_.indexer == Indexer::kNormLast ? config.head_dim - config.rotary_dim : 0;
    if (row_.indexer == Indexer::kNeoxFirst) config.pairing = Pairing::kHalf;
    if (row_.indexer == Indexer::kNormFirst || row_.indexer == Indexer::kNormLast) {
      config.pairing = Pairing::kInterleaved;
    }
    config.query_scale = {};
    config.inverse_on_output = false;
    if (auto* yarn = std::get_if<YarnScaling>(&config.scaling)) yarn->softmax_scale = false;
    for (const int layer : indexer_layers()) ropes_.push_back({Role::kIndexer, layer, "all", config});
  }

  std::vector<int> indexer_layers() {
    std::vector<int> own;
    if (row_.has(kCompressed)) {
      for (int layer = 0; layer < layers_.all(); ++layer) {
        if (is_compressed(layer) && ratios_[static_cast<std::size_t>(layer)] == 4) own.push_back(layer);
      }
      return own;
    }
    const auto types = keys_.integers("attention.indexer.types", layers_.decoder);
    const auto ratios = row_.rotates == Rotates::kEveryInterval
                            ? keys_.integers("attention.compress_ratios", layers_.decoder)
                            : std::nullopt;
    const auto dense = keys_.has("attention.indexer.block_size")
                           ? keys_.integer("leading_dense_block_count", 0, kMaxLayers).value_or(0)
                           : 0;
    if (!types && !ratios) keys_.defaulted("attention.indexer.types", "1", "every layer has an indexer of its own");
    for (int layer = static_cast<int>(dense); layer < layers_.decoder; ++layer) {
      const auto at = static_cast<std::size_t>(layer);
      const bool listed = types ? (*types)[at] != 0 : !ratios || (*ratios)[at] != 0;
      if (listed && layers_.rotates[at]) own.push_back(layer);
    }
    return own;
  }

  const GgufArchitecture& row_;
  const GgufKeys& keys_;
  const GgufLayers& layers_;
  ModelRopes& model_;
  std::vector<LayerRope> ropes_;
  GgmlRope rope_ = GgmlRope::kNone;
  bool hyper_ = false;
  bool kinds_ = false;  // full and sliding layers turn differently
  int head_ = 0, head_sliding_ = 0;
  int width_ = 0, width_sliding_ = 0;
  double base_ = 0, base_sliding_ = 0;
  Axes axes_;
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
