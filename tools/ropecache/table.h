// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// TextTable: rows under headings, columns aligned. A column that says nothing in any row is left out, so that odd
// properties (an offset, a magnitude) take room only in the files that have them.
#pragma once

#include <string>
#include <vector>

#include "style.h"

namespace ropecache::cli {

class TextTable {
 public:
  explicit TextTable(std::vector<std::string> headings) : headings_(std::move(headings)) {}
  // As many cells as headings; control bytes are replaced.
  void row(std::vector<std::string> cells);
  std::string text(const Style& style, int indent = 2) const;

 private:
  std::vector<std::string> headings_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace ropecache::cli
