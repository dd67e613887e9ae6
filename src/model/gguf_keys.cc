// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "model/gguf_keys.h"

#include <array>
#include <cmath>

#include "text.h"

namespace ropecache::model {
namespace {

constexpr std::size_t kShown = 60;

bool is_whole(double number) { return std::fabs(number) <= 9007199254740992.0 && number == std::floor(number); }

// Parts of the names of keys that shape a rope or say which layers have one.
constexpr std::array<std::string_view, 12> kRopeWords = {"rope",
                                                         "key_length",
                                                         "sliding_window",
                                                         "nextn_predict_layers",
                                                         "temperature_",
                                                         "compress_ratios",
                                                         "compress_rope",
                                                         "recurrent_layers",
                                                         "full_attention_interval",
                                                         "shared_kv_layers",
                                                         "indexer.types",
                                                         "yarn"};

// Keys that say something of each layer, where they are lists.
constexpr std::array<std::string_view, 9> kPerLayer = {
    "attention.head_count",           "attention.head_count_kv",   "attention.sliding_window_pattern",
    "attention.recurrent_layers",     "attention.rope_pattern",    "attention.compress_ratios",
    "attention.indexer.types",        "rope.freq_base_per_layer",  "rope.dimension_count_per_layer"};

struct Reason {
  std::string_view ending;
  std::string_view text;
};
constexpr std::array<Reason, 13> kReasons = {{
    {".rope.scaling.finetuned", "a remark about the weights; for this architecture it changes no rope"},
    {".rope.scaling.yarn_beta_fast", "read for grok and mistral3 only, as llama.cpp does; others take 32"},
    {".rope.scaling.yarn_beta_slow", "read for grok and mistral3 only, as llama.cpp does; others take 1"},
    {".rope.scaling.yarn_ext_factor", "read for grok only, as llama.cpp does; others take 1"},
    {".rope.scaling.yarn_attn_factor", "llama.cpp computes YaRN's magnitude from the factor"},
    {".rope.scaling.yarn_log_multiplier", "not read for this architecture, as in llama.cpp, or no YaRN is in effect"},
    {".rope.scaling.original_context_length", "no scaling rule of this file needs it"},
    {".rope.dimension_sections", "this architecture has one position per token"},
    {".attention.sliding_window", "does not change the rope of a layer of this architecture"},
    {".attention.sliding_window_pattern", "does not change the rope of a layer of this architecture"},
    {".attention.shared_kv_layers", "layers that share keys and values still rotate their queries"},
    {".attention.key_length", "the head is given by another key, or nothing rotates"},
    {".vision.rope.freq_base", "the vision tower is not part of this file's layers"},
}};

std::string_view reason_for(std::string_view key) {
  for (const Reason& reason : kReasons) {
    if (key.ends_with(reason.ending)) return reason.text;
  }
  return "not read for this architecture";
}

}  // namespace

std::string shown(const GgufValue& value) {
  std::string out = value.json();
  return out.size() > kShown ? out.substr(0, kShown) + "..." : out;
}

bool is_gguf_rope_key(std::string_view key) {
  if (key.starts_with("tokenizer.")) return false;
  for (const std::string_view word : kRopeWords) {
    if (key.find(word) != std::string_view::npos) return true;
  }
  return false;
}

const GgufValue* GgufKeys::peek(std::string_view key) const {
  const auto found = file_.metadata.find(full_name(key));
  return found == file_.metadata.end() ? nullptr : &found->second;
}

const GgufValue* GgufKeys::take(std::string_view key) const {
  const GgufValue* value = peek(key);
  const std::string name = full_name(key);
  if (value != nullptr && audit_.seen.insert(name).second) audit_.ledger.used(name, value->json());
  return value;
}

bool GgufKeys::is_list(std::string_view key) const {
  const GgufValue* value = peek(key);
  return value != nullptr && (value->kind == GgufValue::Kind::kNumbers || value->kind == GgufValue::Kind::kOther);
}

std::optional<double> GgufKeys::glance(std::string_view key) const {
  const GgufValue* value = peek(key);
  if (value == nullptr || value->kind != GgufValue::Kind::kNumber) return std::nullopt;
  return value->number;
}

std::optional<std::int64_t> GgufKeys::integer(std::string_view key, std::int64_t least, std::int64_t most) const {
  const GgufValue* value = take(key);
  if (value == nullptr) return std::nullopt;
  const bool whole = value->kind == GgufValue::Kind::kNumber && is_whole(value->number);
  const auto number = whole ? static_cast<std::int64_t>(value->number) : 0;
  if (!whole || number < least || number > most) {
    refuse(key, ropecache::text("a whole number from ", least, " to ", most));
  }
  return number;
}

std::optional<double> GgufKeys::number(std::string_view key) const {
  const GgufValue* value = take(key);
  if (value == nullptr) return std::nullopt;
  if (value->kind != GgufValue::Kind::kNumber || !std::isfinite(value->number)) refuse(key, "a finite number");
  return value->number;
}

std::optional<bool> GgufKeys::flag(std::string_view key) const {
  const GgufValue* value = take(key);
  if (value == nullptr) return std::nullopt;
  const bool flag = value->kind == GgufValue::Kind::kBool ||
                    (value->kind == GgufValue::Kind::kNumber && (value->number == 0 || value->number == 1));
  if (!flag) refuse(key, "true or false");
  return value->number != 0;
}

std::optional<std::string> GgufKeys::text(std::string_view key) const {
  const GgufValue* value = take(key);
  if (value == nullptr) return std::nullopt;
  if (value->kind != GgufValue::Kind::kText) refuse(key, "a string");
  return value->text;
}

std::optional<std::vector<double>> GgufKeys::numbers(std::string_view key, int least) const {
  const GgufValue* value = take(key);
  if (value == nullptr) return std::nullopt;
  std::vector<double> out;
  if (value->kind == GgufValue::Kind::kNumber || value->kind == GgufValue::Kind::kBool) {
    out.assign(static_cast<std::size_t>(least), value->number);
  } else if (value->kind == GgufValue::Kind::kNumbers && value->numbers.size() >= static_cast<std::size_t>(least)) {
    out = value->numbers;
  } else {
    refuse(key, ropecache::text("a number, or a list of at least ", least));
  }
  for (const double number : out) {
    if (!std::isfinite(number)) refuse(key, "finite numbers");
  }
  return out;
}

std::optional<std::vector<int>> GgufKeys::integers(std::string_view key, int least) const {
  const std::optional<std::vector<double>> values = numbers(key, least);
  if (!values) return std::nullopt;
  std::vector<int> out;
  for (const double value : *values) {
    if (!is_whole(value) || std::fabs(value) > static_cast<double>(kMaxWidth)) refuse(key, "small whole numbers");
    out.push_back(static_cast<int>(value));
  }
  return out;
}

void GgufKeys::defaulted(std::string_view key, std::string_view json_value, std::string_view reason) const {
  audit_.ledger.defaulted(full_name(key), json_value, reason);
}

void GgufKeys::ignore(std::string_view key, std::string_view reason) const {
  const GgufValue* value = peek(key);
  const std::string name = full_name(key);
  if (value != nullptr && audit_.seen.insert(name).second) audit_.ledger.ignored(name, value->json(), reason);
}

void GgufKeys::refuse(std::string_view key, std::string_view expected, StatusCode code) const {
  const GgufValue* value = peek(key);
  audit_.refuse(ropecache::text(full_name(key), ": ", value == nullptr ? std::string("missing") : shown(*value),
                                ", expected ", expected),
                code);
}

void GgufKeys::warn_of_surplus(int layers) const {
  for (const std::string_view key : kPerLayer) {
    const GgufValue* value = peek(key);
    if (value == nullptr || value->count <= static_cast<std::uint64_t>(layers)) continue;
    if (!audit_.seen.contains(full_name(key))) continue;
    audit_.warn(ropecache::text(full_name(key), ": a list of ", value->count, " for ", counted(layers, "layer"),
                                ": the rest of it has no effect"));
  }
}

void GgufKeys::ignore_the_rest() const {
  for (const auto& [key, value] : file_.metadata) {
    if (!is_gguf_rope_key(key) || !audit_.seen.insert(key).second) continue;
    const bool foreign = !key.starts_with(architecture_ + ".");
    audit_.ledger.ignored(key, value.json(), foreign ? "belongs to no layer of this architecture" : reason_for(key));
  }
}

}  // namespace ropecache::model
