// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "chart.h"
#include "ropecache/target.h"
#include "ropecache/version.h"
#include "table.h"
#include "text.h"

namespace ropecache::cli {
namespace {

std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name") && line.find(": ") != std::string::npos) return line.substr(line.find(": ") + 2);
  }
  return "unknown processor";
}

std::string joined(std::span<const std::string_view> names) {
  std::string out;
  for (const std::string_view name : names) {
    if (!out.empty()) out += ' ';
    out += name;
  }
  return out;
}

std::string duration(double seconds) {
  if (seconds < 1e-6) return fmt::format("{:.1f} ns", seconds * 1e9);
  if (seconds < 1e-3) return fmt::format("{:.2f} us", seconds * 1e6);
  return fmt::format("{:.2f} ms", seconds * 1e3);
}

Json machine(double noise) {
  return {{"cpu", cpu_name()},     {"processors", processors()}, {"targets", targets()},
          {"target", active_target()}, {"pinned", pin_to(processors() - 1)}, {"noise", noise},
          {"version", ROPECACHE_VERSION_STRING}};
}

// How much slower the median of what is compared with was than its best, at worst: others on the machine.
double worst_noise(const BenchReport& report) {
  double worst = 0;
  for (const Measurement& m : report.measurements) worst = std::max(worst, m.noise);
  return worst;
}

std::string what(const Measurement& m) {
  const Json& p = m.parameters;
  const std::string section = p["section"];
  if (section == "rows" && p.contains("context")) return "building the table, of 131072 positions";
  if (section == "rows") return counted(p["tokens"].get<std::size_t>(), "token");
  if (section == "decode") return fmt::format("{} Ki, {}", p["context"].get<std::int64_t>() / 1024, p["what"].get<std::string>());
  return fmt::format("T {}, {} {}", p["tokens"].get<std::int64_t>(), p["dtype"].get<std::string>(), p["pairing"].get<std::string>());
}

std::string beside_text(const Measurement& m) {
  std::string out;
  for (const auto& [name, value] : m.beside) {
    std::string text;
    if (name == "bytes_per_s") text = fmt::format("{:.0f} GB/s", value.get<double>() / 1e9);
    else if (name == "elements_per_s_of_f32") text = fmt::format("{:.2f} of f32's elements", value.get<double>());
    else if (name == "scalar_s") text = fmt::format("scalar {}", duration(value.get<double>()));
    else if (name == "table_bytes") text = fmt::format("table {}", bytes(value.get<std::int64_t>()));
    else if (name == "dense_bytes") text = fmt::format("dense {}", bytes(value.get<std::int64_t>()));
    else if (name == "resident_bytes") text = fmt::format("holds {}", bytes(value.get<std::int64_t>()));
    else if (name == "peak_bytes") text = fmt::format("peak {}", bytes(value.get<std::int64_t>()));
    else text = fmt::format("{} {}", value.get<std::uint64_t>(), name);
    if (!out.empty()) out += ", ";
    out += text;
  }
  return out;
}

std::string section_title(const std::string& section, int threads) {
  if (section == "rows") return "table and rows of a step, 64 pairs, against libm's sincosf";
  if (section == "decode") return "decoding, one token a step, against a table rebuilt each step (counts: 200 steps)";
  return fmt::format("rotate() of q (32 heads) and k (8) x 128 in place, {}, against reading and writing the same bytes",
                     counted(static_cast<std::size_t>(threads), "thread"));
}

std::string report_text(const BenchReport& report, const Style& style) {
  const double noise = worst_noise(report);
  std::string out = fmt::format("{}, {}, target {} of {}, pinned: {}\n", cpu_name(),
                                counted(static_cast<std::size_t>(processors()), "processor"), active_target(), joined(targets()),
                                pin_to(processors() - 1) ? "yes" : "no");
  if (noise > 0.1) out += style.bad(fmt::format("noisy: medians up to {:.0f}% above the best; the best is shown", noise * 100)) + '\n';
  else out += fmt::format("noise: medians up to {:.0f}% above the best; the best is shown\n", noise * 100);
  std::string title;
  std::vector<std::vector<std::string>> lines;
  const auto flush = [&] {
    if (lines.empty()) return;
    TextTable table({"what", "time", "beside it", "ratio", ""});
    for (const auto& line : lines) table.row(line);
    out += '\n' + style.bold(title) + '\n' + table.text(style);
    lines.clear();
  };
  for (const Measurement& m : report.measurements) {
    const std::string next = section_title(m.parameters["section"], m.parameters["threads"]);
    if (next != title) flush();
    title = next;
    const std::string ratio = m.ratio >= 100 ? fmt::format("{:.0f}", m.ratio) : fmt::format("{:.2f}", m.ratio);
    lines.push_back({what(m), duration(m.figure), duration(m.limit), ratio, beside_text(m)});
  }
  flush();
  if (report.growth.empty()) return out;
  TextTable table({"what", "against", "from", "to", "slope", "expected"});
  for (const Growth& g : report.growth) {
    const auto value = [&g](double v) { return g.unit[0] == 's' ? duration(v) : bytes(static_cast<std::int64_t>(v)); };
    table.row({g.what, fmt::format("{} {:.0f}-{:.0f}", g.parameter, g.x.front(), g.x.back()), value(g.y.front()), value(g.y.back()),
               fmt::format("{:.2f}", g.slope()), fmt::format("{:.0f}", g.expected)});
  }
  return out + '\n' + style.bold("how it grows (slope of the logarithms: 1 linear, 0 not at all)") + '\n' + table.text(style);
}

