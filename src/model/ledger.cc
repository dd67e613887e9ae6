// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "model/ledger.h"

#include <algorithm>
#include <utility>

namespace ropecache::model {
namespace {

bool holds(const std::vector<KeyNote>& notes, std::string_view key) {
  return std::any_of(notes.begin(), notes.end(), [key](const KeyNote& note) { return note.key == key; });
}

void enter(std::vector<KeyNote>& notes, std::string_view key, std::string_view value, std::string_view reason) {
  if (holds(notes, key)) return;
  notes.push_back({std::string(key), std::string(value), std::string(reason)});
}

}  // namespace

void Ledger::used(std::string_view key, std::string_view json_value) { enter(used_, key, json_value, {}); }

void Ledger::defaulted(std::string_view key, std::string_view json_value, std::string_view reason) {
  enter(defaults_, key, json_value, reason);
}

void Ledger::ignored(std::string_view key, std::string_view json_value, std::string_view reason) {
  enter(ignored_, key, json_value, reason);
}

void Ledger::warn(std::string text) {
  if (std::find(warnings_.begin(), warnings_.end(), text) == warnings_.end()) warnings_.push_back(std::move(text));
}

bool Ledger::has_used(std::string_view key) const { return holds(used_, key); }

void Ledger::move_into(ModelRopes& model) {
  model.used = std::move(used_);
  model.defaults = std::move(defaults_);
  model.ignored = std::move(ignored_);
  model.warnings = std::move(warnings_);
}

}  // namespace ropecache::model
