// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Ledger: what became of each rope-relevant key of a file. A reader looks values up through its own accessor, which
// enters every look-up here, so that "used", "defaults" and "ignored" of a plan are complete by construction.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ropecache/model.h"

namespace ropecache::model {

class Ledger {
 public:
  // Entering a key twice keeps the first entry.
  void used(std::string_view key, std::string_view json_value);
  void defaulted(std::string_view key, std::string_view json_value, std::string_view reason);
  void ignored(std::string_view key, std::string_view json_value, std::string_view reason);
  void warn(std::string text);
  bool has_used(std::string_view key) const;
  const std::vector<KeyNote>& defaults() const { return defaults_; }

  void move_into(ModelRopes& model);

 private:
  std::vector<KeyNote> used_, defaults_, ignored_;
  std::vector<std::string> warnings_;
};

}  // namespace ropecache::model
