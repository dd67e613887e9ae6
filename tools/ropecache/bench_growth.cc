// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// How time and memory grow: one parameter at a time, and the slope of the logarithms, which is 1 for linear growth and 0 for
// none.
#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "bench.h"
#include "ropecache/cache.h"
#include "ropecache/rotate.h"
#include "ropecache/step.h"

namespace ropecache::cli {
namespace {

// A model's pass: layers that share some ropes, q heads of 128 in fp32.
struct Pass {
  std::int64_t tokens = 64;
  std::int64_t heads = 8;
  int layers = 1;
  int ropes = 1;
  std::int64_t first_position = 0;
};

struct PassCost {
  double step = 0;    // gathering rows, once
  double layers = 0;  // rotating, all layers
  double bytes = 0;   // tables
};

Result<PassCost> measure(const Pass& pass, double seconds) {
  RopeCache cache;
  std::vector<TableRef> tables;
  Placement placement;
  Step step(pass.tokens);
  for (int i = 0; i < pass.ropes; ++i) {
    const auto rope = resolve({.head_dim = 128, .rotary_dim = 128, .theta = 10000.0 * (1 + i)});
    if (!rope.ok()) return rope.status();
    placement = Placement::of(*rope);
    const auto table = cache.get(*rope);
    if (!table.ok()) return table.status();
    tables.push_back(*table);
    if (Status status = step.add(*table); !status.ok()) return status;
  }
  std::vector<std::int64_t> positions(static_cast<std::size_t>(pass.tokens));
  std::iota(positions.begin(), positions.end(), pass.first_position);
  const Positions view = Positions::of(positions.data(), pass.tokens);
  if (Status status = step.begin(view); !status.ok()) return status;
  std::vector<float> q(static_cast<std::size_t>(pass.tokens * pass.heads * 128), 0.5f);
  const Operand x = Operand::in_place(TensorView::of(q.data(), DType::kF32, pass.tokens, pass.heads, 128));

  Timer timer(seconds);
  timer.add("step", 1, [&](int) { benchmark::DoNotOptimize(step.begin(view).ok()); });
  timer.add("layers", 1, [&](int) {
    for (int layer = 0; layer < pass.layers; ++layer) {
      const auto rows = step.rows(*tables[static_cast<std::size_t>(layer % pass.ropes)]);
      benchmark::DoNotOptimize(rotate(*rows, placement, x).ok());
    }
  });
  auto times = timer.run();
  return PassCost{times["step"].best, times["layers"].best, static_cast<double>(cache.counters().bytes)};
}

struct Axis {
  const char* parameter;
  std::vector<std::int64_t> values;
  void (*set)(Pass& pass, std::int64_t value);
  double expected_step;
  double expected_layers;
  double expected_bytes;
};

const std::vector<Axis>& axes() {
  static const std::vector<Axis> all = {
      {"tokens", {16, 32, 64, 128, 256, 512}, [](Pass& p, std::int64_t v) { p.tokens = v; }, 1, 1, 0},
      {"heads", {4, 8, 16, 32, 64}, [](Pass& p, std::int64_t v) { p.heads = v; }, 0, 1, 0},
      {"layers", {1, 4, 16, 64}, [](Pass& p, std::int64_t v) { p.layers = static_cast<int>(v); }, 0, 1, 0},
      {"context", {1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24},
       [](Pass& p, std::int64_t v) { p.first_position = v - p.tokens; }, 0, 0, 0},
      {"distinct ropes", {1, 2, 4, 8}, [](Pass& p, std::int64_t v) { p.ropes = static_cast<int>(v); }, 1, 0, 1}};
  return all;
}

}  // namespace

double Growth::slope() const {
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  const auto n = static_cast<double>(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double u = std::log(x[i]);
    const double v = std::log(y[i]);
    sx += u;
    sy += v;
    sxx += u * u;
    sxy += u * v;
  }
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

Status bench_growth(double seconds, BenchReport& report) {
  for (const Axis& axis : axes()) {
    Growth step{"rows of a step", axis.parameter, "s", {}, {}, axis.expected_step};
    Growth layers{"rotation, all layers", axis.parameter, "s", {}, {}, axis.expected_layers};
    Growth bytes{"tables", axis.parameter, "bytes", {}, {}, axis.expected_bytes};
    for (const std::int64_t value : axis.values) {
      Pass pass;
      axis.set(pass, value);
      const auto cost = measure(pass, seconds);
      if (!cost.ok()) return cost.status();
      for (Growth* growth : {&step, &layers, &bytes}) growth->x.push_back(static_cast<double>(value));
      step.y.push_back(cost->step);
      layers.y.push_back(cost->layers);
      bytes.y.push_back(cost->bytes);
    }
    for (Growth* growth : {&step, &layers, &bytes}) report.growth.push_back(std::move(*growth));
  }
  return {};
}

}  // namespace ropecache::cli
