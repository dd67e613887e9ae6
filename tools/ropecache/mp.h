// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Mp: a number of MPFR's with kBits bits, rounded to nearest. Only verify uses it: the library computes without MPFR,
// so the two have no arithmetic in common.
#pragma once

#include <mpfr.h>

#include <utility>

#include "ropecache/real.h"
#include "text.h"

namespace ropecache::cli {

class Mp {
 public:
  static constexpr mpfr_prec_t kBits = 384;

  Mp() { mpfr_init2(value_, kBits); mpfr_set_zero(value_, 1); }
  Mp(long value) : Mp() { mpfr_set_si(value_, value, MPFR_RNDN); }
  Mp(const Mp& other) : Mp() { mpfr_set(value_, other.value_, MPFR_RNDN); }
  Mp& operator=(const Mp& other) {
    mpfr_set(value_, other.value_, MPFR_RNDN);
    return *this;
  }
  ~Mp() { mpfr_clear(value_); }

  // What a double in a RopeConfig stands for: its shortest decimal (rope.h, "Numbers").
  static Mp decimal(double value) {
    Mp out;
    mpfr_set_str(out.value_, shortest(value).c_str(), 10, MPFR_RNDN);
    return out;
  }
  static Mp exactly(double value) {
    Mp out;
    mpfr_set_d(out.value_, value, MPFR_RNDN);
    return out;
  }
  static Mp from(const Real& value) {
    Mp out;
    for (std::size_t i = 3; i-- > 0;) {
      mpfr_mul_2ui(out.value_, out.value_, 64, MPFR_RNDN);
      mpfr_add_ui(out.value_, out.value_, value.significand[i], MPFR_RNDN);
    }
    mpfr_mul_2si(out.value_, out.value_, value.exponent - 192, MPFR_RNDN);
    return out;
  }
  static Mp pi() {
    Mp out;
    mpfr_const_pi(out.value_, MPFR_RNDN);
    return out;
  }

  mpfr_srcptr get() const { return value_; }
  mpfr_ptr get() { return value_; }
  bool is_zero() const { return mpfr_zero_p(value_) != 0; }
  float to_float() const { return mpfr_get_flt(value_, MPFR_RNDN); }
  double to_double() const { return mpfr_get_d(value_, MPFR_RNDN); }

  friend Mp operator+(const Mp& a, const Mp& b) { return binary(mpfr_add, a, b); }
  friend Mp operator-(const Mp& a, const Mp& b) { return binary(mpfr_sub, a, b); }
  friend Mp operator*(const Mp& a, const Mp& b) { return binary(mpfr_mul, a, b); }
  friend Mp operator/(const Mp& a, const Mp& b) { return binary(mpfr_div, a, b); }
  friend Mp pow(const Mp& a, const Mp& b) { return binary(mpfr_pow, a, b); }
  friend Mp log(const Mp& a) { return unary(mpfr_log, a); }
  friend Mp exp(const Mp& a) { return unary(mpfr_exp, a); }
  friend Mp sqrt(const Mp& a) { return unary(mpfr_sqrt, a); }
  friend Mp floor(const Mp& a) { return unary(mpfr_rint_floor, a); }
  friend Mp ceil(const Mp& a) { return unary(mpfr_rint_ceil, a); }
  friend bool operator<(const Mp& a, const Mp& b) { return mpfr_less_p(a.value_, b.value_) != 0; }
  friend bool operator==(const Mp& a, const Mp& b) { return mpfr_equal_p(a.value_, b.value_) != 0; }

 private:
  template <class Function>
  static Mp binary(Function function, const Mp& a, const Mp& b) {
    Mp out;
    function(out.value_, a.value_, b.value_, MPFR_RNDN);
    return out;
  }
  template <class Function>
  static Mp unary(Function function, const Mp& a) {
    Mp out;
    function(out.value_, a.value_, MPFR_RNDN);
    return out;
  }

  mpfr_t value_;
};

inline Mp smaller(const Mp& a, const Mp& b) { return b < a ? b : a; }
inline Mp larger(const Mp& a, const Mp& b) { return a < b ? b : a; }

}  // namespace ropecache::cli
