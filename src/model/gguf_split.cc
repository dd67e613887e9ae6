// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// The keys: llama.cpp's gguf-split and llama_model_loader, which refuses the same contradictions.
#include "model/gguf_split.h"

#include "model/bytes.h"
#include "model/gguf_keys.h"
#include "text.h"

namespace ropecache::model {
namespace {

constexpr std::string_view kPart = "split.no";
constexpr std::string_view kCount = "split.count";
constexpr std::string_view kTensors = "split.tensors.count";
constexpr std::int64_t kMaxParts = 99999;  // names of parts count with five digits
constexpr std::int64_t kMaxTensors = std::int64_t{1} << 31;

std::string_view type_word(const GgufValue& value) {
  switch (value.kind) {
    case GgufValue::Kind::kNumber: return value.integral ? "an integer" : "a float";
    case GgufValue::Kind::kBool: return "a boolean";
    case GgufValue::Kind::kText: return "a string";
    case GgufValue::Kind::kNumbers:
    case GgufValue::Kind::kOther: break;
  }
  return "an array";
}

std::optional<std::int64_t> whole(const GgufFile& file, std::string_view key, std::int64_t most, const Audit& audit) {
  const auto found = file.metadata.find(key);
  if (found == file.metadata.end()) return std::nullopt;
  const GgufValue& value = found->second;
  const bool integral = value.kind == GgufValue::Kind::kNumber && value.integral;
  if (!integral || !(value.number >= 0 && value.number <= static_cast<double>(most))) {
    audit.refuse(text(key, ": ", shown(value), ", ", type_word(value), ", expected an integer from 0 to ", most));
  }
  return static_cast<std::int64_t>(value.number);
}

// "model-00001-of-00004.gguf" for part 0 of 4 of "model-00003-of-00004.gguf"; nothing for other names.
std::optional<std::string> part_name(std::string_view path, int part, int count) {
  const auto digits = [](int number) {
    const std::string tail = text(number);
    return std::string(5 - tail.size(), '0') + tail;
  };
  const std::string ending = "-of-" + digits(count) + ".gguf";
  if (!path.ends_with(ending) || path.size() < ending.size() + 6) return std::nullopt;
  const std::string_view stem = path.substr(0, path.size() - ending.size() - 5);
  if (!stem.ends_with('-')) return std::nullopt;
  return std::string(stem) + digits(part + 1) + ending;
}

// Nothing more can come where there are divisors, or both lists of a longrope.
bool has_all_tensors(const GgufFile& file) {
  return file.rope_tensors.contains(kGgufRopeFreqs) ||
         (file.rope_tensors.contains(kGgufFactorsLong) && file.rope_tensors.contains(kGgufFactorsShort));
}

class Merger {
 public:
  Merger(const GgufSplit& split, const std::string& path, Audit& audit, GgufFile& file)
      : split_(split), path_(path), audit_(audit), file_(file), tensors_(file.tensors) {}

  void run() {
    for (int part = 1; part < split_.count; ++part) read(part);
    if (missing_ == 0) {
      check_tensors();
    } else if (!has_all_tensors(file_)) {
      const std::string more = missing_ == 1 ? " is" : text(" and ", missing_ - 1, " more are");
      audit_.warn(text("part ", first_missing_ + 1, " of ", split_.count, more, " not at hand: a rope tensor in ",
                       missing_ == 1 ? "it" : "them", " would be missed"));
    }
  }

 private:
  void read(int part) {
    const auto name = path_.empty() ? std::nullopt : part_name(path_, part, split_.count);
    FileBytes bytes;
    Status status;
    const auto kind = name ? bytes.open(*name, status) : FileBytes::Kind::kMissing;
    if (kind == FileBytes::Kind::kError) throw Refusal{status};
    if (kind != FileBytes::Kind::kFile) {
      if (missing_++ == 0) first_missing_ = part;
      return;
    }
    Result<GgufFile> other = parse_gguf(bytes, *name);
    if (!other.ok()) throw Refusal{other.status()};
    Audit of_part;
    of_part.name = *name;
    check_place(*other, part, of_part);
    check_keys(*other, part, of_part);
    tensors_ += other->tensors;
    for (auto& [tensor, values] : other->rope_tensors) take(tensor, std::move(values), of_part);
  }

