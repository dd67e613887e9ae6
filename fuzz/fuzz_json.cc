// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// config.json and params.json, as their contents decide.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  ropecache::fuzz::check_model(ropecache::read_model_json(text, "fuzz.json"));
  return 0;
}
