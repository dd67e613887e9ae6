// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "model/hf_kinds.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "model/assemble.h"
#include "text.h"

namespace ropecache::model {

namespace {

// Names of kinds that older files use.
constexpr std::pair<std::string_view, std::string_view> kOldKinds[] = {
    {"attention", "full_attention"},
    {"full", "full_attention"},
    {"global", "full_attention"},
    {"sliding", "sliding_attention"},
    {"local", "sliding_attention"},
    {"mamba", "linear_attention"},
    {"mamba2", "linear_attention"},
    {"recurrent", "linear_attention"},
    {"deepseek_sparse_attention", "indexed_attention"},
    {"qwen_sparse_attention", "indexed_attention"},
};

constexpr std::array<std::string_view, 5> kOtherKinds = {"linear_attention", "conv", "mlp", "moe", "short_conv"};

// Kinds that attend, of transformers 5.24 and the checkpoint code in the tables.
constexpr std::array<std::string_view, 11> kAttentionKinds = {
    "all",    "full_attention",  "sliding_attention",   "chunked_attention",          "window_attention", "hybrid",
    "hybrid_sliding", "indexed_attention", "reference_sliding_attention", "compressed_sparse_attention",
    "heavily_compressed_attention"};

std::string canonical_kind(const std::string& name) {
  for (const auto& [old_name, kind] : kOldKinds) {
    if (name == old_name) return std::string(kind);
  }
  return name;
}

// The kinds that a type's own list key spells out; empty where the file does not have it.
std::vector<std::string> kinds_from_list(const Section& config, const Family& family, int count) {
  std::vector<std::string> kinds;
  if (family.list == ListRule::kNames) {
    const std::vector<std::string> names = read_names(config, family.list_key);
    for (std::size_t i = 0; !names.empty() && i < std::max(names.size(), static_cast<std::size_t>(count)); ++i) {
      kinds.push_back(names[i % names.size()]);
    }
    return kinds;
  }
  const auto numbers = config.integers(family.list_key);
  if (!numbers) return kinds;
  switch (family.list) {
    case ListRule::kOneIsSliding:
      for (const int number : *numbers) kinds.emplace_back(kind_name(number == 1 ? 'S' : 'F'));
      break;
    case ListRule::kOneIsFull:
      for (const int number : *numbers) kinds.emplace_back(kind_name(number == 1 ? 'F' : 'L'));
      break;
    case ListRule::kCompressRatios:
      for (const int ratio : *numbers) {
        kinds.emplace_back(ratio == 0   ? "sliding_attention"
                           : ratio == 4 ? "compressed_sparse_attention"
                                        : "heavily_compressed_attention");
      }
      break;
    case ListRule::kFullIndices:
      kinds.assign(static_cast<std::size_t>(count), std::string(kind_name('L')));
      for (const int index : *numbers) {
        if (index < 0 || index >= count) config.refuse(family.list_key, text("layers from 0 to ", count - 1));
        kinds[static_cast<std::size_t>(index)] = kind_name('F');
      }
      break;
    default: break;
  }
  return kinds;
}

// The type's cycle, at the length the file gives it: "SSSSSF" with a period of 4 is "SSSF".
std::string read_cycle(const Section& config, const Family& family) {
  std::string cycle(family.cycle);
  if (family.nope == NopeRule::kFullWhereWindow && config.contains("sliding_window") && !config.has("sliding_window")) {
    config.use("sliding_window");
    return "F";
  }
  if (family.period_key.empty() || !config.has(family.period_key)) return cycle;
  if (config.peek(family.period_key)->is_string()) {  // "LLLG": local and global
    cycle = *config.text(family.period_key);
    if (cycle.empty() || cycle.find_first_not_of("LG") != std::string::npos) {
      config.refuse(family.period_key, "a number or a pattern of L and G");
    }
    std::replace(cycle.begin(), cycle.end(), 'L', 'S');
    std::replace(cycle.begin(), cycle.end(), 'G', 'F');
    return cycle;
  }
  const auto period = static_cast<std::size_t>(*config.integer(family.period_key, 1, kMaxLayers));
  const bool rare_first = cycle.front() != cycle[1];
  const char rare = rare_first ? cycle.front() : cycle.back();
  const char common = rare_first ? cycle.back() : cycle.front();
  std::string out(period, common);
  (rare_first ? out.front() : out.back()) = rare;
  return out;
}

std::vector<std::string> kinds_from_cycle(const Section& config, const Family& family, int count) {
  const std::string cycle = read_cycle(config, family);
  const bool prefixed = family.nope == NopeRule::kFullButDense;
  const int dense = prefixed ? dense_layers(config, count) : 0;
  const int dense_cycle = prefixed ? dense_period(config) : 1;
  std::vector<std::string> kinds;
  for (int layer = 0; layer < count; ++layer) {
    const auto i = static_cast<std::size_t>(layer < dense ? layer : layer - dense);
    const std::size_t length = cycle.size();
    char letter = cycle[i % length];
    if (family.from_end) letter = cycle[length - 1 - static_cast<std::size_t>(count - 1 - layer) % length];
    if (i < family.prefix.size()) letter = family.prefix[i];
    if (layer < dense) letter = (layer + 1) % dense_cycle == 0 ? 'F' : 'S';
    if (layer == count - 1 && family.last != 0) letter = family.last;
    kinds.emplace_back(kind_name(letter));
  }
  if (!config.has(family.period_key.empty() ? "layer_types" : family.period_key)) {
    config.defaulted("layer_types", text("cycle ", cycle), "of the model type");
  }
  return kinds;
}

}  // namespace

std::vector<std::string> read_names(const Section& config, std::string_view key) {
  std::vector<std::string> names;
  const Json* list = config.take(key);
  if (list == nullptr) return names;
  if (!list->is_array()) config.refuse(key, "a list of layer kinds");
  for (const Json& item : *list) {
    if (!item.is_string()) config.refuse(key, "a list of strings");
    names.push_back(canonical_kind(item.get<std::string>()));
  }
  // A misspelt kind would take another kind's rope without a word. One warning, whatever the list holds.
  const auto known = [](const std::string& kind) {
    return !is_attention(kind) ||
           std::find(kAttentionKinds.begin(), kAttentionKinds.end(), kind) != kAttentionKinds.end();
  };
  if (const auto odd = std::find_if_not(names.begin(), names.end(), known); odd != names.end()) {
    config.audit().warn(text(config.path(key), ": \"", odd->substr(0, 60),
                             "\" is not a known kind of layer; its layers are read as attention"));
  }
  return names;
}

int dense_layers(const Section& config, int count) {
  return static_cast<int>(config.integer_or("first_k_dense_replace", 0, count, 0, "of the model type"));
}

int dense_period(const Section& config) {
  return static_cast<int>(
      config.integer_or("prefix_dense_sliding_window_pattern", 1, kMaxLayers, 1, "of the model type"));
}

bool is_attention(std::string_view kind) {
  return std::find(kOtherKinds.begin(), kOtherKinds.end(), kind) == kOtherKinds.end();
}

std::vector<std::string> read_kinds(const Section& config, const Family* family, int count) {
  std::vector<std::string> kinds = read_names(config, "layer_types");
  if (family != nullptr && kinds.empty() && family->list != ListRule::kNone)
    kinds = kinds_from_list(config, *family, count);
  if (family != nullptr && kinds.empty() && !family->cycle.empty()) kinds = kinds_from_cycle(config, *family, count);
  if (kinds.empty()) kinds.assign(static_cast<std::size_t>(count), "all");
  if (kinds.size() < static_cast<std::size_t>(count)) {
    const bool by_types = config.has("layer_types") || family == nullptr;
    config.refuse(by_types ? "layer_types" : family->list_key, text("an entry for each of the ", count, " layers"));
  }
  return kinds;
}

}  // namespace ropecache::model
