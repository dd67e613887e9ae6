// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "oracle_rows.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace ropecache::cli {
namespace {

// ggml calls logf and powf; the recipe takes their correctly rounded values (table.h, Profile).
float log_float(float x) { return log(Mp::exactly(x)).to_float(); }
float pow_float(float x, float y) { return pow(Mp::exactly(x), Mp::exactly(y)).to_float(); }

// ggml.c, ggml_rope_yarn_corr_dim.
float correction_dim(const GgmlRecipe& r, float beta) {
  const float turns = static_cast<float>(r.n_ctx_orig) / (beta * 2.0f * static_cast<float>(M_PI));
  return static_cast<float>(r.n_dims) * log_float(turns) / (2.0f * log_float(r.freq_base));
}

}  // namespace

OracleAngles::OracleAngles(const Rope& rope, const OracleRope& oracle, Profile profile)
    : profile_(profile), rope_(rope), magnitude_(oracle.magnitude), quarter_per_radian_(Mp(2) / Mp::pi()) {
  if (profile == Profile::kExact) {
    for (const Mp& w : oracle.frequencies) turns_.push_back(w * quarter_per_radian_);
  } else if (profile == Profile::kFp32) {
    magnitude_ = Mp::exactly(rope.fp32_magnitude);
  } else if (rope.ggml) {
    const GgmlRecipe& r = *rope.ggml;
    float magnitude = r.attn_factor;
    ggml_step_ = pow_float(r.freq_base, -2.0f / static_cast<float>(r.n_dims));
    if (r.ext_factor != 0) {
      magnitude *= 1.0f + 0.1f * log_float(1.0f / r.freq_scale);
      const float low = std::max(0.0f, std::floor(correction_dim(r, r.beta_fast)));
      const float high = std::min(static_cast<float>(r.n_dims - 1), std::ceil(correction_dim(r, r.beta_slow)));
      for (int i = 0; i < rope.pairs(); ++i) {
        const float y = (static_cast<float>(i) - low) / std::max(0.001f, high - low);
        ggml_kept_.push_back((1.0f - std::clamp(y, 0.0f, 1.0f)) * r.ext_factor);
      }
    }
    magnitude_ = Mp::exactly(magnitude);
  }
}

void OracleAngles::ggml_angles(float position, std::vector<float>& recipe) const {
  const GgmlRecipe& r = *rope_.ggml;
  float theta = position;
  for (std::size_t i = 0; i < recipe.size(); ++i) {
    if (!r.restarts.empty() && r.restarts[i] != 0) theta = position;
    const float unscaled = r.freq_factors.empty() ? theta : theta / r.freq_factors[i];
    const float scaled = r.freq_scale * unscaled;
    recipe[i] = ggml_kept_.empty() ? scaled : scaled * (1.0f - ggml_kept_[i]) + unscaled * ggml_kept_[i];
    theta *= ggml_step_;
  }
}

void OracleAngles::prepare(std::int64_t position, std::vector<float>& recipe) const {
  if (profile_ == Profile::kExact) return;
  recipe.resize(rope_.frequencies.size());
  const auto p = static_cast<float>(position);
  if (profile_ == Profile::kGgml) return ggml_angles(p, recipe);
  for (std::size_t i = 0; i < recipe.size(); ++i) recipe[i] = p * rope_.fp32_frequencies[i];
}

void OracleAngles::quarter_turns(std::int64_t position, int pair, const std::vector<float>& recipe, mpfr_ptr out) const {
  const auto i = static_cast<std::size_t>(pair);
  if (profile_ == Profile::kExact) {
    mpfr_mul_si(out, turns_[i].get(), position, MPFR_RNDN);
  } else {
    mpfr_mul_d(out, quarter_per_radian_.get(), static_cast<double>(recipe[i]), MPFR_RNDN);
  }
}

