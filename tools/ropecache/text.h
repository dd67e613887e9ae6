// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Numbers and lists as people read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ropecache::cli {

std::string ranges(const std::vector<int>& ascending);  // {0,1,2,5} -> "0-2,5"
std::string bytes(std::int64_t count);                  // "2.1 MiB"
std::string counted(std::size_t count, std::string_view noun);  // "1 layer", "32 layers"
// The shortest decimal that reads back as `value`; digits alone where they are few: "10000", not "1e+04".
std::string shortest(double value);
std::string shortest(float value);
// Control bytes (a file's strings may hold any) replaced by '?', so that a text line stays one line.
std::string printable(std::string_view text);

}  // namespace ropecache::cli
