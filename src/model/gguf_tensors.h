// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// The few small tensors of a GGUF file that shape a rope.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/gguf_cursor.h"
#include "ropecache/status.h"

namespace ropecache::model {

inline constexpr std::string_view kGgufRopeFreqs = "rope_freqs.weight";
inline constexpr std::string_view kGgufFactorsLong = "rope_factors_long.weight";
inline constexpr std::string_view kGgufFactorsShort = "rope_factors_short.weight";

// Those of the three that the file has, by name.
using GgufTensors = std::map<std::string, std::vector<double>, std::less<>>;

// `in` stands at the first of `tensors` descriptions; the data follows the last, aligned. `name` leads error texts.
Status read_gguf_tensors(GgufCursor& in, std::uint64_t tensors, std::uint64_t alignment, std::string_view name,
                         GgufTensors& out);

}  // namespace ropecache::model
