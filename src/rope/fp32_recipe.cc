// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// The frequencies as Hugging Face transformers 5.24 computes them (modeling_rope_utils.py; ntk as vLLM does): Python
// scalars are float64, tensors are fp32, every operation rounds once, in the order written there. A scalar divided by a
// tensor is the tensor's reciprocal times the scalar, as PyTorch evaluates it. The one free choice is the elementary
// functions, which differ by device and version in PyTorch: here they are correctly rounded.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <variant>

#include "rope/check.h"
#include "rope/rules.h"

namespace ropecache::rope {
namespace {

constexpr double kTwoPi = 6.283185307179586;  // 2 * math.pi

float f32(double value) { return static_cast<float>(value); }
double log64(double value) { return log(Wide::exactly(value)).to_double(); }
double pow64(double base, double power) { return pow(Wide::exactly(base), Wide::exactly(power)).to_double(); }
float pow32(float base, float power) {
  if (power == 0) return 1;
  if (!std::isfinite(base)) return base;
  return pow(Wide::exactly(base), Wide::exactly(power)).to_float();
}

using Floats = std::vector<float>;

// base ** (arange(0, dim, 2) / dim)
Floats powers(double base, const Pairs& pairs) {
  Floats result;
  for (const Exponent& e : pairs.exponents) {
    result.push_back(pow32(f32(base), static_cast<float>(e.numerator) / static_cast<float>(e.denominator)));
  }
  return result;
}

Floats inverse_powers(double base, const Pairs& pairs) {
  Floats result = powers(base, pairs);
  for (float& x : result) x = 1.0f / x;
  return result;
}

void divide(Floats& values, double divisor) {
  for (float& x : values) x /= f32(divisor);
}

class Recipe {
 public:
  Recipe(const RopeConfig& config, const Pairs& pairs, Length length)
      : config_(config), pairs_(pairs), length_(length), dim_(exponent_dim(config)) {}

  Floats operator()(const std::monostate&) const { return inverse_powers(config_.theta, pairs_); }

  Floats operator()(const LinearScaling& rule) const {
    Floats result = inverse_powers(config_.theta, pairs_);
    divide(result, rule.factor);
    return result;
  }

  // Up to P the base is a Python float; beyond it L is a tensor, and so is everything that it touches.
  Floats operator()(const DynamicNtkScaling& rule) const {
    const double context = static_cast<double>(rule.original_context);
    const double stretch_power = static_cast<double>(dim_) / static_cast<double>(dim_ - 2);
    const std::int64_t length = dynamic_length(rule, length_);
    if (length == rule.original_context) {
      const double stretch = rule.factor * context / context - (rule.factor - 1);
      return inverse_powers(config_.theta * pow64(stretch, stretch_power), pairs_);
    }
    const float stretch = f32(rule.factor) * static_cast<float>(length) / f32(context) - f32(rule.factor - 1);
    return inverse_powers(f32(config_.theta) * pow32(stretch, f32(stretch_power)), pairs_);
  }

  Floats operator()(const NtkAlphaScaling& rule) const {
    const double power = static_cast<double>(dim_) / static_cast<double>(dim_ - 2);
    return inverse_powers(config_.theta * pow64(rule.alpha, power), pairs_);
  }

  Floats operator()(const NtkScaling& rule) const {
    const double pairs = config_.rotary_dim / 2;
    if (!rule.mixed_b) {
      Floats result = inverse_powers(config_.theta * rule.factor, pairs_);
      divide(result, pow64(rule.factor, 2.0 / config_.rotary_dim));
      return result;
    }
    Floats result = inverse_powers(config_.theta, pairs_);
    const float a = log(Wide::exactly(f32(rule.factor))).to_float() / f32(pow64(pairs, *rule.mixed_b));
    for (std::size_t i = 0; i < result.size(); ++i) {
      const float power = a * pow32(static_cast<float>(i + 1), f32(*rule.mixed_b));
      result[i] /= exp(Wide::exactly(power)).to_float();
    }
    return result;
  }

  Floats operator()(const YarnScaling& rule) const {
    double low = correction_dim(rule, rule.beta_fast);
    double high = correction_dim(rule, rule.beta_slow);
    if (rule.truncate) {
      low = std::floor(low);
      high = std::ceil(high);
    }
    low = std::max(low, 0.0);
    high = std::min(high, static_cast<double>(dim_ - 1));
    if (low == high) high += 0.001;
    Floats result = powers(config_.theta, pairs_);
    for (std::size_t i = 0; i < result.size(); ++i) {
      const float extrapolation = 1.0f / result[i];
      const float interpolation = 1.0f / (f32(rule.factor) * result[i]);
      const float ramp = std::clamp((static_cast<float>(i) - f32(low)) / f32(high - low), 0.0f, 1.0f);
      const float kept = (1.0f - ramp) * f32(rule.extrapolation_factor);
      result[i] = interpolation * (1.0f - kept) + extrapolation * kept;
    }
    return result;
  }

