// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "model/hf_leftovers.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "model/edits.h"
#include "text.h"

namespace ropecache::model {

namespace {

constexpr std::array<std::string_view, 3> kWords = {"rope", "rotary", "theta"};
constexpr int kMostEntries = 500;         // a file with more is not a model's
constexpr std::size_t kMostListed = 400;  // characters of keys in one warning

// Keys that a checkpoint's own code knows, and what a reader of a plan should know of them.
struct Known {
  std::string_view key;
  std::string_view value;  // JSON text for which the remark holds
  std::string_view remark;
  bool warn;
};
constexpr Known kKnown[] = {
    {"original_rope", "true", "says that the rope is the usual one", false},
    {"use_dynamic_ntk", "true", "the checkpoint's code changes the base beyond seq_length; that is not followed", true},
    {"use_logn_attn", "true", "the checkpoint's code scales queries beyond seq_length; that is not followed", true},
};

const Known* find_known(std::string_view key) {
  const auto* found = std::find_if(std::begin(kKnown), std::end(kKnown), [&](const Known& k) { return k.key == key; });
  return found == std::end(kKnown) ? nullptr : found;
}

bool looks_relevant(std::string_view key) {
  std::string lower(key);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return find_known(lower) != nullptr || std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) {
           return lower.find(word) != std::string::npos;
         });
}

// null, false and a factor of 1 ask for nothing.
bool is_neutral(const Json& value) { return value.is_null() || value == Json(false) || value == Json(1.0); }

// Keys that had no effect for one reason make one warning.
class Scan {
 public:
  Scan(std::string_view decoder, bool rotates, Audit& audit) : decoder_(decoder), rotates_(rotates), audit_(audit) {}

  void object(const Section& section, bool inside_block) {
    misspellings(section);
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
    for (const auto& [reason, keys] : warnings_) {
      const bool one = keys.find(',') == std::string::npos;
      audit_.warn(text(keys, one ? " has" : " have", " no effect: ", reason));
    }
    if (entries_ > kMostEntries) audit_.warn(text(entries_ - kMostEntries, " more rope-like keys are not listed"));
  }

 private:
  // A key that nothing reads beside a default for one that is spelt nearly so. The rope-like are leftovers by themselves.
  void misspellings(const Section& section) {
    constexpr std::size_t kLongEnough = 8;
    constexpr std::size_t kMostKeys = 1000;  // an object with more is no config
    if (section.object()->size() > kMostKeys) return;
    for (const KeyNote& taken : audit_.ledger.defaults()) {
      const std::string_view key = std::string_view(taken.key).substr(taken.key.rfind('.') + 1);
      if (key.size() < kLongEnough || section.path(key) != taken.key) continue;
      for (const auto& [other, value] : section.object()->items()) {
        if (audit_.seen.contains(section.path(other)) || looks_relevant(other) || edits(key, other) != 1) continue;
        audit_.warn(text(section.path(other), " has no effect; for ", key, " ", taken.value, " is taken"));
        break;
      }
    }
  }

  // The decoder's object itself, or a rope block in it.
  bool is_ours(std::string_view path) const {
    return path == decoder_ || looks_relevant(block_of(path).substr(0, block_of(path).find('.')));
  }

  // Of a path below the decoder's object what follows its own; empty for other paths.
  std::string_view block_of(std::string_view path) const {
    if (decoder_.empty()) return path;
    const std::string lead = std::string(decoder_) + ".";
    return path.substr(0, lead.size()) == lead ? path.substr(lead.size()) : std::string_view();
  }

  std::string_view reason_for(std::string_view path) const {
    if (!is_ours(path)) return "outside the parts that were read";
    if (!rotates_) return "no layer of this model rotates";
    // The parts of a block are for kinds of layers.
    const std::string_view block = block_of(path);
    return path != decoder_ && block.find('.') != std::string_view::npos ? "no layer that rotates is of this kind"
                                                                         : "not a key of this model type";
  }

  void leftover(const Section& section, const std::string& key, const Json& value) {
    if (++entries_ > kMostEntries) return;
    const bool ours = is_ours(section.path());
    const Known* known = find_known(key);
    const bool remarked = known != nullptr && value == Json::parse(known->value);
    const std::string_view reason = remarked ? known->remark : reason_for(section.path());
    section.ignore(key, reason);
    if (!ours || is_neutral(value) || (remarked && !known->warn)) return;
    std::string& keys = warnings_[std::string(reason)];
    if (keys.size() < kMostListed) keys += (keys.empty() ? "" : ", ") + section.path(key);
  }

  std::string_view decoder_;
  bool rotates_;
  Audit& audit_;
  int entries_ = 0;
  std::map<std::string, std::string> warnings_;  // reason, keys
};

}  // namespace

void account_for_leftovers(const Json& file, std::string_view decoder, bool rotates, Audit& audit) {
  Scan scan(decoder, rotates, audit);
  scan.object(Section(&file, "", &audit), false);
  scan.finish();
}

}  // namespace ropecache::model
