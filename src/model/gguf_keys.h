// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// GgufKeys: the metadata of one architecture, read through look-ups that enter themselves in the ledger. Names are
// given without the architecture ("rope.freq_base"). A value that cannot be used is refused with the file, the key, the
// value and what was expected.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/audit.h"
#include "model/gguf_file.h"

namespace ropecache::model {

// A value for an error text, cut where it is long.
std::string shown(const GgufValue& value);

// Whether a key looks as if it had to do with ropes.
bool is_gguf_rope_key(std::string_view key);

class GgufKeys {
 public:
  GgufKeys(const GgufFile& file, std::string architecture, Audit& audit)
      : file_(file), architecture_(std::move(architecture)), audit_(audit) {}

  Audit& audit() const { return audit_; }
  std::string full_name(std::string_view key) const { return architecture_ + "." + std::string(key); }
  bool has(std::string_view key) const { return peek(key) != nullptr; }
  bool is_list(std::string_view key) const;
  // A number that is not entered: what a key would have said.
  std::optional<double> glance(std::string_view key) const;

  // Entered as used; nothing where the key is absent.
  std::optional<std::int64_t> integer(std::string_view key, std::int64_t least, std::int64_t most) const;
  std::optional<double> number(std::string_view key) const;
  std::optional<bool> flag(std::string_view key) const;
  std::optional<std::string> text(std::string_view key) const;
  // A list of at least `least` numbers, or one number that stands for as many.
  std::optional<std::vector<double>> numbers(std::string_view key, int least) const;
  std::optional<std::vector<int>> integers(std::string_view key, int least) const;

  void defaulted(std::string_view key, std::string_view json_value, std::string_view reason) const;
  void ignore(std::string_view key, std::string_view reason) const;
  // "<file>: <architecture>.<key>: <value or missing>, expected <expected>"
  [[noreturn]] void refuse(std::string_view key, std::string_view expected,
                           StatusCode code = StatusCode::kInvalidArgument) const;
  // Warns of lists that were read and go on behind the last of `layers`.
  void warn_of_surplus(int layers) const;
  // Every key of the file that looks as if it had to do with ropes and was not looked at.
  void ignore_the_rest() const;

 private:
  const GgufValue* peek(std::string_view key) const;
  const GgufValue* take(std::string_view key) const;

  const GgufFile& file_;
  std::string architecture_;
  Audit& audit_;
};

}  // namespace ropecache::model
