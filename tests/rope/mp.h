// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Mp: 500-bit numbers of MPFR as values, for oracles that read like their formulas.
#pragma once

#include <mpfr.h>

#include <cstdint>
#include <string>
#include <utility>

#include "ropecache/real.h"

namespace ropecache::oracle {

class Mp {
 public:
  static constexpr mpfr_prec_t kBits = 500;

  Mp() : Mp(0) {}
  Mp(int value) : Mp(std::int64_t{value}) {}
  Mp(std::int64_t value) {
    mpfr_init2(v_, kBits);
    mpfr_set_sj(v_, value, MPFR_RNDN);
  }
  // The binary fraction.
  explicit Mp(double value) {
    mpfr_init2(v_, kBits);
    mpfr_set_d(v_, value, MPFR_RNDN);
  }
  explicit Mp(const std::string& decimal) {
    mpfr_init2(v_, kBits);
    mpfr_set_str(v_, decimal.c_str(), 10, MPFR_RNDN);
  }
  Mp(const Mp& other) {
    mpfr_init2(v_, kBits);
    mpfr_set(v_, other.v_, MPFR_RNDN);
  }
  Mp& operator=(const Mp& other) {
    mpfr_set(v_, other.v_, MPFR_RNDN);
    return *this;
  }
  ~Mp() { mpfr_clear(v_); }

  // The shortest decimal of a double, as RopeConfig reads it.
  static Mp decimal(double value) {
    for (int digits = 1;; ++digits) {
      char text[64];
      mpfr_snprintf(text, sizeof text, "%.*g", digits, value);
      if (digits >= 17 || std::stod(text) == value) return Mp(std::string(text));
    }
  }
  static Mp of(const Real& real) {
    Mp x;
    for (const std::uint64_t limb : real.significand) {
      Mp part;
      mpfr_set_uj(part.v_, limb, MPFR_RNDN);
      mpfr_add(x.v_, x.v_, part.v_, MPFR_RNDN);
      mpfr_div_2ui(x.v_, x.v_, 64, MPFR_RNDN);
    }
    mpfr_mul_2si(x.v_, x.v_, real.exponent, MPFR_RNDN);
    return x;
  }
  static Mp pi() {
    Mp x;
    mpfr_const_pi(x.v_, MPFR_RNDN);
    return x;
  }

  friend Mp operator+(const Mp& a, const Mp& b) { return apply(mpfr_add, a, b); }
  friend Mp operator-(const Mp& a, const Mp& b) { return apply(mpfr_sub, a, b); }
  friend Mp operator*(const Mp& a, const Mp& b) { return apply(mpfr_mul, a, b); }
  friend Mp operator/(const Mp& a, const Mp& b) { return apply(mpfr_div, a, b); }
  friend Mp pow(const Mp& a, const Mp& b) { return apply(mpfr_pow, a, b); }
  friend Mp min(const Mp& a, const Mp& b) { return apply(mpfr_min, a, b); }
  friend Mp max(const Mp& a, const Mp& b) { return apply(mpfr_max, a, b); }
  friend Mp log(const Mp& a) { return apply(mpfr_log, a); }
  friend Mp exp(const Mp& a) { return apply(mpfr_exp, a); }
  friend Mp sqrt(const Mp& a) { return apply(mpfr_sqrt, a); }
  friend Mp abs(const Mp& a) { return apply(mpfr_abs, a); }
  friend Mp floor(const Mp& a) { return apply(mpfr_rint_floor, a); }
  friend Mp ceil(const Mp& a) { return apply(mpfr_rint_ceil, a); }
  friend bool operator<(const Mp& a, const Mp& b) { return mpfr_less_p(a.v_, b.v_) != 0; }
  friend bool operator>(const Mp& a, const Mp& b) { return b < a; }
  friend bool operator==(const Mp& a, const Mp& b) { return mpfr_equal_p(a.v_, b.v_) != 0; }

  bool is_zero() const { return mpfr_zero_p(v_) != 0; }
  float to_float() const { return mpfr_get_flt(v_, MPFR_RNDN); }
  double to_double() const { return mpfr_get_d(v_, MPFR_RNDN); }
  // Rounded to the 192 bits of a Real.
  Mp rounded_to_real() const {
    Mp x(*this);
    mpfr_prec_round(x.v_, 192, MPFR_RNDN);
    mpfr_prec_round(x.v_, kBits, MPFR_RNDN);
    return x;
  }

 private:
  template <class F>
  static Mp apply(F f, const Mp& a, const Mp& b) {
    Mp x;
    f(x.v_, a.v_, b.v_, MPFR_RNDN);
    return x;
  }
  template <class F>
  static Mp apply(F f, const Mp& a) {
    Mp x;
    f(x.v_, a.v_, MPFR_RNDN);
    return x;
  }

  mpfr_t v_;
};

}  // namespace ropecache::oracle
