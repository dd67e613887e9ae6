// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// The rows of a step against what engines do: the angle in fp32, then libm's sincosf.
#include <cmath>
#include <cstring>
#include <numeric>

#include "bench.h"
#include "ropecache/step.h"
#include "ropecache/target.h"

namespace ropecache::cli {
namespace {

void by_libm(const std::vector<std::int64_t>& positions, const std::vector<float>& frequencies, float* cos, float* sin) {
  for (const std::int64_t p : positions) {
    for (const float w : frequencies) {
      const float angle = static_cast<float>(p) * w;
#ifdef __GLIBC__
      ::sincosf(angle, sin++, cos++);
#else
      *sin++ = std::sin(angle);
      *cos++ = std::cos(angle);
#endif
    }
  }
}

}  // namespace

Status bench_rows(double seconds, BenchReport& report) {
  const auto rope = resolve({.head_dim = 128, .rotary_dim = 128, .theta = 500000, .scaling = Llama3Scaling{}});
  if (!rope.ok()) return rope.status();
  const auto table = build_table(*rope);
  if (!table.ok()) return table.status();
  std::vector<float> frequencies;
  for (const Real& w : rope->frequencies) frequencies.push_back(static_cast<float>(w.to_double()));
  {
    constexpr std::int64_t kContext = 131072;
    std::vector<std::int64_t> positions(kContext);
    std::iota(positions.begin(), positions.end(), std::int64_t{0});
    std::vector<float> cos(positions.size() * frequencies.size()), sin(cos.size());
    Timer timer(seconds);
    timer.add("build", 1, [&](int) { benchmark::DoNotOptimize(build_table(*rope)); });
    timer.add("libm", 1, [&](int) { by_libm(positions, frequencies, cos.data(), sin.data()); });
    auto times = timer.run();
    Measurement out;
    out.parameters = {{"section", "rows"}, {"what", "building the table"}, {"target", active_target()}, {"tokens", 0},
                      {"pairs", frequencies.size()}, {"context", kContext}, {"threads", 1}};
    out.figure = times["build"].best;
    out.limit = times["libm"].best;
    out.against = "filling a dense table of the context by libm's sincosf";
    out.ratio = out.limit / out.figure;
    out.noise = times["libm"].median / times["libm"].best - 1;
    out.beside = {{"table_bytes", (*table)->bytes()}, {"dense_bytes", 2 * sizeof(float) * cos.size()}};
    report.measurements.push_back(std::move(out));
  }
  for (const std::int64_t tokens : {1, 512}) {
    std::vector<std::int64_t> positions(static_cast<std::size_t>(tokens));
    std::iota(positions.begin(), positions.end(), std::int64_t{100000});
    const Positions view = Positions::of(positions.data(), tokens);
    std::vector<float> cos(positions.size() * frequencies.size()), sin(cos.size());
    Step step(tokens);
    if (Status status = step.add(*table); !status.ok()) return status;

    // Checked: the scalar definition gives the same bits.
    const std::string target(active_target());
    if (Status status = use_target("scalar"); !status.ok()) return status;
    if (Status status = (*table)->rows(view, cos.data(), sin.data()); !status.ok()) return status;
    if (Status status = use_target(target); !status.ok()) return status;
    if (Status status = step.begin(view); !status.ok()) return status;
    const auto rows = step.rows(**table);
    if (!rows.ok()) return rows.status();
    if (std::memcmp(cos.data(), rows->cos, cos.size() * sizeof(float)) != 0 ||
        std::memcmp(sin.data(), rows->sin, sin.size() * sizeof(float)) != 0) {
      return Status(StatusCode::kInternal, "bench: rows differ from those of the scalar definition");
    }

    Timer timer(seconds);
    timer.add("rows", 1, [&](int) { benchmark::DoNotOptimize(step.begin(view).ok()); });
    timer.add("libm", 1, [&](int) { by_libm(positions, frequencies, cos.data(), sin.data()); });
    auto times = timer.run();
    // The scalar definition apart: the target is one for the whole process.
    if (Status status = use_target("scalar"); !status.ok()) return status;
    Timer scalar_timer(seconds);
    scalar_timer.add("scalar", 1, [&](int) { benchmark::DoNotOptimize(step.begin(view).ok()); });
    const double scalar = scalar_timer.run()["scalar"].best;
    if (Status status = use_target(target); !status.ok()) return status;

    Measurement out;
    out.parameters = {{"section", "rows"}, {"what", "rows of a step"}, {"target", target}, {"tokens", tokens},
                      {"pairs", frequencies.size()}, {"first_position", 100000}, {"threads", 1}};
    out.figure = times["rows"].best;
    out.limit = times["libm"].best;
    out.against = "libm's sincosf of the same angles";
    out.ratio = out.limit / out.figure;
    out.noise = times["libm"].median / times["libm"].best - 1;
    out.beside = {{"scalar_s", scalar}};
    report.measurements.push_back(std::move(out));
  }
  return {};
}

}  // namespace ropecache::cli
