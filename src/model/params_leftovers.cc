// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "model/params_leftovers.h"

#include <algorithm>
#include <string>

#include "text.h"

namespace ropecache::model {
namespace {

constexpr int kMostEntries = 500;  // a file with more is not a model's

// Parts of the names of keys that shape a rope, or seem to.
struct Word {
  std::string_view part;
  bool warn;
  std::string_view reason;
};
constexpr std::string_view kNotRead = "not read from params.json";
constexpr Word kWords[] = {
    {"sliding_window", false, "a window changes no rope"},
    {"vision_args", true, "the rope of Meta's vision tower is not in the file"},
    {"rope", true, kNotRead},
    {"rotary", true, kNotRead},
    {"yarn", true, kNotRead},
    {"scaling", true, kNotRead},
    {"scale_factor", true, kNotRead},
    {"freq_", true, kNotRead},
    {"theta", true, kNotRead},
    {"nope", true, kNotRead},
    {"temperature", true, kNotRead},
    {"original_max", true, kNotRead},
};
constexpr Word kInBlock = {"", true, kNotRead};  // of a key inside one of those

const Word* find_word(std::string_view key) {
  const auto* found = std::find_if(std::begin(kWords), std::end(kWords), [&](const Word& word) {
    return key.find(word.part) != std::string_view::npos;
  });
  return found == std::end(kWords) ? nullptr : found;
}

// null, false and a factor of 1 ask for nothing.
bool is_neutral(const Json& value) { return value.is_null() || value == Json(false) || value == Json(1.0); }

class Scan {
 public:
  explicit Scan(Audit& audit) : audit_(audit) {}

  void object(const Section& section, const Word* block) {
    for (const auto& [key, value] : section.object()->items()) {
      const Word* word = find_word(key);
      if (word == nullptr) word = block;
      if (value.is_object() && (word == nullptr || word->reason == kNotRead)) {
        object(Section(&value, section.path(key), &audit_), word == nullptr ? nullptr : &kInBlock);
      } else if (word != nullptr && !audit_.seen.contains(section.path(key))) {
        leftover(section, key, value, *word);
      }
    }
  }

  void finish() {
    if (entries_ > kMostEntries) audit_.warn(text(entries_ - kMostEntries, " more rope-like keys are not listed"));
  }

 private:
  void leftover(const Section& section, const std::string& key, const Json& value, const Word& word) {
    if (++entries_ > kMostEntries) return;
    section.ignore(key, word.reason);
    if (word.warn && !is_neutral(value)) audit_.warn(text(section.path(key), " has no effect: ", word.reason));
  }

  Audit& audit_;
  int entries_ = 0;
};

}  // namespace

void account_for_params_leftovers(const Json& file, Audit& audit) {
  Scan scan(audit);
  scan.object(Section(&file, "", &audit), nullptr);
  scan.finish();
}

}  // namespace ropecache::model
