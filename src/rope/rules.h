// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// The scaling rules in real arithmetic. Configs are checked before they get here (check.h).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "rope/pairs.h"
#include "rope/wide.h"
#include "ropecache/rope.h"
#include "ropecache/status.h"

namespace ropecache::rope {

using Length = std::optional<std::int64_t>;

// What a rule makes of a rope: pair i turns by exp(-exponent_i * log_base) / divisor / divisors[i] radians.
struct Terms {
  Wide log_base;               // of theta as the rule changed it
  Wide divisor = 1;            // of every pair
  std::vector<Wide> divisors;  // of each pair, without RopeConfig::divisors; empty: 1. Zero: the pair does not turn
};
Terms terms_of(const RopeConfig& config, const Pairs& pairs, Length length);

// One per pair, RopeConfig::divisors included; zero for pairs that do not turn.
// kInvalidArgument: YaRN's correction range runs backwards.
Result<std::vector<Wide>> frequencies_of(const RopeConfig& config, const Pairs& pairs, Length length);

// The list of a longrope for this length.
bool longrope_takes_long(const LongRopeScaling& rule, Length length);
// L of the dynamic rule.
std::int64_t dynamic_length(const DynamicNtkScaling& rule, Length length);
// Pairs that turn under the proportional rule.
int turning_pairs(const ProportionalScaling& rule, int rotary_dim);

// ---- YaRN (yarn.cc) --------------------------------------------------------------------------------------------

// Where the ramp begins and ends, in pair indices, after rounding and clamps. low < high.
struct YarnRange {
  Wide low;
  Wide high;
};
Result<YarnRange> yarn_range(const YarnScaling& rule, int dim, const Wide& log_theta);
// Share of the unscaled frequency that pair i keeps: 1 below the range, 0 above it, all times extrapolation_factor.
Wide yarn_kept(const YarnScaling& rule, const YarnRange& range, int pair);

// ---- Magnitudes (magnitude.cc) ---------------------------------------------------------------------------------

Wide magnitude_of(const RopeConfig& config, Length length);
Wide softmax_multiplier_of(const RopeConfig& config);

// ---- Other people's arithmetic ---------------------------------------------------------------------------------

// fp32_recipe.cc
std::vector<float> fp32_frequencies_of(const RopeConfig& config, const Pairs& pairs, Length length);
float fp32_magnitude_of(const RopeConfig& config, Length length);
// ggml_recipe.cc
std::optional<GgmlRecipe> ggml_recipe_of(const RopeConfig& config, const Pairs& pairs, Length length);

// query_scale.cc: the one way to say "no scale".
QueryScale canonical(const QueryScale& scale);

}  // namespace ropecache::rope
