// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// The correctly rounded fp32 of magnitude * cos(angle) and magnitude * sin(angle), by MPFR.
#pragma once

#include <cstdint>
#include <vector>

#include "mp.h"
#include "oracle_rules.h"
#include "ropecache/table.h"

namespace ropecache::cli {

// The angles a profile defines: real numbers p * w (exact), or floats by another engine's recipe (fp32, ggml).
class OracleAngles {
 public:
  OracleAngles(const Rope& rope, const OracleRope& oracle, Profile profile);

  int pairs() const { return rope_.pairs(); }
  const Mp& magnitude() const { return magnitude_; }
  // The recipe's float angles of one position; nothing for `exact`.
  void prepare(std::int64_t position, std::vector<float>& recipe) const;
  // Angle in quarter turns, rounded to the precision of `out`. `recipe` holds what prepare() gave for this position.
  void quarter_turns(std::int64_t position, int pair, const std::vector<float>& recipe, mpfr_ptr out) const;

 private:
  void ggml_angles(float position, std::vector<float>& angles) const;

  Profile profile_;
  const Rope& rope_;
  std::vector<Mp> turns_;  // frequency in quarter turns
  Mp magnitude_;
  Mp quarter_per_radian_;
  float ggml_step_ = 1;           // ratio of the running product
  std::vector<float> ggml_kept_;  // share of the unscaled angle, per pair; empty without YaRN
};

struct Tally {
  std::uint64_t values = 0;
  std::uint64_t wrong = 0;    // not the correct rounding
  std::uint64_t retried = 0;  // decided with more bits
  double worst_ulp = 0;       // largest distance from the true value

  void add(const Tally& other);
};

// cos and sin of one angle times the magnitude, to a number of bits.
class Evaluator {
 public:
  explicit Evaluator(mpfr_prec_t bits);
  ~Evaluator();
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  void at(const OracleAngles& angles, std::int64_t position, int pair, const std::vector<float>& recipe);
  mpfr_srcptr cos() const { return cos_; }
  mpfr_srcptr sin() const { return sin_; }

 private:
  mpfr_t turn_, nearest_, angle_, half_pi_, cos_, sin_;
};

// Compares the rows of one thread. Not shared between threads.
class RowChecker {
 public:
  explicit RowChecker(const OracleAngles& angles) : angles_(angles) {}
  void check(std::int64_t position, const float* cos, const float* sin);
  const Tally& tally() const { return tally_; }

 private:
  void compare(std::int64_t position, int pair, bool is_sine, float given);

  // Nearly every value is decided by the first; its error, with the double it is read as, stays below 2 units of a
  // double's last place. What lies closer than 4 to the middle between two floats is computed again.
  static constexpr mpfr_prec_t kFastBits = 72;
  static constexpr mpfr_prec_t kSureBits = 280;

  const OracleAngles& angles_;
  Evaluator fast_{kFastBits};
  Evaluator sure_{kSureBits};
  std::vector<float> recipe_;
  Tally tally_;
};

}  // namespace ropecache::cli
