// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// From which position on two ropes can be told apart.
#pragma once

#include <cstdint>
#include <optional>

#include "ropecache/rope.h"

namespace ropecache::cli {

// What counts as visible: a cosine that differs by more.
inline constexpr double kVisible = 1e-3;

// The smallest p in [0, kMaxPosition] at which magnitude * cos(p * frequency) of some pair differs by more than
// kVisible; nothing if there is none. The ropes have the same number of pairs. Axes do not enter: all ids are equal.
std::optional<std::int64_t> first_visible_position(const Rope& a, const Rope& b);

}  // namespace ropecache::cli