  void check_place(const GgufFile& other, int part, const Audit& of_part) const {
    const auto number = whole(other, kPart, kMaxParts, of_part);
    if (number != part) {
      of_part.refuse(text(kPart, ": ", number ? text(*number) : "missing", ", expected ", part,
                          " from the file's name"));
    }
    const auto count = whole(other, kCount, kMaxParts, of_part);
    if (count != split_.count) {
      of_part.refuse(text(kCount, ": ", count ? text(*count) : "missing", ", expected ", split_.count,
                          " as in the first part"));
    }
  }

  // llama.cpp reads the first part's metadata only. What another part repeats must not say anything else.
  void check_keys(const GgufFile& other, int part, const Audit& of_part) {
    for (const auto& [key, value] : other.metadata) {
      if (key != "general.architecture" && !is_gguf_rope_key(key)) continue;
      const auto first = file_.metadata.find(key);
      if (first == file_.metadata.end()) {
        if (!audit_.seen.insert(key).second) continue;
        audit_.ledger.ignored(key, value.json(),
                              text("only in part ", part + 1, "; metadata is read from the first part"));
        audit_.warn(text(key, " has no effect: it is only in part ", part + 1));
      } else if (first->second.json() != value.json()) {
        of_part.refuse(text(key, ": ", shown(value), ", expected ", shown(first->second), " as in the first part"));
      }
    }
  }

  void take(const std::string& tensor, std::vector<double> values, const Audit& of_part) {
    const auto [place, added] = file_.rope_tensors.try_emplace(tensor, values);
    if (!added && place->second != values) {
      of_part.refuse(text("tensor ", tensor, ": other numbers than in an earlier part, expected it once"));
    }
  }

  void check_tensors() const {
    if (!split_.tensors || static_cast<std::uint64_t>(*split_.tensors) == tensors_) return;
    audit_.refuse(text(kTensors, ": ", *split_.tensors, ", expected ", tensors_, ", as many as the ", split_.count,
                       " parts hold"));
  }

  const GgufSplit& split_;
  const std::string& path_;
  Audit& audit_;
  GgufFile& file_;
  std::uint64_t tensors_;  // of the parts read so far
  int missing_ = 0;
  int first_missing_ = 0;
};

}  // namespace

GgufSplit read_gguf_split(const GgufFile& file, const Audit& audit) {
  const auto part = whole(file, kPart, kMaxParts, audit);
  const auto count = whole(file, kCount, kMaxParts, audit);
  GgufSplit split;
  split.tensors = whole(file, kTensors, kMaxTensors, audit);
  split.part = static_cast<int>(part.value_or(0));
  // gguf-split writes a count of 0 when it joins parts again.
  if (count && *count > 1) split.count = static_cast<int>(*count);
  if (split.part >= split.count) {
    audit.refuse(text(kPart, ": ", split.part, ", expected less than ", kCount, ", which is ",
                      count ? text(*count) : "missing"));
  }
  return split;
}

void require_first_part(const GgufSplit& split, const Audit& audit) {
  if (split.part == 0) return;
  const auto first = part_name(audit.name, 0, split.count);
  audit.refuse(text(kPart, ": ", split.part, ", expected part 0 of ", split.count, ", which holds the metadata",
                    first ? text(": ", *first) : std::string()));
}

void merge_parts(const GgufSplit& split, const std::string& path, Audit& audit, GgufFile& file) {
  if (split.count == 1) return;
  audit.ledger.used(kCount, text(split.count));
  Merger(split, path, audit, file).run();
}

}  // namespace ropecache::model
