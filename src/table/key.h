// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// What a table is made of, apart from the rope it came from: the contents of its key.
#pragma once

#include <vector>

#include "ropecache/table.h"

namespace ropecache {

// Ranges that the bounds of docs/exactness.md assume, as exponents of 0.1... * 2^e: frequencies below 2^20 radians per
// position and, unless 0, not below 2^-150; magnitudes from 2^-65 to 2^64.
inline constexpr int kMaxFrequencyExponent = 20;
inline constexpr int kMinFrequencyExponent = -149;
inline constexpr int kMaxMagnitudeExponent = 64;

// Magnitude of a table of `rope` for a use, as a real number, in the given profile.
Real table_magnitude(const Rope& rope, Profile profile, Use use);

// Largest axis that turns a pair, plus one: axes that turn nothing need no positions.
int used_axes(const Rope& rope);

// Checks what build_table() and table_key() need of a rope.
Status check_rope(const Rope& rope, Profile profile, Use use);

}  // namespace ropecache
