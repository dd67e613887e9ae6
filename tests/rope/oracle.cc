// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "rope/oracle.h"

#include <variant>

namespace ropecache::oracle {
namespace {

Mp growth(const YarnScaling& rule, const Mp& m) {
  const Mp s = Mp::decimal(rule.factor);
  return s > Mp(1) ? Mp::decimal(rule.slope) * m * log(s) + 1 : Mp(1);
}

Mp yarn_magnitude(const YarnScaling& rule) {
  const Mp multiplier = Mp::decimal(rule.attention_multiplier);
  switch (rule.magnitude) {
    case YarnMagnitude::kOne: return 1;
    case YarnMagnitude::kPlain: return growth(rule, 1) * multiplier;
    case YarnMagnitude::kHf: break;
  }
  if (rule.attention_factor) return Mp::decimal(*rule.attention_factor) * multiplier;
  if (rule.mscale.value_or(0) > 0 && rule.mscale_all_dim.value_or(0) > 0) {
    return growth(rule, Mp::decimal(*rule.mscale)) / growth(rule, Mp::decimal(*rule.mscale_all_dim)) * multiplier;
  }
  return growth(rule, 1) * multiplier;
}

std::vector<Mp> yarn_frequencies(const RopeConfig& config, const YarnScaling& rule, int r,
                                 const std::vector<Mp>& frequencies) {
  Mp low = correction_dim(rule.beta_fast, r, config.theta, rule.original_context);
  Mp high = correction_dim(rule.beta_slow, r, config.theta, rule.original_context);
  if (rule.truncate) {
    low = floor(low);
    high = ceil(high);
  }
  low = max(low, 0);
  high = min(high, r - 1);
  if (low == high) high = high + Mp("0.001");
  std::vector<Mp> result;
  for (int i = 0; i < static_cast<int>(frequencies.size()); ++i) {
    const Mp ramp = min(max((Mp(i) - low) / (high - low), 0), 1);
    const Mp mask = (1 - ramp) * Mp::decimal(rule.extrapolation_factor);
    const Mp& theta = frequencies[static_cast<std::size_t>(i)];
    result.push_back(theta / Mp::decimal(rule.factor) * (1 - mask) + theta * mask);
  }
  return result;
}

Mp llama3_frequency(const Llama3Scaling& rule, const Mp& theta) {
  const Mp factor = Mp::decimal(rule.factor);
  const Mp low = Mp::decimal(rule.low_freq_factor);
  const Mp high = Mp::decimal(rule.high_freq_factor);
  const Mp context = rule.original_context;
  const Mp wavelength = 2 * Mp::pi() / theta;
  if (wavelength < context / high) return theta;
  if (wavelength > context / low) return theta / factor;
  const Mp smooth = (context / wavelength - low) / (high - low);
  return (1 - smooth) * theta / factor + smooth * theta;
}

}  // namespace

Mp correction_dim(double rotations, int dim, double theta, std::int64_t context) {
  return Mp(dim) * log(Mp(context) / (Mp::decimal(rotations) * 2 * Mp::pi())) / (2 * log(Mp::decimal(theta)));
}

Answer answer(const RopeConfig& config, std::optional<std::int64_t> length) {
  const int r = config.exponent_dim != 0 ? config.exponent_dim : config.rotary_dim;
  const int pairs = config.rotary_dim / 2;
  Answer result;

  Mp base = Mp::decimal(config.theta);
  Mp divisor = 1;
  const Mp ntk_power = r > 2 ? Mp(r) / Mp(r - 2) : Mp(0);
  if (const auto* linear = std::get_if<LinearScaling>(&config.scaling)) divisor = Mp::decimal(linear->factor);
  if (const auto* rule = std::get_if<DynamicNtkScaling>(&config.scaling)) {
    const Mp factor = Mp::decimal(rule->factor);
    const Mp reached = std::max(length.value_or(0), rule->original_context);
    base = base * pow(factor * reached / Mp(rule->original_context) - (factor - 1), ntk_power);
  }
  if (const auto* alpha = std::get_if<NtkAlphaScaling>(&config.scaling)) {
    base = base * pow(Mp::decimal(alpha->alpha), ntk_power);
  }
  const auto* ntk = std::get_if<NtkScaling>(&config.scaling);
  if (ntk != nullptr && !ntk->mixed_b) {
    base = base * Mp::decimal(ntk->factor);
    divisor = pow(Mp::decimal(ntk->factor), Mp(2) / Mp(config.rotary_dim));
  }
  for (int i = 0; i < pairs; ++i) result.frequencies.push_back(pow(base, Mp(-2 * i) / Mp(r)) / divisor);

  if (ntk != nullptr && ntk->mixed_b) {
    const Mp b = Mp::decimal(*ntk->mixed_b);
    const Mp a = log(Mp::decimal(ntk->factor)) / pow(Mp(pairs), b);
    for (int i = 0; i < pairs; ++i) {
      Mp& theta = result.frequencies[static_cast<std::size_t>(i)];
      theta = theta / exp(a * pow(Mp(i + 1), b));
    }
  }
  if (const auto* rule = std::get_if<YarnScaling>(&config.scaling)) {
    result.frequencies = yarn_frequencies(config, *rule, r, result.frequencies);
    result.magnitude = yarn_magnitude(*rule);
    if (rule->softmax_scale) {
      const Mp g = growth(*rule, Mp::decimal(rule->mscale_all_dim.value_or(0)));
      result.softmax_multiplier = g * g;
    }
  }
  if (const auto* rule = std::get_if<Llama3Scaling>(&config.scaling)) {
    for (Mp& theta : result.frequencies) theta = llama3_frequency(*rule, theta);
  }
  if (const auto* rule = std::get_if<LongRopeScaling>(&config.scaling)) {
    const bool is_long = length.value_or(0) > rule->original_context;
    const std::vector<double>& list = is_long ? rule->long_factor : rule->short_factor;
    for (std::size_t i = 0; i < list.size(); ++i) {
      result.frequencies[i] = result.frequencies[i] / Mp::decimal(list[i]);
    }
    const Mp context = rule->original_context;
    const Mp q = rule->factor ? Mp::decimal(*rule->factor) : Mp(rule->max_context) / context;
    if (q > Mp(1)) result.magnitude = sqrt(1 + log(q) / log(context));
    const std::optional<double>& mscale = is_long ? rule->long_mscale : rule->short_mscale;
    if (mscale) result.magnitude = Mp::decimal(*mscale);
    if (rule->attention_factor) result.magnitude = Mp::decimal(*rule->attention_factor);
  }
  if (const auto* rule = std::get_if<ProportionalScaling>(&config.scaling)) {
    for (int i = 0; i < pairs; ++i) {
      Mp& theta = result.frequencies[static_cast<std::size_t>(i)];
      const Mp excess = Mp(2 * (i + 1)) - Mp::decimal(rule->partial) * Mp(config.rotary_dim);
      const bool turns = excess < pow(Mp(2), Mp(-300));  // the decimal itself is rounded in MPFR
      theta = turns ? theta / Mp::decimal(rule->factor) : Mp(0);
    }
  }
  for (std::size_t i = 0; i < config.divisors.size(); ++i) {
    Mp& theta = result.frequencies[i];
    theta = config.divisors[i] >= 1e30 ? Mp(0) : theta / Mp::decimal(config.divisors[i]);
  }
  return result;
}

}  // namespace ropecache::oracle
