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
// One line: what acts on a terminal or is not seen spelled out ("\x1b"), valid UTF-8 as it is, what is longer than
// `most` bytes without its middle. Files and their names may hold anything.
inline constexpr std::size_t kMaxWord = 80;    // a name out of a file
inline constexpr std::size_t kMaxLine = 6000;  // holds the longest path and what is said of it
std::string printable(std::string_view text, std::size_t most = kMaxLine);
// Columns of a terminal that valid UTF-8 takes, at one for each character.
std::size_t columns(std::string_view text);

}  // namespace ropecache::cli
