// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "model/gguf_axes.h"

#include <numeric>
#include <utility>
#include <vector>

namespace ropecache::model {

GgufAxes read_gguf_axes(const GgufArchitecture& row, const GgufKeys& keys, GgmlRope rope, int width) {
  GgufAxes out{rope, {}};
  const bool by_sections = row.has(kMropeIfSections);
  if (out.rope != GgmlRope::kMrope && out.rope != GgmlRope::kImrope && !by_sections) return out;
  constexpr std::string_view kKey = "rope.dimension_sections";
  const auto given = keys.integers(kKey, 2);
  if (!given) {
    if (!by_sections) keys.refuse(kKey, "the pairs that each position turns");
    return out;
  }
  std::vector<int> sections = *given;
  if (sections.size() > 4) keys.refuse(kKey, "at most 4 sections");
  for (const int section : sections) {
    if (section < 0) keys.refuse(kKey, "sections of 0 pairs or more");
  }
  sections.resize(4, 0);
  if (by_sections) {
    // DFlash drafts carry [pairs, 0, 0, 0]; for the others two sections make it M-RoPE.
    if (sections[0] == 0 || (sections[1] == 0 && !row.has(kNormIfHyper))) return out;
    out.rope = GgmlRope::kMrope;
  }
  if (sections[3] == 0) sections.pop_back();
  out.axes.layout = AxisLayout::kInterleavedGgml;
  if (out.rope == GgmlRope::kMrope) {
    const int sum = std::accumulate(sections.begin(), sections.end(), 0);
    out.axes.layout = 2 * sum == width ? AxisLayout::kSectioned : AxisLayout::kSectionedGgml;
  }
  out.axes.sections = std::move(sections);
  return out;
}

}  // namespace ropecache::model
