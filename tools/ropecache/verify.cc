// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "verify.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <thread>

#include "describe.h"
#include "ropecache/target.h"
#include "table.h"
#include "text.h"

namespace ropecache::cli {
namespace {

// One line of the report.
struct Measurement {
  std::string what;  // "frequencies", "rows", "kernels"
  const Subject* subject = nullptr;
  bool holds = false;
  Json json;                       // all parameters and figures
  std::vector<std::string> cells;  // the same for people
};

struct Report {
  std::vector<Measurement> measurements;
  std::uint64_t values = 0;
  std::uint64_t wrong = 0;

  void add(Measurement measurement, std::uint64_t checked, std::uint64_t bad) {
    values += checked;
    wrong += bad;
    measurements.push_back(std::move(measurement));
  }
};

// Every rope of the file, the one beyond a switch of length too.
Result<std::vector<Subject>> subjects_of(const ModelRopes& model, std::optional<std::int64_t> length) {
  std::vector<Subject> out;
  for (const ModelRope& entry : model.ropes) {
    out.push_back({&entry, &entry.rope, length, {}});
    if (entry.beyond && entry.switch_length) out.push_back({&entry, &*entry.beyond, *entry.switch_length + 1, {}});
  }
  for (Subject& subject : out) {
    auto key = table_key(*subject.rope);
    if (!key.ok()) return key.status();
    subject.key = *key;
  }
  return out;
}

Json subject_json(const char* what, const Subject& subject, bool holds) {
  Json json = {{"schema", "ropecache.verify/1"},
               {"measurement", what},
               {"holds", holds},
               {"key", subject.key.hex()},
               {"role", role_name(subject.entry->role)},
               {"layers", subject.entry->layers}};
  json["length"] = subject.length ? Json(*subject.length) : Json(nullptr);
  return json;
}

Measurement measurement(const char* what, const Subject& subject, bool holds) {
  Measurement out{what, &subject, holds, subject_json(what, subject, holds), {}};
  out.cells = {what, ranges(subject.entry->layers), subject.key.hex().substr(0, 8)};
  return out;
}

void add_frequencies(const Subject& subject, const OracleRope& oracle, Report& report) {
  const FrequencyResult found = verify_frequencies(*subject.rope, oracle);
  Measurement line = measurement("frequencies", subject, found.wrong == 0);
  line.json.update({{"pairs", subject.rope->pairs()},
                    {"values", found.values},
                    {"wrong", found.wrong},
                    {"agreeing_bits", fmt::format("{:.0f}", found.worst_bits)},
                    {"limit_bits", "191"}});
  line.cells.insert(line.cells.end(), {"against MPFR", std::to_string(found.values), std::to_string(found.wrong),
                                       fmt::format("equal to {:.0f} bits", found.worst_bits)});
  report.add(std::move(line), found.values, found.wrong);
}

Status add_rows(const Subject& subject, const OracleRope& oracle, const VerifyOptions& options, Report& report) {
  const unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  const auto found = verify_rows(*subject.rope, oracle, options.profile, options.samples, threads);
  if (!found.ok()) return found.status();
  const Tally& tally = found->tally;
  Measurement line = measurement("rows", subject, tally.wrong == 0);
  line.json.update({{"profile", profile_name(options.profile)},
                    {"pairs", subject.rope->pairs()},
                    {"positions", found->positions},
                    {"values", tally.values},
                    {"wrong", tally.wrong},
                    {"retried", tally.retried},
                    {"worst_ulp", fmt::format("{:.7f}", tally.worst_ulp)},
                    {"limit_ulp", "0.5"},
                    {"ratio", fmt::format("{:.7f}", tally.worst_ulp / 0.5)},
                    {"threads", threads}});
  line.cells.insert(line.cells.end(),
                    {fmt::format("profile {}, {} positions against MPFR", profile_name(options.profile), found->positions),
                     std::to_string(tally.values), std::to_string(tally.wrong),
                     fmt::format("worst error {:.7f} ulp", tally.worst_ulp)});
  report.add(std::move(line), tally.values, tally.wrong);
  return {};
}

std::string_view dtype_name(DType dtype) {
  return dtype == DType::kF32 ? "f32" : dtype == DType::kBF16 ? "bf16" : "f16";
}

Status add_kernels(const Subject& subject, const VerifyOptions& options, Report& report) {
  const auto found = verify_kernels(*subject.rope, options.profile, options.kernels);
  if (!found.ok()) return found.status();
  for (const KernelResult& one : *found) {
    const Placement& place = one.placement;
    Measurement line = measurement("kernels", subject, one.wrong == 0);
    line.json.update({{"profile", profile_name(options.profile)},
                      {"target", active_target()},
                      {"dtype", dtype_name(one.dtype)},
                      {"pairing", pairing_name(place.pairing)},
                      {"head_dim", one.head_dim},
                      {"rotary_dim", place.rotary_dim},
                      {"rotary_offset", place.rotary_offset},
                      {"values", one.values},
                      {"wrong", one.wrong}});
    line.cells.insert(line.cells.end(),
                      {fmt::format("{} {}, {} of {} at {}, target {}", dtype_name(one.dtype), pairing_name(place.pairing),
                                   place.rotary_dim, one.head_dim, place.rotary_offset, active_target()),
                       std::to_string(one.values), std::to_string(one.wrong), one.wrong == 0 ? "bit-equal" : "differs"});
    report.add(std::move(line), one.values, one.wrong);
  }
  return {};
}

class Progress {
 public:
  explicit Progress(bool on) : on_(on) {}
  ~Progress() { show(""); }
  void show(const std::string& text) const {
    if (on_) std::fprintf(stderr, "\r\x1b[K%s", text.c_str());
  }

 private:
  bool on_;
};

std::string report_text(const ModelRopes& model, const Report& report, const Style& style) {
  const bool holds = report.wrong == 0;
  std::string out = holds ? style.good("holds") : style.bad("does not hold");
  out += printable(fmt::format(": {}: {} checked, {} wrong", model.path, counted(report.values, "value"), report.wrong));
  out += "\n\n";
  TextTable table({"what", "layers", "table", "how", "values", "wrong", "result"});
  for (const Measurement& line : report.measurements) table.row(line.cells);
  return out + table.text(style);
}

std::string report_json(const Report& report) {
  Json lines = Json::array();
  for (const Measurement& line : report.measurements) lines.push_back(line.json);
  return to_line(lines);
}

}  // namespace

Result<Outcome> verify(const VerifyOptions& options) {
  auto model = read_model(options.file, options.read);
  if (!model.ok()) return model.status();
  auto subjects = subjects_of(*model, options.read.length);
  if (!subjects.ok()) return subjects.status();

  Report report;
  const Progress progress(options.progress);
  std::set<std::string> rows_done;
  std::size_t count = 0;
  for (const Subject& subject : *subjects) {
    progress.show(fmt::format("rope {} of {}: layers {}", ++count, subjects->size(), ranges(subject.entry->layers)));
    const OracleRope oracle = oracle_rope(subject.entry->config, subject.length);
    add_frequencies(subject, oracle, report);
    if (rows_done.insert(subject.key.hex()).second) {
      if (Status status = add_rows(subject, oracle, options, report); !status.ok()) return status;
    }
    if (options.kernels != Kernels::kNone) {
      if (Status status = add_kernels(subject, options, report); !status.ok()) return status;
    }
  }
  mpfr_free_cache();
  return Outcome{report.wrong == 0 ? kHolds : kDiffers,
                 options.json ? report_json(report) : report_text(*model, report, options.style)};
}

}  // namespace ropecache::cli
