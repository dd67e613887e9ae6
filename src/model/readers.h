// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// The readers behind read_model(), one per format. `name` stands for the file in every error text.
#pragma once

#include <string_view>

#include <nlohmann/json.hpp>

#include "ropecache/model.h"

namespace ropecache::model {

Result<ModelRopes> read_hf_config(const nlohmann::ordered_json& config, std::string_view name,
                                  const ReadOptions& options);
// Mistral's and Meta's params.json.
bool looks_like_params(const nlohmann::ordered_json& config);
Result<ModelRopes> read_params(const nlohmann::ordered_json& config, std::string_view name, const ReadOptions& options);

}  // namespace ropecache::model
