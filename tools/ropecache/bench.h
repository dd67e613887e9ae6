// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// The sections of `ropecache bench`. A measurement says under which parameters it was taken, its figure, and what was
// measured beside it in the same run.
#pragma once

#include <string>
#include <vector>

#include "bench_timer.h"
#include "commands.h"
#include "describe.h"

namespace ropecache::cli {

struct Measurement {
  Json parameters;              // "section", "what" and all that was chosen
  double figure = 0;
  const char* unit = "s";       // of figure and limit
  double limit = 0;             // what it is held against
  const char* against = "";     // in words
  double ratio = 0;             // limit / figure: 1 is the limit, more is faster
  double noise = 0;             // median / best - 1 of the limit
  std::vector<std::pair<std::string, Json>> beside;  // baselines and counts of the same run
};

// A line of figures against one parameter, with the slope of the logarithms.
struct Growth {
  std::string what;
  std::string parameter;
  const char* unit = "s";
  std::vector<double> x;
  std::vector<double> y;
  double expected = 0;  // the slope that the design promises
  double slope() const;
};

struct BenchReport {
  std::vector<Measurement> measurements;
  std::vector<Growth> growth;
};

// Each fails with a Status where an answer is wrong: nothing is timed that was not checked.
Status bench_rows(double seconds, BenchReport& report);
Status bench_rotate(double seconds, int threads, const std::vector<std::int64_t>& tokens, BenchReport& report);
Status bench_decode(double seconds, BenchReport& report);
Status bench_growth(double seconds, BenchReport& report);

}  // namespace ropecache::cli
