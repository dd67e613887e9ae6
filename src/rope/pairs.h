// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Which axis turns each pair, and the exponent that theta has there before any scaling.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ropecache/rope.h"
#include "ropecache/status.h"

namespace ropecache::rope {

// Kept as two integers: recipes in floating point divide them in their own precision.
struct Exponent {
  int numerator = 0;  // twice the frequency index
  int denominator = 1;
};

struct Pairs {
  std::vector<std::uint8_t> axes;
  int axis_count = 1;               // one more than the highest axis in use
  std::vector<Exponent> exponents;  // pair i turns by theta ^ -(numerator / denominator)

  int count() const { return static_cast<int>(axes.size()); }
};

// r of the exponent 2i/r.
inline int exponent_dim(const RopeConfig& config) {
  return config.exponent_dim != 0 ? config.exponent_dim : config.rotary_dim;
}

inline bool is_axial(AxisLayout layout) {
  return layout == AxisLayout::kAxial || layout == AxisLayout::kAxialAlternating || layout == AxisLayout::kAxialPairs;
}

std::string_view axis_layout_name(AxisLayout layout);

// rotary_dim and exponent_dim are valid already; checks the sections.
Result<Pairs> lay_out_pairs(const RopeConfig& config);

}  // namespace ropecache::rope
