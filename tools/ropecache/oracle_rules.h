// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// The rules of RopeConfig once more, in MPFR and from the formulas of docs/formulas.md: what resolve() is held against.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "mp.h"
#include "ropecache/rope.h"

namespace ropecache::cli {

struct OracleRope {
  std::vector<Mp> frequencies;
  Mp magnitude{1};
};

OracleRope oracle_rope(const RopeConfig& config, std::optional<std::int64_t> length);

}  // namespace ropecache::cli
