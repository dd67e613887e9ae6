// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "model/gguf_indexer.h"

#include <algorithm>
#include <optional>

namespace ropecache::model {
namespace {

std::vector<int> indexer_layers(const GgufArchitecture& row, const GgufKeys& keys, const GgufLayers& layers,
                                const std::vector<int>& ratios) {
  std::vector<int> own;
  if (row.has(kCompressed)) {  // of DeepSeek-V4's layers those with a ratio of 4
    const int count = std::min(layers.all(), static_cast<int>(ratios.size()));
    for (int layer = 0; layer < count; ++layer) {
      if (ratios[static_cast<std::size_t>(layer)] == 4) own.push_back(layer);
    }
    return own;
  }
  const auto types = keys.integers("attention.indexer.types", layers.decoder);
  const auto listed_ratios = row.rotates == Rotates::kEveryInterval
                                 ? keys.integers("attention.compress_ratios", layers.decoder)
                                 : std::nullopt;
  const auto dense = keys.has("attention.indexer.block_size")
                         ? keys.integer("leading_dense_block_count", 0, kMaxLayers).value_or(0)
                         : 0;
  if (!types && !listed_ratios) keys.defaulted("attention.indexer.types", "1", "every layer has an indexer of its own");
  for (int layer = static_cast<int>(dense); layer < layers.decoder; ++layer) {
    const auto at = static_cast<std::size_t>(layer);
    const bool listed = types ? (*types)[at] != 0 : !listed_ratios || (*listed_ratios)[at] != 0;
    if (listed && layers.rotates[at]) own.push_back(layer);
  }
  return own;
}

}  // namespace

std::vector<LayerRope> gguf_indexer_ropes(const GgufArchitecture& row, const GgufKeys& keys, const GgufLayers& layers,
                                          const std::vector<int>& ratios, RopeConfig config) {
  std::vector<LayerRope> ropes;
  if (row.indexer == Indexer::kNone) return ropes;
  const auto head = keys.integer("attention.indexer.key_length", 1, kMaxWidth);
  if (!head) return ropes;
  config.head_dim = static_cast<int>(*head);
  config.rotary_offset = row.indexer == Indexer::kNormLast ? config.head_dim - config.rotary_dim : 0;
  if (row.indexer == Indexer::kNeoxFirst) config.pairing = Pairing::kHalf;
  if (row.indexer == Indexer::kNormFirst || row.indexer == Indexer::kNormLast) {
    config.pairing = Pairing::kInterleaved;
  }
  config.query_scale = {};
  config.inverse_on_output = false;
  if (auto* yarn = std::get_if<YarnScaling>(&config.scaling)) yarn->softmax_scale = false;
  for (const int layer : indexer_layers(row, keys, layers, ratios)) {
    ropes.push_back({Role::kIndexer, layer, "all", config});
  }
  return ropes;
}

}  // namespace ropecache::model
