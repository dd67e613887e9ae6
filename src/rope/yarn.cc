// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// "NTK by parts": arXiv 2309.00071 section 3.2, with the rounding and clamps of transformers (modeling_rope_utils.py).
#include "rope/check.h"
#include "rope/rules.h"
#include "text.h"

namespace ropecache::rope {
namespace {

// The pair, as a real number, that turns `rotations` times in the original context. Bounded, so that it can be rounded
// to an integer for any theta: beyond the clamps of yarn_range() its value makes no difference.
Wide correction_dim(double rotations, const YarnScaling& rule, int dim, const Wide& log_theta) {
  const Wide radians = Wide::decimal(rotations) * scaled(Wide::pi(), 1);
  const Wide pair = Wide(dim) * log(Wide(rule.original_context) / radians) / scaled(log_theta, 1);
  const Wide bound = 2 * Wide(dim);
  if (pair > bound) return bound;
  return pair < -bound ? -bound : pair;
}

}  // namespace

Result<YarnRange> yarn_range(const YarnScaling& rule, int dim, const Wide& log_theta) {
  YarnRange range{correction_dim(rule.beta_fast, rule, dim, log_theta),
                  correction_dim(rule.beta_slow, rule, dim, log_theta)};
  if (rule.truncate) range = {Wide(range.low.floor()), Wide(range.high.ceil())};
  if (range.low < Wide(0)) range.low = 0;
  if (range.high > Wide(dim - 1)) range.high = dim - 1;
  if (range.low > range.high) {
    return refuse("scaling.original_context", text(rule.original_context),
                  text("a length for which the correction range does not run backwards, as it does from pair ",
                       range.low.to_double(), " to ", range.high.to_double()));
  }
  if (range.low == range.high) range.high = range.high + Wide::decimal(0.001);
  return range;
}

Wide yarn_kept(const YarnScaling& rule, const YarnRange& range, int pair) {
  Wide ramp = (Wide(pair) - range.low) / (range.high - range.low);
  if (ramp < Wide(0)) ramp = 0;
  if (ramp > Wide(1)) ramp = 1;
  return (1 - ramp) * Wide::decimal(rule.extrapolation_factor);
}

}  // namespace ropecache::rope
