// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "model/hf_layers.h"

#include <algorithm>
#include <array>
#include <utility>

#include "model/assemble.h"
#include "model/hf_kinds.h"
#include "model/hf_layer_values.h"
#include "text.h"

namespace ropecache::model {

namespace {

// Of one meaning; the others are tried after them.
constexpr std::array<std::string_view, 4> kCountKeys = {"num_hidden_layers", "n_layer", "num_layers", "n_layers"};
constexpr std::array<std::string_view, 3> kOtherCountKeys = {"depth", "decoder_layers", "decoder_num_hidden_layers"};
constexpr std::array<std::string_view, 4> kMtpKeys = {"num_nextn_predict_layers", "mtp_num_hidden_layers",
                                                      "num_mtp_layers", "mtp_num_layers"};

// `least`: 1 for a decoder; a tower of no layers is a model without that tower.
int read_count(const Section& config, const Sizes* sizes, int least) {
  std::string_view key = config.one_of(kCountKeys);
  for (const std::string_view other : kOtherCountKeys) {
    if (key.empty() && config.has(other)) key = other;
  }
  if (!key.empty()) {
    const int count = static_cast<int>(*config.integer(key, least, kMaxLayers));
    if (count == 0) config.audit().warn(text(config.path(key), " is 0: the tower has no layers"));
    return count;
  }
  const Json* types = config.peek("layer_types");  // Nemotron-H
  if (types != nullptr && types->is_array() && !types->empty() && types->size() <= kMaxLayers) {
    return static_cast<int>(types->size());
  }
  if (sizes == nullptr || sizes->layers == 0) config.refuse(kCountKeys[0], "the number of layers");
  config.defaulted(kCountKeys[0], sizes->layers, text("class default of ", sizes->type));
  return sizes->layers;
}

// How many MTP layers the file says there are.
std::optional<int> read_mtp(const Section& config) {
  if (const std::string_view key = config.one_of(kMtpKeys); !key.empty()) {
    return static_cast<int>(*config.integer(key, 0, kMaxLayers));
  }
  if (const auto use = config.boolean("use_mtp"); use && !*use) return 0;
  if (const auto modules = config.integer("num_mtp_modules", 0, 64)) {
    if (*modules == 0) return 0;
    return static_cast<int>(*modules * config.integer_or("mtp_transformer_layers", 0, 64, 1, "of the model type"));
  }
  return std::nullopt;
}

// Which layers have a dense MLP: mlp_layer_types, else the first few.
std::vector<bool> read_dense(const Section& config, const Layers& layers) {
  std::vector<bool> dense(layers.all.size(), false);
  const auto list = config.either("mlp_layer_types", "dense", "sparse");
  if (!list) {
    std::fill_n(dense.begin(), dense_layers(config, layers.count), true);
    return dense;
  }
  check_length(config, "mlp_layer_types", list->size(), layers);
  std::copy_n(list->begin(), std::min(list->size(), dense.size()), dense.begin());
  return dense;
}

// Which layers a NoPE rule leaves unturned.
void apply_nope(const Section& config, const Family& family, Layers& layers) {
  const auto full = [](const Layer& layer) { return layer.kind == "full_attention"; };
  switch (family.nope) {
    case NopeRule::kNone: return;
    case NopeRule::kFull:
      for (Layer& layer : layers.all) layer.rotates &= !full(layer);
      return;
    case NopeRule::kFullWhereWindow: {
      config.use("sliding_window");
      const bool window = !config.contains("sliding_window") || config.has("sliding_window");
      for (Layer& layer : layers.all) layer.rotates &= !(window && full(layer));
      return;
    }
    case NopeRule::kFullButDense: {
      const std::vector<bool> dense = read_dense(config, layers);
      const bool forced = dense_period(config) == 1;
      for (std::size_t i = 0; i < layers.all.size(); ++i) {
        layers.all[i].rotates &= (forced && dense[i]) || !full(layers.all[i]);
      }
      return;
    }
    case NopeRule::kNoRopeLayers: {
      const auto list = config.integers("no_rope_layers");
      if (list && !list->empty()) {
        check_length(config, "no_rope_layers", list->size(), layers);
        config.ignore_if_present("no_rope_layer_interval", "no_rope_layers says more");
        for (std::size_t i = 0; i < std::min(list->size(), layers.all.size()); ++i)
          layers.all[i].rotates &= (*list)[i] != 0;
        return;
      }
      const std::int64_t interval =
          config.integer_or("no_rope_layer_interval", 1, kMaxLayers, 4, "of the model type");
      for (int i = 0; i < layers.count; ++i) {
        layers.all[static_cast<std::size_t>(i)].rotates &= (i + 1) % interval != 0;
      }
      return;
    }
    case NopeRule::kCrossAttention: {
      const auto crossing = config.integers("cross_attention_layers");
      static const std::vector<int> kOfClass = {3, 8, 13, 18, 23, 28, 33, 38};
      if (!crossing) config.defaulted("cross_attention_layers", kOfClass, "of the model type");
      for (const int layer : crossing.value_or(kOfClass)) {
        if (layer >= 0 && layer < layers.count) {
          layers.all[static_cast<std::size_t>(layer)].rotates = false;
        } else if (crossing) {
          config.refuse("cross_attention_layers", text("layers from 0 to ", layers.count - 1));
        }
      }
      return;
    }
    case NopeRule::kZeroTheta:
    case NopeRule::kThetaList: {
      const auto list = config.numbers("layer_rope_theta");
      if (!list) {
        for (Layer& layer : layers.all) layer.rotates &= family.nope == NopeRule::kThetaList || !full(layer);
        return;
      }
      check_length(config, "layer_rope_theta", list->size(), layers);
      for (std::size_t i = 0; i < std::min(list->size(), layers.all.size()); ++i) {
        layers.all[i].rotates &= (*list)[i] != 0;
        if (family.nope == NopeRule::kThetaList && (*list)[i] != 0) layers.all[i].theta = (*list)[i];
      }
      return;
    }
  }
}

// Sparse attention shares one indexer's choice among neighbours: "full" layers have the indexer (GLM-5.2).
void read_indexers(const Section& config, const Family& family, Layers& layers) {
  if (family.indexer == IndexerRule::kNone) return;
  if (const auto list = config.either("indexer_types", "full", "shared")) {
    check_length(config, "indexer_types", list->size(), layers);
    for (std::size_t i = 0; i < std::min(list->size(), layers.all.size()); ++i) layers.all[i].indexes = (*list)[i];
    return;
  }
  const auto frequency = config.integer("index_topk_freq", 1, kMaxLayers);
  if (!frequency) return;
  const std::int64_t offset = config.integer_or("index_skip_topk_offset", 0, kMaxLayers, 2, "of the model type");
  for (std::size_t i = 0; i < layers.all.size(); ++i) {
    layers.all[i].indexes = std::max<std::int64_t>(static_cast<std::int64_t>(i) - offset + 1, 0) % *frequency == 0;
  }
}

}  // namespace

Layers read_layers(const Section& config, const Family* family, const Sizes* sizes, bool decoder) {
  Layers layers;
  bool mtp = decoder;
  if (mtp && family != nullptr && family->mtp_apart) {
    config.ignore_if_present(kMtpKeys[0], "MTP layers of this model type are a module of their own");
    mtp = false;
  }
  layers.count = read_count(config, sizes, decoder ? 1 : 0);
  const std::optional<int> counted = mtp ? read_mtp(config) : std::nullopt;
  std::vector<std::string> kinds = read_kinds(config, family, layers.count);
  const int rest =
      static_cast<int>(std::min<std::size_t>(kinds.size() - static_cast<std::size_t>(layers.count), kMaxLayers));
  if (mtp) {
    if (counted && rest != 0 && *counted != rest) {
      config.audit().refuse(text(config.path("layer_types"), ": ", kinds.size(), " entries, expected ", layers.count,
                                 " and ", *counted, " for MTP layers"));
    }
    layers.mtp = counted.value_or(rest);
    if (!counted && rest != 0) {
      config.defaulted(kMtpKeys[0], rest, "layer_types has that many entries after the last layer");
      config.audit().warn(text(config.path("layer_types"), ": ", kinds.size(), " entries for ", layers.count,
                               " layers; the rest are read as MTP layers"));
    }
    if (!counted && rest == 0 && family != nullptr && family->mtp != 0) {
      layers.mtp = family->mtp;
      config.defaulted(kMtpKeys[0], family->mtp, "of the model type");
    }
    const std::vector<std::string> mtp_kinds = read_names(config, "mtp_layer_types");
    if (rest == 0 && !mtp_kinds.empty()) kinds.insert(kinds.end(), mtp_kinds.begin(), mtp_kinds.end());
  }
  // What an MTP layer is where no list says so: like the kind that most such heads have, full attention.
  const auto total = static_cast<std::size_t>(layers.count + layers.mtp);
  const bool compressed = family != nullptr && family->scaling == ScalingRule::kOnCompressed;
  const std::string head = compressed                                ? "sliding_attention"
                           : kinds.empty() || kinds.front() == "all" ? "all"
                                                                     : "full_attention";
  kinds.resize(total, head);
  for (std::string& kind : kinds) {
    Layer layer;
    layer.rotates = is_attention(kind);
    layer.kind = std::move(kind);
    layers.all.push_back(std::move(layer));
  }
  if (family != nullptr) apply_nope(config, *family, layers);
  if (family != nullptr) read_indexers(config, *family, layers);
  read_layer_values(config, layers);
  return layers;
}

}  // namespace ropecache::model
