// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "oracle_rules.h"

#include <algorithm>

namespace ropecache::cli {
namespace {

// Exponents 2i/r of all pairs as fractions, before any rule. Axial layouts start again in each block.
struct Exponent {
  long numerator;
  long denominator;
};

std::vector<Exponent> exponents(const RopeConfig& config) {
  const long width = config.exponent_dim != 0 ? config.exponent_dim : config.rotary_dim;
  const long pairs = config.rotary_dim / 2;
  std::vector<Exponent> out;
  if (config.axes.layout == AxisLayout::kAxial) {
    for (int section : config.axes.sections) {
      for (long i = 0; i < section; ++i) out.push_back({i, section});
    }
  } else if (config.axes.layout == AxisLayout::kAxialPairs) {
    const long axes = static_cast<long>(config.axes.sections.size());
    for (long i = 0; i < pairs; ++i) out.push_back({i / axes, pairs / axes});
  } else if (config.axes.layout == AxisLayout::kAxialAlternating) {
    for (long i = 0; i < pairs; ++i) {
      out.push_back(i < pairs / 2 ? Exponent{4 * i, width} : Exponent{4 * (i - pairs / 2) + 2, width});
    }
  } else {
    for (long i = 0; i < pairs; ++i) out.push_back({2 * i, width});
  }
  return out;
}

Mp power(const Mp& base, const Exponent& e) { return pow(base, Mp(-e.numerator) / Mp(e.denominator)); }

// YaRN's g(m).
Mp gain(const YarnScaling& s, const Mp& m) {
  const Mp factor = Mp::decimal(s.factor);
  return Mp(1) < factor ? Mp::decimal(s.slope) * m * log(factor) + Mp(1) : Mp(1);
}

Mp yarn_magnitude(const YarnScaling& s) {
  const Mp times = Mp::decimal(s.attention_multiplier);
  if (s.magnitude == YarnMagnitude::kOne) return Mp(1);
  if (s.magnitude == YarnMagnitude::kPlain) return gain(s, Mp(1)) * times;
  if (s.attention_factor) return Mp::decimal(*s.attention_factor) * times;
  if (s.mscale.value_or(0) != 0 && s.mscale_all_dim.value_or(0) != 0) {
    return gain(s, Mp::decimal(*s.mscale)) / gain(s, Mp::decimal(*s.mscale_all_dim)) * times;
  }
  return gain(s, Mp(1)) * times;
}

struct Rules {
  const RopeConfig& config;
  std::optional<std::int64_t> length;
  OracleRope& rope;

  Mp theta() const { return Mp::decimal(config.theta); }
  long width() const { return config.exponent_dim != 0 ? config.exponent_dim : config.rotary_dim; }
  void plain(const Mp& base) const {
    for (const Exponent& e : exponents(config)) rope.frequencies.push_back(power(base, e));
  }
  // base^(r / (r - 2)), the growth of NTK.
  Mp ntk_power(const Mp& x) const { return pow(x, Mp(width()) / Mp(width() - 2)); }

  void operator()(const std::monostate&) const { plain(theta()); }

  void operator()(const LinearScaling& s) const {
    plain(theta());
    for (Mp& w : rope.frequencies) w = w / Mp::decimal(s.factor);
  }

  void operator()(const DynamicNtkScaling& s) const {
    const std::int64_t seen = std::max(length.value_or(s.original_context), s.original_context);
    const Mp factor = Mp::decimal(s.factor);
    plain(theta() * ntk_power(factor * Mp(seen) / Mp(s.original_context) - (factor - Mp(1))));
  }

  void operator()(const NtkAlphaScaling& s) const { plain(theta() * ntk_power(Mp::decimal(s.alpha))); }

  void operator()(const NtkScaling& s) const {
    const Mp factor = Mp::decimal(s.factor);
    if (!s.mixed_b) {
      plain(theta() * factor);
      for (Mp& w : rope.frequencies) w = w / pow(factor, Mp(2) / Mp(width()));
      return;
    }
    plain(theta());
    const Mp b = Mp::decimal(*s.mixed_b);
    const Mp a = log(factor) / pow(Mp(width()) / Mp(2), b);
    for (std::size_t i = 0; i < rope.frequencies.size(); ++i) {
      rope.frequencies[i] = rope.frequencies[i] / exp(a * pow(Mp(static_cast<long>(i) + 1), b));
    }
  }

