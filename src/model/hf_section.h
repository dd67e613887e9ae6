// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Section: one object of a config.json, read through look-ups that enter themselves in the Ledger under their dotted
// key. A value of the wrong type stops the reading with an error that names file, key, value and what was expected.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/audit.h"

namespace ropecache::model {

using Json = nlohmann::ordered_json;

// JSON text of a value for people, cut where it is long.
std::string short_text(const Json& value);

class Section {
 public:
  // A section that is not in the file: every look-up finds nothing.
  explicit Section(Audit* audit) : audit_(audit) {}
  Section(const Json* object, std::string path, Audit* audit)
      : object_(object), path_(std::move(path)), audit_(audit) {}
  // A section that stands for what a model type's class has by itself; its values are entered as defaults.
  static Section preset(const Json* object, std::string path, std::string_view reason, Audit* audit);
  // This section with the keys of `other` before its own (per_layer_config).
  Section under(const Section& other) const;
  // True where the key is one of those laid over.
  bool overridden(std::string_view key) const { return over_ != nullptr && over_->contains(key); }

  bool exists() const { return object_ != nullptr; }
  bool is_preset() const { return !reason_.empty(); }
  Audit& audit() const { return *audit_; }
  const Json* object() const { return object_; }
  const std::string& path() const { return path_; }
  std::string path(std::string_view key) const;

  // The value without entering it; nullptr when absent or null.
  const Json* peek(std::string_view key) const;
  bool has(std::string_view key) const { return peek(key) != nullptr; }
  bool contains(std::string_view key) const { return holder(key) != nullptr; }

  // Look-ups that enter the key as used. Nothing where the key is absent or null.
  const Json* take(std::string_view key) const;
  std::optional<double> number(std::string_view key) const;
  std::optional<double> positive(std::string_view key) const;
  std::optional<std::int64_t> integer(std::string_view key, std::int64_t least, std::int64_t most) const;
  std::optional<bool> boolean(std::string_view key) const;
  std::optional<std::string> text(std::string_view key) const;
  std::optional<std::vector<double>> numbers(std::string_view key) const;
  std::optional<std::vector<int>> integers(std::string_view key) const;
  // A list of two words: where it has `yes`.
  std::optional<std::vector<bool>> either(std::string_view key, std::string_view yes, std::string_view no) const;

  // The first of some keys of one meaning that the section has, all of them entered as used; empty where it has none.
  // Two that disagree are an error.
  std::string_view one_of(std::span<const std::string_view> keys) const;
  // The value, or what the model type takes where the file says nothing, entered as a default.
  std::int64_t integer_or(std::string_view key, std::int64_t least, std::int64_t most, std::int64_t otherwise,
                          std::string_view reason) const;
  double number_or(std::string_view key, double otherwise, std::string_view reason) const;
  bool boolean_or(std::string_view key, bool otherwise, std::string_view reason) const;
  // As Python's `if`: numbers but 0 are true (Llama 4 files say attn_temperature_tuning: 4).
  bool truth_or(std::string_view key, bool otherwise, std::string_view reason) const;

  // A number that is not entered: what the key would say.
  std::optional<double> glance(std::string_view key) const;

  // An object below this one; a section that does not exist where the key is absent or null.
  Section child(std::string_view key) const;

  void use(std::string_view key) const;
  void ignore(std::string_view key, std::string_view reason) const;
  void ignore_if_present(std::string_view key, std::string_view reason) const;
  // Says which value was taken for a key that the file does not have.
  void defaulted(std::string_view key, const Json& value, std::string_view reason) const;

  [[noreturn]] void refuse(std::string_view key, std::string_view expected) const;

 private:
  std::string misspelt(std::string_view key) const;
  double to_number(std::string_view key, const Json& value, std::string_view expected) const;
  // The object that answers for a key: the one laid over, or this one; nullptr where neither has it.
  const Json* holder(std::string_view key) const;

  const Json* object_ = nullptr;
  std::string path_;
  const Json* over_ = nullptr;
  std::string over_path_;
  std::string reason_;  // of a preset
  Audit* audit_;
};

}  // namespace ropecache::model
