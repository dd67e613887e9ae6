// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Two models, layer by layer: where they rotate differently, and what is only another way to write the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ropecache/model.h"

namespace ropecache::cli {

struct FieldDifference {
  std::string field;
  std::string a;
  std::string b;
};

// Layers of one role that differ in the same way.
struct Difference {
  Role role = Role::kAttention;
  std::vector<int> layers;
  std::vector<FieldDifference> fields;
  std::optional<std::int64_t> first_position;  // absent: not below 2^31 with equal ids on all axes, or it depends on length
  std::optional<std::int64_t> beyond;          // shows only in sequences longer than this
};

// Not counted as a difference.
enum class NoteKind : std::uint8_t {
  kPairing,   // one format stores the weights permuted
  kRounding,  // one format stores the factors in fp32, and no position of either model's context shows it
  kBeside,    // softmax or query scale: attention's business, the rotation is the same
};
std::string_view note_kind_name(NoteKind kind);

struct Note {
  Role role = Role::kAttention;
  std::vector<int> layers;
  NoteKind kind = NoteKind::kPairing;
  std::string text;
};

struct Comparison {
  std::vector<Difference> differences;
  std::vector<Note> notes;
};

// `length_fixed`: both were read for one length; otherwise rules that depend on it are compared for all lengths.
Comparison compare(const ModelRopes& a, const ModelRopes& b, bool length_fixed);

}  // namespace ropecache::cli
