// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "model/hf_leftovers.h"

#include <algorithm>
#include <array>
#include <string>

#include "text.h"

namespace ropecache::model {

namespace {

constexpr std::array<std::string_view, 4> kWords = {"rope", "rotary", "theta", "use_dynamic_ntk"};
constexpr int kMostEntries = 500;  // a file with more is not a model's

bool looks_relevant(std::string_view key) {
  std::string lower(key);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return static_cast<char>(c | 0x20); });
  return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) { return lower.find(word) != lower.npos; });
}

class Scan {
 public:
  Scan(std::string_view decoder, Audit& audit) : decoder_(decoder), audit_(audit) {}

  void object(const Section& section, bool inside_block) {
    for (const auto& [key, value] : section.object()->items()) {
      const bool relevant = inside_block || looks_relevant(key);
      if (value.is_object()) {
        object(Section(&value, section.path(key), &audit_), relevant);
      } else if (relevant && !audit_.seen.contains(section.path(key))) {
        leftover(section, key, value);
      }
    }
  }

  void finish() {
    if (entries_ > kMostEntries) audit_.warn(text(entries_ - kMostEntries, " more rope-like keys are not listed"));
  }

 private:
  void leftover(const Section& section, const std::string& key, const Json& value) {
    if (++entries_ > kMostEntries) return;
    const bool ours = section.path() == decoder_;
    section.ignore(key, ours ? "not a key of this model type" : "outside the parts that were read");
    if (ours && !value.is_null()) audit_.warn(section.path(key) + " has no effect: not a key of this model type");
  }

  std::string_view decoder_;
  Audit& audit_;
  int entries_ = 0;
};

}  // namespace

void account_for_leftovers(const Json& file, std::string_view decoder, Audit& audit) {
  Scan scan(decoder, audit);
  scan.object(Section(&file, "", &audit), false);
  scan.finish();
}

}  // namespace ropecache::model
