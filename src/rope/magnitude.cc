// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include <variant>

#include "rope/rules.h"

namespace ropecache::rope {
namespace {

// g(m) of YaRN.
Wide attention_growth(const YarnScaling& rule, double mscale) {
  if (rule.factor <= 1) return 1;
  return Wide::decimal(rule.slope) * Wide::decimal(mscale) * log(Wide::decimal(rule.factor)) + 1;
}

Wide yarn_magnitude(const YarnScaling& rule) {
  if (rule.magnitude == YarnMagnitude::kOne) return 1;
  const Wide multiplier = Wide::decimal(rule.attention_multiplier);
  if (rule.magnitude == YarnMagnitude::kHf) {
    if (rule.attention_factor) return Wide::decimal(*rule.attention_factor) * multiplier;
    const double mscale = rule.mscale.value_or(0);
    const double all_dim = rule.mscale_all_dim.value_or(0);
    if (mscale == all_dim && mscale != 0) return multiplier;  // exactly, not as a quotient
    if (mscale != 0 && all_dim != 0) {
      return attention_growth(rule, mscale) / attention_growth(rule, all_dim) * multiplier;
    }
  }
  return attention_growth(rule, 1) * multiplier;
}

Wide longrope_magnitude(const LongRopeScaling& rule, Length length) {
  if (rule.attention_factor) return Wide::decimal(*rule.attention_factor);
  const std::optional<double>& mscale = longrope_takes_long(rule, length) ? rule.long_mscale : rule.short_mscale;
  if (mscale) return Wide::decimal(*mscale);
  const Wide ratio = rule.factor ? Wide::decimal(*rule.factor) : Wide(rule.max_context) / Wide(rule.original_context);
  if (ratio <= Wide(1)) return 1;
  return sqrt(1 + log(ratio) / log(Wide(rule.original_context)));
}

}  // namespace

Wide magnitude_of(const RopeConfig& config, Length length) {
  if (const auto* yarn = std::get_if<YarnScaling>(&config.scaling)) return yarn_magnitude(*yarn);
  if (const auto* longrope = std::get_if<LongRopeScaling>(&config.scaling)) {
    return longrope_magnitude(*longrope, length);
  }
  return 1;
}

Wide softmax_multiplier_of(const RopeConfig& config) {
  const auto* yarn = std::get_if<YarnScaling>(&config.scaling);
  if (yarn == nullptr || !yarn->softmax_scale) return 1;
  const Wide growth = attention_growth(*yarn, yarn->mscale_all_dim.value_or(0));
  return growth * growth;
}

}  // namespace ropecache::rope
