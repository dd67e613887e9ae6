// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// How far a key is from another: what looks like a misspelling.
#pragma once

#include <cstddef>
#include <string_view>

namespace ropecache::model {

inline constexpr std::size_t kMostEdits = 2;

// Characters to change, insert or remove to make one key of the other; kMostEdits + 1 where it is more than kMostEdits.
std::size_t edits(std::string_view a, std::string_view b);

}  // namespace ropecache::model
