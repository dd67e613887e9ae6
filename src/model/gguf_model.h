// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// From a GGUF file to the ropes of its layers.
#pragma once

#include <string>
#include <string_view>

#include "model/bytes.h"
#include "ropecache/model.h"

namespace ropecache::model {

// `path`: where the other parts of a split file are looked for; empty: nowhere.
Result<ModelRopes> read_gguf(const Bytes& bytes, std::string_view name, const std::string& path,
                             const ReadOptions& options);

}  // namespace ropecache::model
