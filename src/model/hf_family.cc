// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "model/hf_family.h"

#include <algorithm>

namespace ropecache::model {

namespace {

template <class Row>
const Row* find_row(std::span<const Row> rows, std::string_view type) noexcept {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.type == type; });
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace

const Family* find_family(std::span<const Family> rows, std::string_view type, std::string_view architecture) noexcept {
  const Family* any = nullptr;
  for (const Family& row : rows) {
    if (row.type != type) continue;
    if (row.architecture.empty()) {
      any = &row;
    } else if (row.architecture == architecture) {
      return &row;
    }
  }
  return any;
}

const Composite* find_composite(std::string_view type) noexcept { return find_row(composites(), type); }
const Sizes* find_sizes(std::string_view type) noexcept { return find_row(sizes(), type); }

bool is_ropeless(std::string_view type) noexcept {
  const auto types = ropeless_types();
  return std::find(types.begin(), types.end(), type) != types.end();
}

std::string_view kind_name(char letter) noexcept {
  switch (letter) {
    case 'F': return "full_attention";
    case 'S': return "sliding_attention";
    case 'I': return "indexed_attention";
    case 'L': return "linear_attention";
    case 'C': return "conv";
    case 'H': return "hybrid";
    case 'K': return "compress";
    default: return "unknown";
  }
}

}  // namespace ropecache::model
