// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// The metadata of a GGUF file: keys and their values. Long arrays and strings (a vocabulary) are stepped over, not
// stored.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/gguf_cursor.h"
#include "ropecache/status.h"

namespace ropecache::model {

struct GgufValue {
  enum class Kind { kNumber, kBool, kText, kNumbers, kOther };
  Kind kind = Kind::kOther;  // kOther: an array of strings or arrays, or one too long to keep
  bool integral = false;     // kNumber, kNumbers: from an integer type (or booleans)
  double number = 0;  // kNumber, kBool. A float stands for its shortest decimal, an integer beyond 2^53 is rounded
  std::string text;   // kText: the string, cut where it is long. kNumber: the decimal as written in the file's type
  std::vector<double> numbers;
  std::uint64_t count = 0;  // of array elements

  std::string json() const;
};

using GgufMetadata = std::map<std::string, GgufValue, std::less<>>;

// `keys` of them from where `in` stands; `name` leads error texts.
Status read_gguf_metadata(GgufCursor& in, std::uint64_t keys, std::string_view name, GgufMetadata& out);

}  // namespace ropecache::model
