// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// "0,1,4095-4100,-3--1": positions and inclusive ranges of them, negative ones too.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ropecache/status.h"

namespace ropecache::cli {

inline constexpr std::size_t kMaxRows = 4096;  // of one dump

// kInvalidArgument with the part that is no position; more than kMaxRows positions are refused.
Result<std::vector<std::int64_t>> parse_positions(std::string_view text);

}  // namespace ropecache::cli