  void operator()(const YarnScaling& s) const {
    plain(theta());
    const auto dimension = [&](double rotations) {
      const Mp turns = Mp(s.original_context) / (Mp(2) * Mp::pi() * Mp::decimal(rotations));
      return Mp(width()) * log(turns) / (Mp(2) * log(theta()));
    };
    Mp low = dimension(s.beta_fast);
    Mp high = dimension(s.beta_slow);
    if (s.truncate) {
      low = floor(low);
      high = ceil(high);
    }
    low = larger(low, Mp(0));
    high = smaller(high, Mp(width() - 1));
    if (low == high) high = high + Mp::decimal(0.001);
    for (std::size_t i = 0; i < rope.frequencies.size(); ++i) {
      const Mp ramp = larger(Mp(0), smaller(Mp(1), (Mp(static_cast<long>(i)) - low) / (high - low)));
      const Mp kept = (Mp(1) - ramp) * Mp::decimal(s.extrapolation_factor);
      const Mp& w = rope.frequencies[i];
      rope.frequencies[i] = w / Mp::decimal(s.factor) * (Mp(1) - kept) + w * kept;
    }
    rope.magnitude = yarn_magnitude(s);
  }

  void operator()(const Llama3Scaling& s) const {
    plain(theta());
    const Mp original(s.original_context);
    const Mp low = Mp::decimal(s.low_freq_factor);
    const Mp high = Mp::decimal(s.high_freq_factor);
    for (Mp& w : rope.frequencies) {
      const Mp wavelength = Mp(2) * Mp::pi() / w;
      if (wavelength < original / high) continue;
      const Mp slow = w / Mp::decimal(s.factor);
      if (original / low < wavelength) {
        w = slow;
      } else if (!(low == high)) {
        const Mp smooth = (original / wavelength - low) / (high - low);
        w = (Mp(1) - smooth) * slow + smooth * w;
      }
    }
  }

  void operator()(const LongRopeScaling& s) const {
    plain(theta());
    const bool is_long = length.value_or(0) > s.original_context;
    const std::vector<double>& divisors = is_long ? s.long_factor : s.short_factor;
    for (std::size_t i = 0; i < rope.frequencies.size(); ++i) {
      rope.frequencies[i] = rope.frequencies[i] / Mp::decimal(divisors[i]);
    }
    const std::optional<double>& own = is_long ? s.long_mscale : s.short_mscale;
    if (s.attention_factor) {
      rope.magnitude = Mp::decimal(*s.attention_factor);
    } else if (own) {
      rope.magnitude = Mp::decimal(*own);
    } else {
      const Mp q = s.factor ? Mp::decimal(*s.factor) : Mp(s.max_context) / Mp(s.original_context);
      if (Mp(1) < q) rope.magnitude = sqrt(Mp(1) + log(q) / log(Mp(s.original_context)));
    }
  }

  void operator()(const ProportionalScaling& s) const {
    plain(theta());
    const Mp turning = floor(Mp::decimal(s.partial) * Mp(config.rotary_dim) / Mp(2));
    for (std::size_t i = 0; i < rope.frequencies.size(); ++i) {
      Mp& w = rope.frequencies[i];
      w = Mp(static_cast<long>(i)) < turning ? w / Mp::decimal(s.factor) : Mp(0);
    }
  }
};

}  // namespace

OracleRope oracle_rope(const RopeConfig& config, std::optional<std::int64_t> length) {
  OracleRope rope;
  std::visit(Rules{config, length, rope}, config.scaling);
  for (std::size_t i = 0; i < config.divisors.size(); ++i) {
    const double divisor = config.divisors[i];
    rope.frequencies[i] = divisor >= 1e30 ? Mp(0) : rope.frequencies[i] / Mp::decimal(divisor);
  }
  return rope;
}

}  // namespace ropecache::cli
