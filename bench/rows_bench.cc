// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Building a table, and the rows of a step against libm's sincos of the same angles. "values" counts cosines and sines.
#include <benchmark/benchmark.h>

#include <cmath>
#include <numeric>

#include "ropecache/step.h"

namespace ropecache {
namespace {

Rope llama31() {
  return *resolve({.head_dim = 128, .rotary_dim = 128, .theta = 500000, .scaling = Llama3Scaling{}});
}

void BM_BuildTable(benchmark::State& state) {
  const Rope rope = llama31();
  for (auto _ : state) benchmark::DoNotOptimize(build_table(rope));
}
BENCHMARK(BM_BuildTable)->Unit(benchmark::kMillisecond);

std::vector<std::int64_t> positions_of(benchmark::State& state) {
  std::vector<std::int64_t> positions(static_cast<std::size_t>(state.range(0)));
  std::iota(positions.begin(), positions.end(), std::int64_t{100000});
  return positions;
}

void count_values(benchmark::State& state, int pairs) {
  state.counters["values"] = benchmark::Counter(static_cast<double>(state.iterations() * state.range(0) * pairs * 2),
                                                benchmark::Counter::kIsRate);
}

void BM_StepRows(benchmark::State& state) {
  const TableRef table = *build_table(llama31());
  const auto positions = positions_of(state);
  Step step(state.range(0));
  if (!step.add(table).ok()) return state.SkipWithError("add");
  for (auto _ : state) {
    if (!step.begin(Positions::of(positions.data(), state.range(0))).ok()) return state.SkipWithError("begin");
    benchmark::ClobberMemory();
  }
  count_values(state, table->pairs());
}
BENCHMARK(BM_StepRows)->Arg(1)->Arg(512)->Unit(benchmark::kMicrosecond);

// What an engine does that computes sines for each step: the angle in double, two calls of libm.
void BM_StepRowsByLibm(benchmark::State& state) {
  const Rope rope = llama31();
  const auto positions = positions_of(state);
  std::vector<double> frequencies;
  for (const Real& w : rope.frequencies) frequencies.push_back(w.to_double());
  std::vector<float> cos(positions.size() * frequencies.size());
  std::vector<float> sin(cos.size());
  for (auto _ : state) {
    std::size_t at = 0;
    for (std::int64_t p : positions) {
      for (double w : frequencies) {
        cos[at] = static_cast<float>(std::cos(static_cast<double>(p) * w));
        sin[at++] = static_cast<float>(std::sin(static_cast<double>(p) * w));
      }
    }
    benchmark::ClobberMemory();
  }
  count_values(state, rope.pairs());
}
BENCHMARK(BM_StepRowsByLibm)->Arg(1)->Arg(512)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace ropecache
