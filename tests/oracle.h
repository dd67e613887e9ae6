// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// The oracle of the tests: magnitude * cos and sin of position * frequency by MPFR, rounded to fp32 once. Independent of
// the library's arithmetic: it takes a Real as the exact number it is, and nothing else.
#pragma once

#include <mpfr.h>

#include <cstdint>
#include <cstdlib>

#include "ropecache/real.h"

namespace ropecache::oracle {

class Big {  // an mpfr_t that cleans up after itself
 public:
  explicit Big(mpfr_prec_t precision = 500) { mpfr_init2(value_, precision); }
  ~Big() { mpfr_clear(value_); }
  Big(const Big&) = delete;
  Big& operator=(const Big&) = delete;
  operator mpfr_ptr() { return value_; }

 private:
  mpfr_t value_;
};

inline void set_real(mpfr_ptr out, const Real& real) {
  mpfr_set_zero(out, 1);
  for (std::uint64_t limb : real.significand) {
    mpfr_add_ui(out, out, static_cast<unsigned long>(limb), MPFR_RNDN);
    mpfr_mul_2si(out, out, -64, MPFR_RNDN);
  }
  mpfr_mul_2si(out, out, real.exponent, MPFR_RNDN);
}

// Rounds to fp32 to nearest even, subnormals included.
inline float to_float(mpfr_ptr x) {
  return mpfr_get_flt(x, MPFR_RNDN);
}

struct Point {
  float cos;
  float sin;
};

// 500 bits: 192 + 31 for the exact angle, and 270 that no rounding boundary will be closer than.
inline Point point(const Real& frequency, const Real& magnitude, std::int64_t position) {
  thread_local Big w, m, c, s;
  set_real(w, frequency);
  set_real(m, magnitude);
  mpfr_mul_si(w, w, static_cast<long>(position), MPFR_RNDN);
  mpfr_sin_cos(s, c, w, MPFR_RNDN);
  mpfr_mul(c, c, m, MPFR_RNDN);
  mpfr_mul(s, s, m, MPFR_RNDN);
  return {to_float(c), mpfr_zero_p(static_cast<mpfr_ptr>(s)) ? 0.0f : to_float(s)};
}

}  // namespace ropecache::oracle
