// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include "rope/check.h"
#include "rope/pairs.h"
#include "text.h"

namespace ropecache::rope {
namespace {

struct LayoutRow {
  std::string_view name;
  std::size_t min_sections;
  std::size_t max_sections;
  bool covers_pairs;  // the sections add up to the pairs; ggml's two layouts repeat or cut them instead
  std::size_t equal_sections;  // as many of the first are of one size; 0: any sizes
};

constexpr std::size_t kMaxAxes = 8;

// By AxisLayout.
constexpr std::array<LayoutRow, 10> kLayouts = {{
    {"single", 0, 0, false, 0},
    {"sectioned", 1, kMaxAxes, true, 0},
    {"interleaved", 3, 3, true, 0},
    {"interleaved-ggml", 3, 4, false, 0},
    {"sectioned-ggml", 3, 4, false, 0},
    {"ernie", 3, 3, true, 2},
    {"vision", 1, kMaxAxes, true, 0},
    {"vision-alternating", 2, 2, true, 2},
    {"alternating", 2, kMaxAxes, true, kMaxAxes},
    {"vision-pairs", 2, kMaxAxes, true, kMaxAxes},
}};

const LayoutRow& row_of(AxisLayout layout) { return kLayouts[static_cast<std::size_t>(layout)]; }

std::string sections_text(const std::vector<int>& sections) {
  std::string out = "[";
  for (std::size_t n = 0; n < sections.size() && n <= kMaxAxes; ++n) {
    if (n != 0) out += ", ";
    out += n < kMaxAxes ? text(sections[n]) : "...";
  }
  return out + "]";
}

Status check_sections(const Axes& axes, int pairs) {
  if (static_cast<std::size_t>(axes.layout) >= kLayouts.size()) {
    return refuse("axes.layout", text(static_cast<int>(axes.layout)), "an AxisLayout");
  }
  const LayoutRow& row = row_of(axes.layout);
  const auto wrong = [&](const std::string& expected) {
    return refuse("axes.sections", sections_text(axes.sections), expected);
  };
  if (axes.sections.size() < row.min_sections || axes.sections.size() > row.max_sections) {
    return wrong(text(row.min_sections, " to ", row.max_sections, " sections for layout ", row.name));
  }
  std::int64_t sum = 0;
  for (const int section : axes.sections) {
    if (section < 0) return wrong("no negative section");
    sum += section;
  }
  if (row.covers_pairs && sum != pairs) {
    return wrong(text("sections that add up to the ", pairs, " pairs"));
  }
  if (row.max_sections > 0 && sum == 0) return wrong("at least one pair in a section");
  if (sum > kMaxRotaryDim) return wrong(text("a sum of at most ", kMaxRotaryDim));
  for (std::size_t n = 1; n < std::min(row.equal_sections, axes.sections.size()); ++n) {
    if (axes.sections[n] == axes.sections[0]) continue;
    return wrong(text(row.equal_sections == 2 ? "equal first and second section" : "sections of one size",
                      " for layout ", row.name));
  }
  return {};
}

// The section that holds `pair`, and where that section starts.
struct Place {
  int section = 0;
  int start = 0;
};
Place place_of(const std::vector<int>& sections, int pair) {
  Place place;
  for (const int size : sections) {
    if (pair < place.start + size) break;
    place.start += size;
    ++place.section;
  }
  return place;
}

// Axis of a pair in the interleaved layouts; `rest` takes what no rule claims.
int interleaved_axis(const std::vector<int>& sections, int pair, bool claim_first, int rest) {
  if (pair % 3 == 1 && pair < 3 * std::int64_t{sections[1]}) return 1;
  if (pair % 3 == 2 && pair < 3 * std::int64_t{sections[2]}) return 2;
  if (claim_first && pair % 3 == 0 && pair < 3 * std::int64_t{sections[0]}) return 0;
  return rest;
}

int axis_of(const Axes& axes, int sum, int pair) {
  const std::vector<int>& s = axes.sections;
  switch (axes.layout) {
    case AxisLayout::kSingle: return 0;
    case AxisLayout::kSectioned:
    case AxisLayout::kAxial:
    case AxisLayout::kAxialAlternating: return place_of(s, pair).section;
    case AxisLayout::kInterleaved: return interleaved_axis(s, pair, false, 0);
    case AxisLayout::kInterleavedGgml: return interleaved_axis(s, pair % sum, true, 3);
    case AxisLayout::kSectionedGgml: return place_of(s, pair % sum).section;
    case AxisLayout::kAlternating:
    case AxisLayout::kAxialPairs: return pair % static_cast<int>(s.size());
    case AxisLayout::kErnie: return pair < s[0] + s[1] ? 1 + pair % 2 : 0;
  }
  return 0;
}

Exponent exponent_of(const RopeConfig& config, int pair) {
  const std::vector<int>& s = config.axes.sections;
  if (config.axes.layout == AxisLayout::kAxial) {
    const Place place = place_of(s, pair);
    const int width = 2 * s[static_cast<std::size_t>(place.section)];
    return {2 * (pair - place.start), config.exponent_dim != 0 ? config.exponent_dim : width};
  }
  if (config.axes.layout == AxisLayout::kAxialAlternating) {
    const Place place = place_of(s, pair);
    return {2 * (2 * (pair - place.start) + place.section), exponent_dim(config)};
  }
  if (config.axes.layout == AxisLayout::kAxialPairs) {
    const int width = 2 * s[0];
    return {2 * (pair / static_cast<int>(s.size())), config.exponent_dim != 0 ? config.exponent_dim : width};
  }
  return {2 * pair, exponent_dim(config)};
}

}  // namespace

std::string_view axis_layout_name(AxisLayout layout) { return row_of(layout).name; }

Result<Pairs> lay_out_pairs(const RopeConfig& config) {
  const int count = config.rotary_dim / 2;
  Status status = check_sections(config.axes, count);
  if (!status.ok()) return status;

  int sum = 0;
  for (const int section : config.axes.sections) sum += section;
  Pairs pairs;
  for (int pair = 0; pair < count; ++pair) {
    const int axis = axis_of(config.axes, sum, pair);
    pairs.axes.push_back(static_cast<std::uint8_t>(axis));
    pairs.axis_count = std::max(pairs.axis_count, axis + 1);
    pairs.exponents.push_back(exponent_of(config, pair));
  }
  return pairs;
}

}  // namespace ropecache::rope
