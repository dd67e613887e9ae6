// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Audit: what a reader of any format shares while it reads one file. A Refusal ends the reading with an error.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>

#include "model/ledger.h"
#include "one_line.h"
#include "ropecache/status.h"

namespace ropecache::model {

// Largest width that is taken seriously; a file that says more is refused.
inline constexpr std::int64_t kMaxWidth = 1 << 20;

// Thrown inside a reader only: its entry point turns it into its Status.
struct Refusal {
  Status status;
};

// What all parts of a reader share: its name, the ledger, and which dotted keys are accounted for.
struct Audit {
  std::string name;
  Ledger ledger;
  std::set<std::string, std::less<>> seen;

  // "<name>: <text>", one line whatever a file's names hold
  void warn(const std::string& text) { ledger.warn(one_line(name + ": " + text)); }
  [[noreturn]] void refuse(const std::string& text, StatusCode code = StatusCode::kInvalidArgument) const {
    throw Refusal{Status(code, one_line(name + ": " + text))};
  }
};

}  // namespace ropecache::model
