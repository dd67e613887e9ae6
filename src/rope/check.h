// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Is this a rope at all? Every number of a RopeConfig against what it may be, before any rule is evaluated.
#pragma once

#include <string_view>

#include "ropecache/rope.h"
#include "ropecache/status.h"

namespace ropecache::rope {

inline constexpr int kMaxRotaryDim = 65536;
// Divisors from here on mean "does not turn".
inline constexpr double kNoTurn = 1e30;

// "field is value, expected ...": the one form of every error of resolve().
Status refuse(std::string_view field, std::string_view value, std::string_view expected);

// All but the sections (lay_out_pairs) and what only the evaluated rule shows (rules.h, resolve.cc).
Status check(const RopeConfig& config, const ResolveOptions& options);

}  // namespace ropecache::rope
