// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "model/hf_section.h"

#include <charconv>
#include <cmath>
#include <cstdlib>

#include "model/edits.h"
#include "model/json.h"

namespace ropecache::model {

namespace {

constexpr std::size_t kShown = 60;      // characters of a value in an error
constexpr std::size_t kShownItems = 8;  // of a list
constexpr std::int64_t kExact = std::int64_t{1} << 53;

std::string dump(const Json& value) { return value.dump(-1, ' ', true, Json::error_handler_t::replace); }

// "1e6", "32.0": some writers quote their numbers.
std::optional<double> quoted_number(const std::string& text) {
  if (text.empty() || text.find_first_not_of("+-.eE0123456789") != std::string::npos) return std::nullopt;
  // Not strtod(): it reads a decimal comma where the host's locale has one.
  const char* begin = text.data() + (text[0] == '+' ? 1 : 0);
  const char* end = text.data() + text.size();
  double value = 0;
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (stop != end || error != std::errc() || !std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace

std::string short_text(const Json& value) {
  if (value.is_object()) return "an object";
  const std::string count = value.is_array() ? "a list of " + std::to_string(value.size()) : "";
  if (value.size() > kShownItems) return count;
  std::string text = dump(value);
  if (value.is_array() && text.size() > kShown) return count;
  if (text.size() > kShown) text = text.substr(0, kShown) + "...";
  return text;
}

Section Section::preset(const Json* object, std::string path, std::string_view reason, Audit* audit) {
  Section section(object, std::move(path), audit);
  section.reason_ = reason;
  return section;
}

Section Section::under(const Section& other) const {
  Section section = *this;
  section.over_ = other.object_;
  section.over_path_ = other.path_;
  return section;
}

const Json* Section::holder(std::string_view key) const {
  if (overridden(key)) return over_;
  return object_ != nullptr && object_->contains(key) ? object_ : nullptr;
}

std::string Section::path(std::string_view key) const {
  const std::string& base = overridden(key) ? over_path_ : path_;
  if (base.empty()) return std::string(key);
  if (key.empty()) return base;
  return base + "." + std::string(key);
}

const Json* Section::peek(std::string_view key) const {
  const Json* object = holder(key);
  if (object == nullptr) return nullptr;
  const auto found = object->find(key);
  return found->is_null() ? nullptr : &*found;
}

void Section::use(std::string_view key) const {
  const Json* object = holder(key);
  if (object == nullptr) return;
  const auto found = object->find(key);
  const std::string where = path(key);
  if (!audit_->seen.insert(where).second) return;
  if (is_preset()) {
    audit_->ledger.defaulted(where, dump(*found), reason_);
  } else {
    audit_->ledger.used(where, dump(*found));
  }
}

const Json* Section::take(std::string_view key) const {
  use(key);
  return peek(key);
}

void Section::ignore(std::string_view key, std::string_view reason) const {
  const std::string where = path(key);
  const Json* object = holder(key);
  if (object == nullptr || is_preset() || !audit_->seen.insert(where).second) return;
  audit_->ledger.ignored(where, dump(*object->find(key)), reason);
}

void Section::ignore_if_present(std::string_view key, std::string_view reason) const {
  if (contains(key)) ignore(key, reason);
}

void Section::defaulted(std::string_view key, const Json& value, std::string_view reason) const {
  audit_->ledger.defaulted(path(key), dump(value), reason);
}

// A key that nothing has read and that may be a misspelling of `key`.
std::string Section::misspelt(std::string_view key) const {
  constexpr std::size_t kMostKeys = 1000;
  if (object_ == nullptr || is_preset() || key.size() <= 2 * kMostEdits) return {};
  std::size_t count = 0;
  for (const auto& [other, value] : object_->items()) {
    if (++count > kMostKeys) break;
    if (other != key && edits(key, other) <= kMostEdits && !audit_->seen.contains(path(other))) return other;
  }
  return {};
}

void Section::refuse(std::string_view key, std::string_view expected) const {
  const Json* value = peek(key);
  std::string found = value == nullptr ? "missing" : short_text(*value);
  if (const std::string other = value == nullptr ? misspelt(key) : ""; !other.empty()) {
    found += " (there is " + json_quote(other) + ")";
  }
  audit_->refuse(path(key) + ": " + found + ", expected " + std::string(expected));
}

double Section::to_number(std::string_view key, const Json& value, std::string_view expected) const {
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) {
    if (const auto number = quoted_number(value.get_ref<const std::string&>())) return *number;
  }
  refuse(key, expected);
}

std::optional<double> Section::number(std::string_view key) const {
  use(key);
  return glance(key);
}

std::optional<double> Section::glance(std::string_view key) const {
  const Json* value = peek(key);
  if (value == nullptr) return std::nullopt;
  const double number = to_number(key, *value, "a number");
  if (!std::isfinite(number)) refuse(key, "a finite number");
  return number;
}

std::optional<double> Section::positive(std::string_view key) const {
  const std::optional<double> value = number(key);
  if (value && *value <= 0) refuse(key, "a number above 0");
  return value;
}

std::optional<std::int64_t> Section::integer(std::string_view key, std::int64_t least, std::int64_t most) const {
  const Json* value = take(key);
  if (value == nullptr) return std::nullopt;
  const std::string expected = "a whole number from " + std::to_string(least) + " to " + std::to_string(most);
  const double number = to_number(key, *value, expected);
  // Above 2^53 a double no longer tells neighbours apart; nothing a rope needs is that large.
  if (!(std::fabs(number) <= static_cast<double>(kExact)) || number != std::floor(number)) refuse(key, expected);
  const auto whole = static_cast<std::int64_t>(number);
  if (whole < least || whole > most) refuse(key, expected);
  return whole;
}

std::optional<bool> Section::boolean(std::string_view key) const {
  const Json* value = take(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) refuse(key, "true or false");
  return value->get<bool>();
}

std::optional<std::string> Section::text(std::string_view key) const {
  const Json* value = take(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) refuse(key, "a string");
  return value->get<std::string>();
}

std::optional<std::vector<double>> Section::numbers(std::string_view key) const {
  const Json* value = take(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_array()) refuse(key, "a list of numbers");
  std::vector<double> out;
  for (const Json& item : *value) {
    if (!item.is_number()) refuse(key, "a list of numbers only");
    out.push_back(item.get<double>());
  }
  return out;
}

std::optional<std::vector<int>> Section::integers(std::string_view key) const {
  const auto values = numbers(key);
  if (!values) return std::nullopt;
  std::vector<int> out;
  for (const double value : *values) {
    if (!(std::fabs(value) <= static_cast<double>(kMaxWidth)) || value != std::floor(value)) {
      refuse(key, "a list of small whole numbers");
    }
    out.push_back(static_cast<int>(value));
  }
  return out;
}

std::optional<std::vector<bool>> Section::either(std::string_view key, std::string_view yes,
                                                 std::string_view no) const {
  const Json* value = take(key);
  if (value == nullptr) return std::nullopt;
  const std::string expected = "a list of " + std::string(yes) + " and " + std::string(no);
  if (!value->is_array()) refuse(key, expected);
  std::vector<bool> out;
  for (const Json& item : *value) {
    const std::string_view word = item.is_string() ? item.get_ref<const std::string&>() : std::string_view();
    if (word != yes && word != no) refuse(key, expected);
    out.push_back(word == yes);
  }
  return out;
}

std::string_view Section::one_of(std::span<const std::string_view> keys) const {
  std::string_view first;
  for (const std::string_view key : keys) {
    const Json* value = take(key);
    if (value == nullptr) continue;
    if (first.empty()) {
      first = key;
    } else if (*value != *peek(first)) {
      refuse(key, short_text(*peek(first)) + " as " + path(first) + " says");
    }
  }
  return first;
}

std::int64_t Section::integer_or(std::string_view key, std::int64_t least, std::int64_t most, std::int64_t otherwise,
                                 std::string_view reason) const {
  if (const auto value = integer(key, least, most)) return *value;
  defaulted(key, otherwise, reason);
  return otherwise;
}

double Section::number_or(std::string_view key, double otherwise, std::string_view reason) const {
  if (const auto value = number(key)) return *value;
  defaulted(key, otherwise, reason);
  return otherwise;
}

bool Section::boolean_or(std::string_view key, bool otherwise, std::string_view reason) const {
  if (const auto value = boolean(key)) return *value;
  defaulted(key, otherwise, reason);
  return otherwise;
}

bool Section::truth_or(std::string_view key, bool otherwise, std::string_view reason) const {
  const Json* value = take(key);
  if (value == nullptr) {
    defaulted(key, otherwise, reason);
    return otherwise;
  }
  if (value->is_boolean()) return value->get<bool>();
  if (!value->is_number()) refuse(key, "true, false or a number");
  return value->get<double>() != 0;
}

Section Section::child(std::string_view key) const {
  const Json* value = peek(key);
  if (value == nullptr) {
    if (contains(key)) use(key);  // an explicit null is an answer
    return Section(audit_);
  }
  if (!value->is_object()) refuse(key, "an object or null");
  return is_preset() ? preset(value, path(key), reason_, audit_) : Section(value, path(key), audit_);
}

}  // namespace ropecache::model
