// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "rope/rules.h"

namespace ropecache {

double query_scale_at(const QueryScale& scale, std::int64_t position) noexcept {
  if (scale.rule == QueryScale::Rule::kNone) return 1;
  const double counted = static_cast<double>(std::max<std::int64_t>(position, 0)) +
                         (scale.rule == QueryScale::Rule::kLogFloorPlusOne ? 1 : 0);
  return 1 + scale.beta * std::log(1 + std::floor(counted / scale.context));
}

namespace rope {

QueryScale canonical(const QueryScale& scale) {
  return scale.rule == QueryScale::Rule::kNone || scale.beta == 0 ? QueryScale{} : scale;
}

}  // namespace rope
}  // namespace ropecache
