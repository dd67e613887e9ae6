// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// The rules once more, straight from docs/formulas.md, in MPFR. Configs must be valid.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "rope/mp.h"
#include "ropecache/rope.h"

namespace ropecache::oracle {

struct Answer {
  std::vector<Mp> frequencies;
  Mp magnitude = 1;
  Mp softmax_multiplier = 1;
};

// For layouts that are not axial.
Answer answer(const RopeConfig& config, std::optional<std::int64_t> length);

// The correction range of YaRN before rounding and clamps.
Mp correction_dim(double rotations, int dim, double theta, std::int64_t context);

}  // namespace ropecache::oracle
