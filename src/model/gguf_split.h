// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Models split over several GGUF files, "name-00001-of-00004.gguf" and so on. The metadata is in the first part; a rope
// tensor can be in any.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/audit.h"
#include "model/gguf_file.h"

namespace ropecache::model {

struct GgufSplit {
  int part = 0;   // split.no
  int count = 1;  // split.count; 1: not split
  std::optional<std::int64_t> tensors;  // split.tensors.count, of all parts together
};

// Refused: keys of the wrong type, out of range, or in contradiction to each other.
GgufSplit read_gguf_split(const GgufFile& file, const Audit& audit);

// Refuses a part that does not hold the metadata, and names the one that does.
void require_first_part(const GgufSplit& split, const Audit& audit);

// Adds the rope tensors of the other parts to those of `file`, the first one at `path` (empty: no file, so no other
// parts). A part that is not at hand is worth a warning if a rope tensor could be in it; one that contradicts the first
// is refused.
void merge_parts(const GgufSplit& split, const std::string& path, Audit& audit, GgufFile& file);

}  // namespace ropecache::model
