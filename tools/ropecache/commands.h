// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// What each command takes and gives. A command computes, then returns its whole output as one text; main() writes it.
// So a command that fails prints nothing but its one error line, and no output is ever half a table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ropecache/model.h"
#include "ropecache/status.h"
#include "ropecache/table.h"
#include "style.h"

namespace ropecache::cli {

// Exit statuses, the same for every command.
inline constexpr int kHolds = 0;     // done, equal, holds
inline constexpr int kDiffers = 1;   // differs, does not hold
inline constexpr int kBadInput = 2;  // bad input or usage
inline constexpr int kFailure = 3;   // an internal failure

struct Outcome {
  int exit = kHolds;
  std::string text;
};

struct PlanOptions {
  std::string file;
  ReadOptions read;
  std::optional<Role> role;  // absent: all
  bool json = false;
  Style style;
};
Result<Outcome> plan(const PlanOptions& options);

struct DiffOptions {
  std::string a;
  std::string b;
  ReadOptions read;
  bool json = false;
  Style style;
};
Result<Outcome> diff(const DiffOptions& options);

struct DumpOptions {
  std::string file;
  ReadOptions read;
  int layer = 0;
  Role role = Role::kAttention;
  Profile profile = Profile::kExact;
  std::string positions;                    // "0,1,4095-4100"
  std::vector<std::string> axis_positions;  // "t,h,w", one row each
  bool json = false;
  Style style;
};
Result<Outcome> dump(const DumpOptions& options);

// Which kernels verify compares with the scalar definition: those the file's ropes use, all pairings and widths, none.
enum class Kernels : std::uint8_t { kOwn, kAll, kNone };

struct VerifyOptions {
  std::string file;
  ReadOptions read;
  std::int64_t samples = 16384;  // random positions per table
  Profile profile = Profile::kExact;
  Kernels kernels = Kernels::kOwn;
  bool json = false;
  bool progress = false;
  Style style;
};
Result<Outcome> verify(const VerifyOptions& options);

struct PlotOptions {
  std::string file;
  std::string out;  // "": standard output
  ReadOptions read;
};
Result<Outcome> plot(const PlotOptions& options);

// A file that could not be written whole is an error.
Status write_file(const std::string& path, const std::string& text);

struct BenchOptions {
  std::vector<std::string> sections;  // "rows", "rotate", "decode", "growth"; none: all
  std::vector<std::int64_t> tokens;   // that rotate is measured at; none: 1, 64, 512, 8192
  int threads = 1;                    // rotate is measured with 1, 2, 4, ... up to this
  double seconds = 0.05;              // for each figure
  std::string target;                 // "": the best one
  std::string svg;                    // a file for the chart; "": none
  bool json = false;
  Style style;
};
Result<Outcome> bench(const BenchOptions& options);

}  // namespace ropecache::cli
