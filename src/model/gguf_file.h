// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// The container of GGUF v2 and v3 (little-endian): metadata and the few small tensors that shape a rope. Counts and
// lengths in the file are checked against the bytes that are left before anything is sized by them; long arrays and
// strings (a vocabulary) are stepped over, not stored.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/bytes.h"
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

struct GgufFile {
  std::map<std::string, GgufValue, std::less<>> metadata;
  std::map<std::string, std::vector<double>, std::less<>> rope_tensors;  // of the three names below
};

inline constexpr std::string_view kGgufRopeFreqs = "rope_freqs.weight";
inline constexpr std::string_view kGgufFactorsLong = "rope_factors_long.weight";
inline constexpr std::string_view kGgufFactorsShort = "rope_factors_short.weight";

// kParse: not what the format promises. kUnsupported: v1, big-endian, or a rope tensor of a quantised type.
Result<GgufFile> parse_gguf(const Bytes& bytes, std::string_view name);

}  // namespace ropecache::model