void Tally::add(const Tally& other) {
  values += other.values;
  wrong += other.wrong;
  retried += other.retried;
  worst_ulp = std::max(worst_ulp, other.worst_ulp);
}

// An angle of 2^31 turns keeps its fraction to `bits` even where the fraction is 2^-50 of a turn.
Evaluator::Evaluator(mpfr_prec_t bits) {
  constexpr mpfr_prec_t kReduction = 88;
  mpfr_inits2(bits + kReduction, turn_, nearest_, half_pi_, nullptr);
  mpfr_inits2(bits, angle_, cos_, sin_, nullptr);
  mpfr_const_pi(half_pi_, MPFR_RNDN);
  mpfr_div_2ui(half_pi_, half_pi_, 1, MPFR_RNDN);
}

Evaluator::~Evaluator() { mpfr_clears(turn_, nearest_, half_pi_, angle_, cos_, sin_, nullptr); }

void Evaluator::at(const OracleAngles& angles, std::int64_t position, int pair, const std::vector<float>& recipe) {
  angles.quarter_turns(position, pair, recipe, turn_);
  mpfr_rint(nearest_, turn_, MPFR_RNDN);
  mpfr_sub(turn_, turn_, nearest_, MPFR_RNDN);
  mpfr_mul(angle_, turn_, half_pi_, MPFR_RNDN);
  mpfr_sin_cos(sin_, cos_, angle_, MPFR_RNDN);
  const long quarter = mpfr_get_si(nearest_, MPFR_RNDN) & 3;
  if ((quarter & 1) != 0) {  // cos(x + 1/4 turn) = -sin x, sin(x + 1/4 turn) = cos x
    mpfr_swap(cos_, sin_);
    mpfr_neg(cos_, cos_, MPFR_RNDN);
  }
  if ((quarter & 2) != 0) {
    mpfr_neg(cos_, cos_, MPFR_RNDN);
    mpfr_neg(sin_, sin_, MPFR_RNDN);
  }
  mpfr_mul(cos_, cos_, angles.magnitude().get(), MPFR_RNDN);
  mpfr_mul(sin_, sin_, angles.magnitude().get(), MPFR_RNDN);
}

void RowChecker::check(std::int64_t position, const float* cos, const float* sin) {
  angles_.prepare(position, recipe_);
  for (int i = 0; i < angles_.pairs(); ++i) {
    fast_.at(angles_, position, i, recipe_);
    compare(position, i, false, cos[i]);
    compare(position, i, true, sin[i]);
  }
}

void RowChecker::compare(std::int64_t position, int pair, bool is_sine, float given) {
  const double value = mpfr_get_d(is_sine ? fast_.sin() : fast_.cos(), MPFR_RNDN);
  auto expected = static_cast<float>(value);

  constexpr std::int64_t kHalf = std::int64_t{1} << 28;  // of the 29 bits that a double has and a float has not
  const std::int64_t tail = std::bit_cast<std::int64_t>(value) & (2 * kHalf - 1);
  const bool unsure = std::abs(tail - kHalf) <= 4 || std::fabs(value) < 0x1p-126;
  if (unsure && value != 0) {
    sure_.at(angles_, position, pair, recipe_);
    expected = mpfr_get_flt(is_sine ? sure_.sin() : sure_.cos(), MPFR_RNDN);
    ++tally_.retried;
  }

  ++tally_.values;
  // Either zero is the zero of real numbers.
  const bool same = std::bit_cast<std::uint32_t>(expected) == std::bit_cast<std::uint32_t>(given) ||
                    (expected == 0 && given == 0);
  if (!same) ++tally_.wrong;
  const int exponent = value == 0 ? -126 : std::max(std::ilogb(value), -126);
  const double ulps = std::isnan(given) ? std::numeric_limits<double>::infinity()
                                        : std::ldexp(std::fabs(static_cast<double>(given) - value), 23 - exponent);
  tally_.worst_ulp = std::max(tally_.worst_ulp, ulps);
}

}  // namespace ropecache::cli
