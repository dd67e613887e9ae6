// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "model/hf_layer_values.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string>

#include "model/assemble.h"
#include "model/json.h"
#include "text.h"

namespace ropecache::model {

namespace {

constexpr std::size_t kMostListed = 400;  // characters of keys in one warning

// Step-3.5: rope_theta and partial_rotary_factors as lists, one entry per layer, MTP layers included.
void read_list(const Section& config, std::string_view key, std::optional<double> Layer::*field, Layers& layers) {
  const Json* value = config.peek(key);
  if (value == nullptr || !value->is_array()) return;
  const auto list = *config.numbers(key);
  if (list.size() < static_cast<std::size_t>(layers.count)) {
    config.refuse(key, text("a number, or an entry for each of the ", layers.count, " layers"));
  }
  check_length(config, key, list.size(), layers);
  for (std::size_t i = 0; i < std::min(list.size(), layers.all.size()); ++i) layers.all[i].*field = list[i];
}

// "5" and "05" are layer 5; nothing for what is not a number. A number too large for a layer is the largest there is.
std::optional<std::size_t> layer_number(const std::string& key) {
  if (key.empty() || key.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  std::size_t layer = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), layer);
  return error == std::errc() ? layer : static_cast<std::size_t>(-1);
}

// per_layer_config: a layer's own object goes before that of its kind.
void read_own_configs(const Section& config, Layers& layers) {
  const Section own = config.child("per_layer_config");
  if (!own.exists()) return;
  if (own.object()->size() > static_cast<std::size_t>(kMaxLayers)) {
    config.refuse("per_layer_config", text("at most ", kMaxLayers, " entries"));
  }
  std::map<std::size_t, std::string> numbered;
  std::string unknown;
  for (const auto& [key, value] : own.object()->items()) {
    if (!value.is_object()) own.refuse(key, "an object");
    const std::optional<std::size_t> layer = layer_number(key);
    if (layer && *layer >= layers.all.size()) {
      config.audit().refuse(
          text(own.path(), ": key ", json_quote(key.substr(0, 60)), ", expected a layer below ", layers.all.size()));
    }
    if (layer) {
      const auto [earlier, is_new] = numbered.emplace(*layer, key);
      if (!is_new) {
        config.audit().refuse(text(own.path(), ": keys ", json_quote(earlier->second.substr(0, 60)), " and ",
                                   json_quote(key.substr(0, 60)), " are one layer, expected one of them"));
      }
      continue;
    }
    bool found = false;
    for (Layer& other : layers.all) {
      if (other.kind != key) continue;
      other.own = key;
      found = true;
    }
    if (found) continue;
    own.ignore(key, "no layer is of this kind");
    if (unknown.size() < kMostListed) unknown += (unknown.empty() ? "" : ", ") + json_quote(key.substr(0, 60));
  }
  for (const auto& [layer, key] : numbered) layers.all[layer].own = key;
  if (!unknown.empty()) {
    config.audit().warn(text(own.path(), ": no effect, as no layer is of this kind: ", unknown));
  }
}

}  // namespace

void check_length(const Section& config, std::string_view key, std::size_t size, const Layers& layers) {
  if (size < static_cast<std::size_t>(layers.count)) {
    config.refuse(key, text("an entry for each of the ", layers.count, " layers"));
  }
  if (size <= layers.all.size()) return;
  config.audit().warn(
      text(config.path(key), ": ", size, " entries for ", layers.all.size(), " layers; the rest has no effect"));
}

void read_layer_values(const Section& config, Layers& layers) {
  read_list(config, "rope_theta", &Layer::theta, layers);
  read_list(config, "partial_rotary_factors", &Layer::partial, layers);
  read_own_configs(config, layers);
}

}  // namespace ropecache::model
