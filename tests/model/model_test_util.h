// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// What the tests of GGUF, params.json and read_model() share.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "model/gguf_writer.h"
#include "ropecache/model.h"

namespace ropecache::test {

inline const KeyNote* find_note(const std::vector<KeyNote>& notes, std::string_view key) {
  const auto found = std::find_if(notes.begin(), notes.end(), [&](const KeyNote& note) { return note.key == key; });
  return found == notes.end() ? nullptr : &*found;
}

inline bool has_warning(const ModelRopes& model, std::string_view part) {
  return std::any_of(model.warnings.begin(), model.warnings.end(),
                     [&](const std::string& warning) { return warning.find(part) != std::string::npos; });
}

// Every error is one line that begins with the file.
inline void expect_clean(const Status& status, std::string_view name) {
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.code(), StatusCode::kInternal) << status.message();
  EXPECT_EQ(status.message().substr(0, name.size()), name);
  EXPECT_EQ(status.message().find('\n'), std::string::npos) << status.message();
  EXPECT_LT(status.message().size(), 600u);
}

}  // namespace ropecache::test
