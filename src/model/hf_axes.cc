// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "model/hf_axes.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "text.h"

namespace ropecache::model {

namespace {

constexpr std::array<std::string_view, 2> kSectionKeys = {"mrope_section", "xdrope_section"};
constexpr std::array<std::string_view, 2> kInterleavedKeys = {"mrope_interleaved", "interleaved"};
constexpr std::size_t kMostSections = 8;

// What the pairs of a head can be cut into.
struct Cut {
  int pairs;
  bool three;  // time, rows, columns
  bool equal;  // rows and columns have as many

  bool allows(const std::vector<int>& sections) const {
    std::int64_t sum = 0;
    for (const int section : sections) {
      if (section < 0) return false;
      sum += section;
    }
    return sum == pairs && !sections.empty() && sections.size() <= kMostSections && (!three || sections.size() == 3) &&
           (!equal || sections[0] == sections[1]);
  }
  std::string expected() const {
    return text(three ? "3" : "up to 8", " sections that add up to the ", pairs, " pairs",
                equal ? ", the first two of one size" : "");
  }
};

struct Sections {
  std::vector<int> list;
  std::string origin;
};

std::string list_text(const std::vector<int>& list) { return Json(list).dump(); }

// The section list of the file, under either name, in the rope parameters or beside them: all that are there agree.
std::optional<Sections> stated_sections(const Section& config, const Section& block, const Cut& cut) {
  std::optional<Sections> first;
  for (const Section* section : {&block, &config}) {
    for (const std::string_view key : kSectionKeys) {
      const auto list = section->integers(key);
      if (!list) continue;
      if (!cut.allows(*list)) section->refuse(key, cut.expected());
      if (first && first->list != *list)
        section->refuse(key, text(list_text(first->list), " as ", first->origin, " says"));
      if (!first) first = {*list, section->path(key)};
    }
  }
  return first;
}

Sections class_sections(const Section& config, const Family& family, const Cut& cut) {
  const std::vector<int> sections(family.sections.begin(), family.sections.end());
  const std::string origin = text("class default of ", family.type);
  if (!family.sections_loose && !cut.allows(sections)) {
    config.refuse(kSectionKeys[0], text(cut.expected(), "; ", list_text(sections), ", the ", origin, ", do not"));
  }
  config.defaulted(kSectionKeys[0], sections, origin);
  return {sections, origin};
}

// Types whose axes interleave, or do not, whatever the file says: it may say the same, but not the contrary.
void check_interleaving(const Section& block, const Family& family, bool interleaves) {
  const std::string always = text("the axes of ", family.type, interleaves ? " always" : " never", " interleave");
  for (const std::string_view key : kInterleavedKeys) {
    const Json* value = block.peek(key);
    if (value != nullptr && *value != Json(interleaves)) {
      block.refuse(key, text(interleaves ? "true" : "false", " or no such key: ", always));
    }
    block.ignore_if_present(key, always);
  }
}

// The interleaved rule gives what is left to axis 0 and looks no further than the pairs there are.
std::vector<int> interleave(const Sections& stated, int pairs, Audit& audit) {
  std::vector<int> sections = stated.list;
  sections[1] = std::min(sections[1], (pairs + 1) / 3);
  sections[2] = std::min(sections[2], pairs / 3);
  sections[0] = pairs - sections[1] - sections[2];
  if (sections != stated.list) {
    audit.warn(text(stated.origin, ": sections ", list_text(stated.list), " interleaved over ", pairs,
                    " pairs give the axes ", list_text(sections), " of them"));
  }
  return sections;
}

bool has_sections(const Section& config, const Section& block) {
  return std::any_of(kSectionKeys.begin(), kSectionKeys.end(),
                     [&](std::string_view key) { return block.has(key) || config.has(key); });
}

Axes sectioned_axes(const Section& config, const Section& block, const Family* family, AxesRule rule, int pairs) {
  bool interleaves = rule == AxesRule::kInterleaved;
  if (family != nullptr) {
    check_interleaving(block, *family, interleaves);
  } else if (const std::string_view key = block.one_of(kInterleavedKeys); !key.empty()) {
    interleaves = *block.boolean(key);
  }
  const bool of_class = family != nullptr && family->sections[0] != 0;
  const Cut cut{pairs, interleaves || of_class, rule == AxesRule::kErnie};
  const auto stated = stated_sections(config, block, cut);
  if (!stated && !of_class) {
    config.defaulted(kSectionKeys[0], nullptr, "one axis");
    return {};
  }
  const Sections sections = stated ? *stated : class_sections(config, *family, cut);
  Axes axes;
  axes.layout = interleaves                ? AxisLayout::kInterleaved
                : rule == AxesRule::kErnie ? AxisLayout::kErnie
                                           : AxisLayout::kSectioned;
  axes.sections = interleaves ? interleave(sections, pairs, config.audit()) : sections.list;
  return axes;
}

}  // namespace

std::vector<RopeConfig> with_axes(const Section& config, const Section& block, const Family* family,
                                  const RopeConfig& rope) {
  const AxesRule rule = family != nullptr             ? family->axes
                        : has_sections(config, block) ? AxesRule::kSectioned
                                                      : AxesRule::kSingle;
  const int pairs = rope.rotary_dim / 2;
  RopeConfig out = rope;
  switch (rule) {
    case AxesRule::kSingle:
      return {out};
    case AxesRule::kSectioned:
    case AxesRule::kInterleaved:
    case AxesRule::kErnie:
      out.axes = sectioned_axes(config, block, family, rule, pairs);
      return {out};
    case AxesRule::kAxial:
      out.axes = {AxisLayout::kAxial, {pairs / 2, pairs - pairs / 2}};
      return {out};
    case AxesRule::kAlternating:
      out.axes = {AxisLayout::kAxialAlternating, {pairs / 2, pairs - pairs / 2}};
      return {out};
    case AxesRule::kAxialPairs:
      out.axes = {AxisLayout::kAxialPairs, {pairs / 2, pairs - pairs / 2}};
      return {out};
    case AxesRule::kThirds:
      out.rotary_dim = 6 * (rope.head_dim / 6);
      out.axes = {AxisLayout::kAxial, {rope.head_dim / 6, rope.head_dim / 6, rope.head_dim / 6}};
      return {out};
    case AxesRule::kHalves: {
      RopeConfig columns = out;
      out.rotary_dim = columns.rotary_dim = rope.head_dim / 2;
      columns.rotary_offset = rope.head_dim / 2;
      out.axes = {AxisLayout::kSectioned, {out.rotary_dim / 2, 0}};
      columns.axes = {AxisLayout::kSectioned, {0, out.rotary_dim / 2}};
      return {out, columns};
    }
  }
  return {out};
}

}  // namespace ropecache::model
