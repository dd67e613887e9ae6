// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// What the tests of the config.json reader share.
#pragma once

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "model/json.h"
#include "model/readers.h"
#include "ropecache/model.h"

namespace ropecache::hf_test {

using Json = nlohmann::ordered_json;

inline std::string file_text(const std::string& name) {
  std::ifstream file(std::string(TEST_DATA) + "/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// "0-4,6-10,12" as numbers.
inline std::vector<int> parse_list(const std::string& text) {
  std::vector<int> numbers;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::string piece = text.substr(at, comma - at);
    const std::size_t dash = piece.find('-');
    const int first = std::stoi(piece);
    const int last = dash == std::string::npos ? first : std::stoi(piece.substr(dash + 1));
    for (int number = first; number <= last; ++number) numbers.push_back(number);
    at = comma + 1;
  }
  return numbers;
}

inline Json file_json(const std::string& name) { return Json::parse(file_text(name)); }

inline Result<ModelRopes> read(const Json& config, const ReadOptions& options = {}) {
  return model::read_hf_config(config, "config.json", options);
}

inline Result<ModelRopes> read_text(std::string_view text, const ReadOptions& options = {}) {
  const auto json = model::parse_json(text, "config.json");
  if (!json.ok()) return json.status();
  return read(*json, options);
}

inline const KeyNote* note_of(const std::vector<KeyNote>& notes, std::string_view key) {
  const auto found = std::find_if(notes.begin(), notes.end(), [&](const KeyNote& note) { return note.key == key; });
  return found == notes.end() ? nullptr : &*found;
}

inline bool warned(const ModelRopes& model, std::string_view words) {
  return std::any_of(model.warnings.begin(), model.warnings.end(),
                     [&](const std::string& warning) { return warning.find(words) != std::string::npos; });
}

// The rope of a layer in a role; nullptr where it has none.
inline const ModelRope* rope_at(const ModelRopes& model, int layer, Role role = Role::kAttention) {
  for (const ModelRope& rope : model.ropes) {
    if (rope.role == role && std::binary_search(rope.layers.begin(), rope.layers.end(), layer)) return &rope;
  }
  return nullptr;
}

}  // namespace ropecache::hf_test
