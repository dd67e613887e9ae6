// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <variant>

#include "rope/check.h"
#include "rope/rules.h"

namespace ropecache::rope {
namespace {

// exp(-exponent * log_base), exactly 1 for pair 0.
Wide power(const Exponent& exponent, const Wide& log_base) {
  if (exponent.numerator == 0) return 1;
  return exp(-(log_base * Wide(exponent.numerator) / Wide(exponent.denominator)));
}

// Each rule fills what it changes.
class Rule {
 public:
  Rule(const RopeConfig& config, const Pairs& pairs, Length length, Terms& terms)
      : pairs_(pairs), length_(length), dim_(exponent_dim(config)), rotary_dim_(config.rotary_dim), terms_(terms) {}

  void operator()(const std::monostate&) {}
  void operator()(const YarnScaling&) {}  // not a divisor of its own: frequencies_of()

  void operator()(const LinearScaling& rule) { terms_.divisor = Wide::decimal(rule.factor); }

  void operator()(const DynamicNtkScaling& rule) {
    // factor * L/P - (factor - 1), written so that it is exactly 1 at L = P.
    const std::int64_t beyond = dynamic_length(rule, length_) - rule.original_context;
    stretch_base(1 + Wide::decimal(rule.factor) * Wide(beyond) / Wide(rule.original_context));
  }
  void operator()(const NtkAlphaScaling& rule) { stretch_base(Wide::decimal(rule.alpha)); }

  void operator()(const NtkScaling& rule) {
    const Wide log_factor = log(Wide::decimal(rule.factor));
    if (!rule.mixed_b) {
      terms_.log_base = terms_.log_base + log_factor;
      terms_.divisor = exp(log_factor * Wide(2) / Wide(rotary_dim_));
      return;
    }
    const Wide power_of_index = Wide::decimal(*rule.mixed_b);
    for (int pair = 0; pair < pairs_.count(); ++pair) {
      terms_.divisors.push_back(exp(log_factor * pow(Wide(2 * (pair + 1)) / Wide(rotary_dim_), power_of_index)));
    }
  }

  void operator()(const Llama3Scaling& rule) {
    const Wide factor = Wide::decimal(rule.factor);
    const Wide low = Wide::decimal(rule.low_freq_factor);
    const Wide high = Wide::decimal(rule.high_freq_factor);
    const Wide per_radian = Wide(rule.original_context) / scaled(Wide::pi(), 1);
    for (const Exponent& exponent : pairs_.exponents) {
      const Wide turns = power(exponent, terms_.log_base) * per_radian;  // in the original context
      if (turns > high) {
        terms_.divisors.emplace_back(1);
      } else if (turns <= low) {  // with low == high there is nothing between
        terms_.divisors.push_back(factor);
      } else {
        const Wide smooth = (turns - low) / (high - low);
        terms_.divisors.push_back(1 / ((1 - smooth) / factor + smooth));
      }
    }
  }

  void operator()(const LongRopeScaling& rule) {
    for (const double divisor : longrope_takes_long(rule, length_) ? rule.long_factor : rule.short_factor) {
      terms_.divisors.push_back(divisor >= kNoTurn ? Wide() : Wide::decimal(divisor));
    }
  }

  void operator()(const ProportionalScaling& rule) {
    terms_.divisor = Wide::decimal(rule.factor);
    const int turning = turning_pairs(rule, rotary_dim_);
    for (int pair = 0; pair < pairs_.count(); ++pair) terms_.divisors.emplace_back(pair < turning ? 1 : 0);
  }

 private:
  // base * stretch^(r / (r - 2)): the last pair then turns 1/stretch as fast, the first as fast as ever.
  void stretch_base(const Wide& stretch) {
    terms_.log_base = terms_.log_base + log(stretch) * Wide(dim_) / Wide(dim_ - 2);
  }

  const Pairs& pairs_;
  Length length_;
  int dim_;
  int rotary_dim_;
  Terms& terms_;
};

}  // namespace

bool longrope_takes_long(const LongRopeScaling& rule, Length length) {
  return length.has_value() && *length > rule.original_context;
}

std::int64_t dynamic_length(const DynamicNtkScaling& rule, Length length) {
  return std::max(length.value_or(rule.original_context), rule.original_context);
}

int turning_pairs(const ProportionalScaling& rule, int rotary_dim) {
  // 0.35 of 80 is 28: lift the decimal's own rounding out of the way. A product that is not an integer is at least
  // 10^-17 of itself below the next one.
  const Wide product = Wide::decimal(rule.partial) * Wide(rotary_dim) / Wide(2);
  return static_cast<int>((product + scaled(Wide(1), -200)).floor());
}

Terms terms_of(const RopeConfig& config, const Pairs& pairs, Length length) {
  Terms terms;
  terms.log_base = log(Wide::decimal(config.theta));
  std::visit(Rule(config, pairs, length, terms), config.scaling);
  return terms;
}

Result<std::vector<Wide>> frequencies_of(const RopeConfig& config, const Pairs& pairs, Length length) {
  const Terms terms = terms_of(config, pairs, length);
  const auto* yarn = std::get_if<YarnScaling>(&config.scaling);
  YarnRange range;
  if (yarn != nullptr) {
    Result<YarnRange> found = yarn_range(*yarn, exponent_dim(config), terms.log_base);
    if (!found.ok()) return found.status();
    range = *found;
  }

  std::vector<Wide> frequencies;
  for (std::size_t i = 0; i < pairs.exponents.size(); ++i) {
    Wide frequency = power(pairs.exponents[i], terms.log_base) / terms.divisor;
    if (!terms.divisors.empty()) {
      frequency = terms.divisors[i].is_zero() ? Wide() : frequency / terms.divisors[i];
    }
    if (yarn != nullptr) {
      const Wide kept = yarn_kept(*yarn, range, static_cast<int>(i));
      frequency = frequency * (kept + (1 - kept) / Wide::decimal(yarn->factor));
    }
    if (!config.divisors.empty()) {
      const double divisor = config.divisors[i];
      frequency = divisor >= kNoTurn ? Wide() : frequency / Wide::decimal(divisor);
    }
    frequencies.push_back(frequency);
  }
  return frequencies;
}

}  // namespace ropecache::rope
