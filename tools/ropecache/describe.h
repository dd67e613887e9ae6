// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// A rope in words and in JSON. The names of this file are the stable ones of `--json`.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "ropecache/model.h"
#include "style.h"

namespace ropecache::cli {

using Json = nlohmann::ordered_json;

std::string_view pairing_name(Pairing pairing);
std::string_view layout_name(AxisLayout layout);

// "36 layers and 34 vision layers": how many layers have a rope of each role.
std::string layers_text(const std::map<Role, std::size_t>& layers);
std::string architecture_text(const ModelRopes& model);   // "llama"; "no model_type" where the file names none
std::string scaling_text(const RopeConfig& config);       // "llama3 x8, bands 1-4, original 8192"; "" without
// ": long_factor", ": not reached": which side of a rule that depends on length a length of the sequence is on; "" where the
// rule does not, or no length was asked for.
std::string regime_text(const RopeConfig& config, std::optional<std::int64_t> length);
std::string axes_text(const Axes& axes);                  // "sectioned 16,24,24"; "" for one axis
std::string query_scale_text(const QueryScale& scale);    // "1 + 0.1 ln(1 + floor(p / 16384))"; "" without

Json scaling_json(const RopeConfig& config);
Json axes_json(const Axes& axes);
Json query_scale_json(const QueryScale& scale);  // null without

// "warning: <prefix><text>", a line each.
std::string warning_lines(const ModelRopes& model, std::string_view prefix, const Style& style);

std::string to_line(const Json& json);  // compact, one line, invalid UTF-8 replaced

}  // namespace ropecache::cli
