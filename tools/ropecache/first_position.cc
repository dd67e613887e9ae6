// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "first_position.h"

#include <algorithm>
#include <cmath>

#include "ropecache/positions.h"
#include "two_doubles.h"

namespace ropecache::cli {
namespace {

// d(p) = m cos(p w) - n cos(p v), at whole p. The search never steps over a crossing: from p it goes on by no more
// than (kVisible - |d(p)|) / (a bound on |d'|), and by at least 1.
class PairSearch {
 public:
  PairSearch(const Real& w, double m, const Real& v, double n)
      : w_(w), v_(v), m_(m), n_(n), gap_(std::fabs((w_.high - v_.high) + (w_.low - v_.low))),
        sum_(w_.high + v_.high), size_(std::max(m, n)) {}

  // The first visible p below `limit`, or `limit`.
  std::int64_t first(std::int64_t limit) const {
    const double spare = kVisible - std::fabs(m_ - n_);
    if (spare < 0) return 0;
    if (gap_ == 0 || size_ == 0) return limit;  // never more than |m - n| apart
    // |cos a - cos b| <= min(|a - b|, |a^2 - b^2| / 2): nothing can show before both reach `spare`.
    const double start = std::max(spare / (size_ * gap_), std::sqrt(2 * spare / (size_ * gap_ * sum_)));
    double p = std::floor(start);
    const auto end = static_cast<double>(limit);
    while (p < end) {
      const double distance = std::fabs(m_ * w_.cos_at(p) - n_ * v_.cos_at(p));
      if (distance > kVisible) return static_cast<std::int64_t>(p);
      p += std::max(1.0, std::floor((kVisible - distance) / slope()));
    }
    return limit;
  }

 private:
  double slope() const { return size_ * sum_; }

  TwoDoubles w_, v_;
  double m_, n_;
  double gap_, sum_, size_;
};

}  // namespace

std::optional<std::int64_t> first_visible_position(const Rope& a, const Rope& b) {
  const double m = a.magnitude.to_double();
  const double n = b.magnitude.to_double();
  std::int64_t best = kMaxPosition + 1;
  for (std::size_t i = 0; i < std::min(a.frequencies.size(), b.frequencies.size()); ++i) {
    best = PairSearch(a.frequencies[i], m, b.frequencies[i], n).first(best);
  }
  if (best > kMaxPosition) return std::nullopt;
  return best;
}

}  // namespace ropecache::cli
