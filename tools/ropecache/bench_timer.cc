// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "bench_timer.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

namespace ropecache::cli {
namespace {

class Collector final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration) continue;
      // Iterations are counted over all threads, and the time is the mean of theirs.
      const double calls = static_cast<double>(run.iterations) / static_cast<double>(run.threads);
      times[run.run_name.function_name].push_back(run.real_accumulated_time / calls);
    }
  }
  std::map<std::string, std::vector<double>> times;
};

}  // namespace

int processors() { return std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN))); }

bool pin_to(int processor) {
#ifdef __linux__
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(std::max(0, processor)), &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
#else
  return processor < 0;
#endif
}

std::map<std::string, Time> Timer::run() {
  char name[] = "ropecache";
  char interleaved[] = "--benchmark_enable_random_interleaving=true";
  char* arguments[] = {name, interleaved, nullptr};
  int count = 2;
  benchmark::Initialize(&count, arguments);
  Collector collector;
  benchmark::RunSpecifiedBenchmarks(&collector);
  std::map<std::string, Time> out;
  for (auto& [which, times] : collector.times) {
    std::sort(times.begin(), times.end());
    out[which] = {times.front(), times[times.size() / 2]};
  }
  return out;
}

}  // namespace ropecache::cli
