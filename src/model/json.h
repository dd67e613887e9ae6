// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// JSON as the readers want it: an object, of bounded depth, in which no key appears twice.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "ropecache/status.h"

namespace ropecache::model {

// A config of a megabyte is unheard of; one of more is not a config.
inline constexpr std::size_t kMaxJsonBytes = std::size_t{16} << 20;

// `name` leads the error text. A byte order mark is skipped.
Result<nlohmann::ordered_json> parse_json(std::string_view text, std::string_view name);

// As a JSON string of printable ASCII, whatever the bytes are: error texts and notes stay one readable line.
std::string json_quote(std::string_view bytes);

}  // namespace ropecache::model
