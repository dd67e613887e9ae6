// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// One token a step, as Megatron's flash decoding has it: 32 layers of Qwen3.5-4B, 8 of them full attention, rotary width 64.
// Three ways to come by the cosines and sines of the step: a table for the whole context built each step (a dictionary's
// default, evaluated before it is looked up), such a table built once, and ropecache. The layers' own work is left out.
#include <cmath>
#include <cstring>

#include "bench.h"
#include "bench_heap.h"
#include "ropecache/cache.h"
#include "ropecache/step.h"
#include "ropecache/target.h"

namespace ropecache::cli {
namespace {

constexpr int kLayers = 8;  // that rotate
constexpr int kPairs = 32;
constexpr int kWarmSteps = 200;

// cos and sin of all positions, as engines compute them.
struct DenseTable {
  std::vector<float> cos;
  std::vector<float> sin;

  DenseTable(std::int64_t context, const std::vector<float>& frequencies) {
    const std::size_t size = static_cast<std::size_t>(context) * frequencies.size();
    cos.resize(size);
    sin.resize(size);
    std::size_t at = 0;
    for (std::int64_t p = 0; p < context; ++p) {
      for (const float w : frequencies) {
        const float angle = static_cast<float>(p) * w;
        cos[at] = std::cos(angle);
        sin[at++] = std::sin(angle);
      }
    }
  }
};

struct Row {
  float cos[kPairs];
  float sin[kPairs];
};

void look_up(const DenseTable& table, std::int64_t position, Row& row) {
  const std::size_t at = static_cast<std::size_t>(position) * kPairs;
  std::memcpy(row.cos, &table.cos[at], sizeof row.cos);
  std::memcpy(row.sin, &table.sin[at], sizeof row.sin);
}

// What one of the three ways holds and does.
struct Counts {
  std::uint64_t builds = 0;  // in the warm steps
  std::int64_t resident = 0;
  std::int64_t peak = 0;  // while warm steps run
  std::uint64_t allocations = 0;
};

template <class Steps>
void count_steps(Counts& counts, std::int64_t heap_before, Steps steps) {
  counts.resident = heap().bytes - heap_before;
  reset_peak();
  const std::uint64_t allocations = heap().allocations;
  steps();
  counts.allocations = heap().allocations - allocations;
  counts.peak = heap().peak - heap_before;
}

}  // namespace

Status bench_decode(double seconds, BenchReport& report) {
  const auto rope = resolve({.head_dim = 256, .rotary_dim = 2 * kPairs, .theta = 10000000});
  if (!rope.ok()) return rope.status();
  std::vector<float> frequencies;
  for (const Real& w : rope->frequencies) frequencies.push_back(static_cast<float>(w.to_double()));

  for (const std::int64_t context : {16 * 1024, 32 * 1024, 64 * 1024}) {
    Row row{};
    std::int64_t position = context / 2;
    const auto next = [&position, context] {
      if (++position == context) position = context / 2;
    };
    bool ok = true;

    const std::int64_t before_ropecache = heap().bytes;
    RopeCache cache;
    const auto table = cache.get(*rope);
    if (!table.ok()) return table.status();
    Step step(1);
    if (Status status = step.add(*table); !status.ok()) return status;
    const auto by_ropecache = [&](int) {
      const Positions view = Positions::of(&position, 1);
      ok = ok && step.begin(view).ok();
      for (int layer = 0; layer < kLayers; ++layer) {
        const auto rows = step.rows(**table);
        ok = ok && rows.ok();
        benchmark::DoNotOptimize(rows->cos);
      }
      next();
    };
    Counts ropecache;
    const std::uint64_t builds = cache.counters().builds;
    count_steps(ropecache, before_ropecache, [&] {
      for (int i = 0; i < kWarmSteps; ++i) by_ropecache(0);
    });
    ropecache.builds = cache.counters().builds - builds;

    const std::int64_t before_memo = heap().bytes;
    const DenseTable memoised(context, frequencies);
    const auto by_memo = [&](int) {
      for (int layer = 0; layer < kLayers; ++layer) look_up(memoised, position, row);
      benchmark::DoNotOptimize(row);
      next();
    };
    Counts memo;
    count_steps(memo, before_memo, [&] {
      for (int i = 0; i < kWarmSteps; ++i) by_memo(0);
    });

    Counts rebuilding;
    const auto by_rebuilding = [&](int) {
      const DenseTable rebuilt(context, frequencies);
      ++rebuilding.builds;
      for (int layer = 0; layer < kLayers; ++layer) look_up(rebuilt, position, row);
      benchmark::DoNotOptimize(row);
      next();
    };
    count_steps(rebuilding, heap().bytes, [&] {
      for (int i = 0; i < kWarmSteps; ++i) by_rebuilding(0);
    });
    const std::uint64_t rebuilds = rebuilding.builds;

    Timer timer(seconds);
    timer.add("ropecache", 1, by_ropecache);
    timer.add("memo", 1, by_memo);
    timer.add("rebuild", 1, by_rebuilding);
    auto times = timer.run();
    rebuilding.builds = rebuilds;
    if (!ok) return Status(StatusCode::kInternal, "bench: a step failed");

    const auto add = [&](const char* what, double figure, const Counts& counts) {
      Measurement out;
      out.parameters = {{"section", "decode"}, {"what", what}, {"target", active_target()}, {"context", context}, {"layers", 32},
                        {"rotating_layers", kLayers}, {"rotary_dim", 2 * kPairs}, {"tokens", 1}, {"warm_steps", kWarmSteps},
                        {"threads", 1}};
      out.figure = figure;
      out.limit = times["rebuild"].best;
      out.against = "a table rebuilt each step";
      out.ratio = out.limit / out.figure;
      out.noise = times["rebuild"].median / times["rebuild"].best - 1;
      out.beside = {{"builds", counts.builds}, {"allocations", counts.allocations}, {"resident_bytes", counts.resident},
                    {"peak_bytes", counts.peak}};
      report.measurements.push_back(std::move(out));
    };
    add("rebuilding", times["rebuild"].best, rebuilding);
    add("memoised dense table", times["memo"].best, memo);
    add("ropecache", times["ropecache"].best, ropecache);
  }
  return {};
}

}  // namespace ropecache::cli
