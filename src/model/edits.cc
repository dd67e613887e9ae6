// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "model/edits.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace ropecache::model {

std::size_t edits(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() - a.size() > kMostEdits) return kMostEdits + 1;
  std::vector<std::size_t> row(a.size() + 1);  // of the distances between all heads of a and one head of b
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t j = 1; j <= b.size(); ++j) {
    std::size_t diagonal = std::exchange(row[0], j);
    for (std::size_t i = 1; i <= a.size(); ++i) {
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[i], std::min({changed, row[i - 1] + 1, row[i] + 1}));
    }
  }
  return std::min(row.back(), kMostEdits + 1);
}

}  // namespace ropecache::model