  Floats operator()(const Llama3Scaling& rule) const {
    const float context = static_cast<float>(rule.original_context);
    const float longest_kept = f32(static_cast<double>(rule.original_context) / rule.high_freq_factor);
    const float shortest_divided = f32(static_cast<double>(rule.original_context) / rule.low_freq_factor);
    const float factor = f32(rule.factor);
    Floats result = inverse_powers(config_.theta, pairs_);
    for (float& x : result) {
      const float wavelength = (1.0f / x) * f32(kTwoPi);
      if (wavelength > shortest_divided) {
        x /= factor;
      } else if (!(wavelength < longest_kept)) {
        // With low == high transformers divides by zero here, if a wavelength is the context exactly; vLLM takes 0.
        const float width = f32(rule.high_freq_factor - rule.low_freq_factor);
        const float smooth =
            width > 0 ? ((1.0f / wavelength) * context - f32(rule.low_freq_factor)) / width : 0.0f;
        x = (1.0f - smooth) * x / factor + smooth * x;
      }
    }
    return result;
  }

  Floats operator()(const LongRopeScaling& rule) const {
    const std::vector<double>& list = longrope_takes_long(rule, length_) ? rule.long_factor : rule.short_factor;
    Floats result = powers(config_.theta, pairs_);
    for (std::size_t i = 0; i < result.size(); ++i) {
      result[i] = list[i] >= kNoTurn ? 0.0f : 1.0f / (f32(list[i]) * result[i]);
    }
    return result;
  }

  Floats operator()(const ProportionalScaling& rule) const {
    Floats result = inverse_powers(config_.theta, pairs_);
    const auto turning = static_cast<std::size_t>(turning_pairs(rule, config_.rotary_dim));
    for (std::size_t i = turning; i < result.size(); ++i) result[i] = 0;
    divide(result, rule.factor);
    return result;
  }

 private:
  // find_correction_dim() of transformers.
  double correction_dim(const YarnScaling& rule, double rotations) const {
    const double turns = static_cast<double>(rule.original_context) / (rotations * 2 * 3.141592653589793);
    return static_cast<double>(dim_) * log64(turns) / (2 * log64(config_.theta));
  }

  const RopeConfig& config_;
  const Pairs& pairs_;
  Length length_;
  int dim_;
};

double growth(const YarnScaling& rule, double mscale) {
  return rule.factor <= 1 ? 1.0 : rule.slope * mscale * log64(rule.factor) + 1.0;
}

double yarn_magnitude(const YarnScaling& rule) {
  if (rule.magnitude == YarnMagnitude::kOne) return 1;
  if (rule.magnitude == YarnMagnitude::kPlain) return growth(rule, 1) * rule.attention_multiplier;
  double factor = growth(rule, 1);
  if (rule.attention_factor) {
    factor = *rule.attention_factor;
  } else if (rule.mscale.value_or(0) != 0 && rule.mscale_all_dim.value_or(0) != 0) {
    factor = growth(rule, *rule.mscale) / growth(rule, *rule.mscale_all_dim);
  }
  return factor * rule.attention_multiplier;
}

double longrope_magnitude(const LongRopeScaling& rule, Length length) {
  if (rule.attention_factor) return *rule.attention_factor;
  const std::optional<double>& mscale = longrope_takes_long(rule, length) ? rule.long_mscale : rule.short_mscale;
  if (mscale) return *mscale;
  const double context = static_cast<double>(rule.original_context);
  const double ratio = rule.factor ? *rule.factor : static_cast<double>(rule.max_context) / context;
  return ratio <= 1.0 ? 1.0 : std::sqrt(1 + log64(ratio) / log64(context));
}

}  // namespace

std::vector<float> fp32_frequencies_of(const RopeConfig& config, const Pairs& pairs, Length length) {
  Floats result = std::visit(Recipe(config, pairs, length), config.scaling);
  for (std::size_t i = 0; i < config.divisors.size(); ++i) {
    result[i] = config.divisors[i] >= kNoTurn ? 0.0f : result[i] / f32(config.divisors[i]);
  }
  return result;
}

float fp32_magnitude_of(const RopeConfig& config, Length length) {
  if (const auto* yarn = std::get_if<YarnScaling>(&config.scaling)) return f32(yarn_magnitude(*yarn));
  if (const auto* longrope = std::get_if<LongRopeScaling>(&config.scaling)) {
    return f32(longrope_magnitude(*longrope, length));
  }
  return 1;
}

}  // namespace ropecache::rope
