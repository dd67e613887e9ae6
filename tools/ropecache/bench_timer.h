// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Google Benchmark as the clock of `ropecache bench`: what is compared is timed in one run, its repetitions in random order,
// each thread pinned to a processor of its own.
#pragma once

#include <benchmark/benchmark.h>

#include <map>
#include <string>
#include <utility>

namespace ropecache::cli {

// Of one call, in seconds. Repetitions that were interrupted by others make the median, not the best.
struct Time {
  double best = 0;
  double median = 0;
};

// False where the system does not let a thread choose its processor.
bool pin_to(int processor);
int processors();

class Timer {
 public:
  explicit Timer(double seconds) : seconds_(seconds) {}
  ~Timer() { benchmark::ClearRegisteredBenchmarks(); }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  // call(thread) on each of `threads` threads, over and over.
  template <class Call>
  void add(const std::string& name, int threads, Call call) {
    const auto loop = [call](benchmark::State& state) mutable {
      pin_to(processors() - 1 - state.thread_index());
      for (auto _ : state) {
        call(state.thread_index());
        benchmark::ClobberMemory();
      }
    };
    benchmark::RegisterBenchmark(name.c_str(), loop)
        ->Threads(threads)
        ->UseRealTime()
        ->MinTime(seconds_ / kRepetitions)
        ->Repetitions(kRepetitions);
  }

  std::map<std::string, Time> run();

 private:
  static constexpr int kRepetitions = 15;
  double seconds_;
};

}  // namespace ropecache::cli
