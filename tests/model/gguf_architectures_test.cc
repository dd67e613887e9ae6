// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// The whole table of architectures against a committed list, so that a row that changes by accident (a line put between
// two neighbours, a name lost) shows. tests/data/gguf/architectures.txt says what its columns are.
#include "model/gguf_architectures.h"

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>

namespace ropecache::model {
namespace {

template <class Enum, std::size_t N>
std::string name_of(const std::array<const char*, N>& names, Enum value) {
  return names.at(static_cast<std::size_t>(value));
}

std::string traits_of(const GgufArchitecture& row) {
  constexpr std::array<const char*, 19> kNames = {
      "mrope-if-sections",  "norm-if-hyper",      "mla",        "tail",       "whole-head",    "must-be-whole",
      "full-half",          "compressed",         "betas",      "ext-factor", "softmax-scale", "temperature",
      "temperature-length", "llama4-temperature", "fixed-base", "alpha",      "omits-base",    "llama3",
      "vision-only"};
  std::string out;
  for (std::size_t bit = 0; bit < kNames.size(); ++bit) {
    if ((row.traits >> bit & 1u) != 0) out += std::string(out.empty() ? "" : "+") + kNames[bit];
  }
  return out.empty() ? "-" : out;
}

std::string line_of(const GgufArchitecture& row) {
  std::ostringstream out;
  out << row.name << ' ' << name_of(std::array{"NONE", "NORM", "NEOX", "MROPE", "IMROPE"}, row.rope) << ' '
      << name_of(std::array{"all", "skip-last-of-4", "skip-first-of-4", "sliding", "sliding-or-dense", "sliding-if-any",
                            "with-kv-heads", "every-interval", "if-finetuned", "if-finetuned-and-kv", "by-pattern",
                            "unless-40-layers"},
                 row.rotates)
      << ' ' << name_of(std::array{"never", "always", "if-key", "unless-zero", "if-64-layers", "array"}, row.window)
      << ' ' << row.period << ' ' << (row.dense_first ? "dense-first" : "-") << ' '
      << name_of(std::array{"main", "10000", "required", "always-main"}, row.sliding_base) << ' '
      << name_of(std::array{"main", "unscaled", "plain"}, row.sliding_scaling) << ' '
      << name_of(std::array{"never", "all", "full"}, row.factors) << ' '
      << name_of(std::array{"-", "neox-first", "norm-first", "norm-last", "main-first"}, row.indexer) << ' '
      << name_of(std::array{"-", "mscale-all-dim", "tenth", "tenth-both"}, row.log_multiplier) << ' ' << traits_of(row);
  return out.str();
}

std::map<std::string, std::string> committed_lines() {
  std::ifstream in(TEST_DATA "/gguf/architectures.txt");
  std::map<std::string, std::string> out;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.front() == '#') continue;
    out.emplace(line.substr(0, line.find(' ')), line);
  }
  return out;
}

TEST(GgufArchitectures, EqualTheCommittedList) {
  std::map<std::string, std::string> expected = committed_lines();
  for (const GgufArchitecture& row : gguf_architectures()) {
    const std::string line = line_of(row);
    const auto found = expected.find(std::string(row.name));
    EXPECT_EQ(line, found == expected.end() ? "" : found->second);
    if (found != expected.end()) expected.erase(found);
  }
  for (const auto& [name, line] : expected) ADD_FAILURE() << "no row for " << line;
}

TEST(GgufArchitectures, EveryNameIsFound) {
  for (const GgufArchitecture& row : gguf_architectures()) EXPECT_EQ(find_gguf_architecture(row.name), &row);
  EXPECT_EQ(find_gguf_architecture(""), nullptr);
  EXPECT_EQ(find_gguf_architecture("llam"), nullptr);
  EXPECT_EQ(find_gguf_architecture("zzz"), nullptr);
}

// Rules that a row must state together.
TEST(GgufArchitectures, RowsAreConsistent) {
  for (const GgufArchitecture& row : gguf_architectures()) {
    SCOPED_TRACE(row.name);
    const bool needs_window = row.rotates == Rotates::kSliding || row.rotates == Rotates::kSlidingOrDense ||
                              row.rotates == Rotates::kSlidingIfAny || row.rotates == Rotates::kSkipFirstOf4;
    if (needs_window) {
      EXPECT_NE(row.window, Window::kNever);
    }
    const bool needs_period =
        (row.window != Window::kNever && row.window != Window::kArray) || row.rotates == Rotates::kEveryInterval;
    EXPECT_EQ(row.period > 0, needs_period);
    if (row.window == Window::kNever) {
      EXPECT_EQ(row.sliding_scaling, SlidingScaling::kMain);
    }
  }
}

}  // namespace
}  // namespace ropecache::model
