// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "model/hf_leftovers.h"

#include <algorithm>
#include <array>
#include <string>

#include "text.h"

namespace ropecache::model {

namespace {

constexpr std::array<std::string_view, 3> kWords = {"rope", "rotary", "theta"};
constexpr int kMostEntries = 500;  // a file with more is not a model's

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
  // The decoder's object itself, or a rope block in it.
  bool is_ours(std::string_view path) const {
    if (path == decoder_) return true;
    const std::string lead = decoder_.empty() ? "" : std::string(decoder_) + ".";
    if (path.substr(0, lead.size()) != lead) return false;
    const std::string_view rest = path.substr(lead.size());
    return looks_relevant(rest.substr(0, rest.find('.')));
  }

  void leftover(const Section& section, const std::string& key, const Json& value) {
    if (++entries_ > kMostEntries) return;
    const bool ours = is_ours(section.path());
    const Known* known = find_known(key);
    const bool remarked = known != nullptr && value == Json::parse(known->value);
    const std::string_view reason = remarked ? known->remark
                                    : ours   ? "not a key of this model type"
                                             : "outside the parts that were read";
    section.ignore(key, reason);
    if (ours && !is_neutral(value) && (!remarked || known->warn)) {
      audit_.warn(text(section.path(key), " has no effect: ", reason));
    }
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
