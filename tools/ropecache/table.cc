// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "table.h"

#include <algorithm>

#include "text.h"

namespace ropecache::cli {

void TextTable::row(std::vector<std::string> cells) {
  cells.resize(headings_.size());
  for (std::string& cell : cells) cell = printable(cell);
  rows_.push_back(std::move(cells));
}

std::string TextTable::text(const Style& style, int indent) const {
  std::vector<std::size_t> widths(headings_.size(), 0);
  for (const auto& cells : rows_) {
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], columns(cells[i]));
  }
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string out(static_cast<std::size_t>(indent), ' ');
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (widths[i] == 0) continue;
      out += cells[i];
      out.append(std::max(widths[i], headings_[i].size()) - columns(cells[i]) + 2, ' ');
    }
    return out.substr(0, out.find_last_not_of(' ') + 1);
  };
  std::string out = style.dim(line(headings_)) + '\n';
  for (const auto& cells : rows_) out += line(cells) + '\n';
  return out;
}

}  // namespace ropecache::cli