std::string report_json(const BenchReport& report) {
  const Json here = machine(worst_noise(report));
  Json out = Json::array();
  for (const Measurement& m : report.measurements) {
    Json one = {{"schema", "ropecache.bench/1"}};
    one.update(m.parameters);
    one.update({{"unit", m.unit}, {"figure", m.figure}, {"limit", m.limit}, {"against", m.against}, {"ratio", m.ratio}, {"noise", m.noise}});
    for (const auto& [name, value] : m.beside) one[name] = value;
    one["machine"] = here;
    out.push_back(std::move(one));
  }
  for (const Growth& g : report.growth) {
    out.push_back({{"schema", "ropecache.bench/1"}, {"section", "growth"}, {"what", g.what}, {"parameter", g.parameter}, {"unit", g.unit},
                   {"x", g.x}, {"figure", g.y}, {"slope", g.slope()}, {"limit", g.expected}, {"against", "the slope by design"},
                   {"machine", here}});
  }
  return to_line(out);
}

std::string report_svg(const BenchReport& report) {
  std::vector<BarPanel> bars;
  for (const Measurement& m : report.measurements) {
    const std::string section = m.parameters["section"];
    if (section == "decode") continue;  // ratios of thousands: told in numbers
    const std::string title = section_title(section, m.parameters["threads"]);
    if (bars.empty() || bars.back().title != title) bars.push_back({title, 1, section == "rows" ? "libm" : "limit", {}});
    bars.back().bars.push_back({what(m), m.ratio, fmt::format("{:.2f}, {}", m.ratio, duration(m.figure))});
  }
  std::vector<Panel> panels;
  Series steps[3] = {{"rebuilding", {}, {}}, {"memoised table", {}, {}}, {"ropecache", {}, {}}};
  Series held[3] = {{"rebuilding (peak)", {}, {}}, {"memoised table", {}, {}}, {"ropecache", {}, {}}};
  std::size_t n = 0;
  for (const Measurement& m : report.measurements) {
    if (m.parameters["section"] != "decode") continue;
    const double context = m.parameters["context"].get<double>();
    steps[n % 3].x.push_back(context);
    steps[n % 3].y.push_back(m.figure * 1e6);
    held[n % 3].x.push_back(context);
    for (const auto& [name, value] : m.beside) {
      if (name == "peak_bytes") held[n % 3].y.push_back(std::max(1.0, value.get<double>()));
    }
    ++n;
  }
  if (n > 0) {
    panels.push_back({"Decoding: time a step", "context, positions", "microseconds", {steps, steps + 3}});
    panels.push_back({"Decoding: memory at the peak", "context, positions", "", {held, held + 3}});
    panels.back().y_bytes = true;
  }
  for (const Growth& g : report.growth) {
    if (g.unit[0] != 's') continue;
    const std::string title = "Time against " + g.parameter;
    if (panels.empty() || panels.back().title != title) panels.push_back({title, g.parameter, "microseconds", {}});
    Series series{fmt::format("{} (slope {:.2f})", g.what, g.slope()), g.x, {}};
    for (const double y : g.y) series.y.push_back(y * 1e6);
    panels.back().series.push_back(std::move(series));
  }
  return svg("ropecache on " + cpu_name(), bars, panels);
}

}  // namespace

Result<Outcome> bench(const BenchOptions& options) {
  if (!options.target.empty() && !use_target(options.target).ok()) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("--target: {} is not one of this machine: {}", printable(options.target, kMaxWord), joined(targets())));
  }
  const auto wanted = [&](const char* section) {
    return options.sections.empty() || std::count(options.sections.begin(), options.sections.end(), section) > 0;
  };
  const std::vector<std::int64_t> tokens = options.tokens.empty() ? std::vector<std::int64_t>{1, 64, 512, 8192} : options.tokens;
  BenchReport report;
  Status status;
  if (wanted("rows")) status = bench_rows(options.seconds, report);
  for (int threads = 1; status.ok() && wanted("rotate") && threads <= options.threads; threads *= 2) {
    status = bench_rotate(options.seconds, threads, tokens, report);
  }
  if (status.ok() && wanted("decode")) status = bench_decode(options.seconds, report);
  if (status.ok() && wanted("growth")) status = bench_growth(options.seconds, report);
  if (!status.ok()) return status;
  if (!options.svg.empty()) {
    if (Status written = write_file(options.svg, report_svg(report)); !written.ok()) return written;
  }
  return Outcome{kHolds, options.json ? report_json(report) : report_text(report, options.style)};
}

}  // namespace ropecache::cli
