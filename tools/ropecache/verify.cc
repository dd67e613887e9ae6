// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "verify.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <deque>
#include <set>
#include <thread>

#include "describe.h"
#include "ropecache/target.h"
#include "table.h"
#include "text.h"

namespace ropecache::cli {
namespace {

struct Report {
  std::vector<Json> measurements;               // all parameters and figures
  std::vector<std::vector<std::string>> lines;  // the same for people
  std::uint64_t values = 0;
  std::uint64_t wrong = 0;

  void add(Json measurement, std::uint64_t checked, std::uint64_t bad) {
    values += checked;
    wrong += bad;
    measurements.push_back(std::move(measurement));
  }
};

// Every rope of the file, the one beyond a switch of length too, and where each length has its own some of them, which go
// into `made`.
Result<std::vector<Subject>> subjects_of(const ModelRopes& model, std::optional<std::int64_t> length,
                                         std::deque<Rope>& made) {
  std::vector<Subject> out;
  for (const ModelRope& entry : model.ropes) {
    out.push_back({&entry, &entry.rope, length, {}});
    if (entry.beyond && entry.switch_length) out.push_back({&entry, &*entry.beyond, *entry.switch_length + 1, {}});
    const auto* dynamic = std::get_if<DynamicNtkScaling>(&entry.config.scaling);
    if (dynamic == nullptr || dynamic->factor == 1 || length) continue;
    for (const std::int64_t longer : {dynamic->original_context + 1, 4 * dynamic->original_context}) {
      auto rope = resolve(entry.config, {.length = longer});
      if (!rope.ok()) return rope.status();
      made.push_back(std::move(*rope));
      out.push_back({&entry, &made.back(), longer, {}});
    }
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

std::vector<std::string> cells(const char* what, const Subject& subject, std::string how, std::uint64_t values,
                               std::uint64_t wrong, std::string result) {
  return {what,           ranges(subject.entry->layers), subject.length ? std::to_string(*subject.length) : "",
          subject.key.hex().substr(0, 8), std::move(how),
          std::to_string(values), std::to_string(wrong), std::move(result)};
}

void add_frequencies(const Subject& subject, const OracleRope& oracle, Report& report) {
  const FrequencyResult found = verify_frequencies(*subject.rope, oracle);
  Json json = subject_json("frequencies", subject, found.wrong == 0);
  json.update({{"pairs", subject.rope->pairs()},
               {"values", found.values},
               {"wrong", found.wrong},
               {"agreeing_bits", fmt::format("{:.0f}", found.worst_bits)},
               {"limit_bits", "191"}});
  report.add(std::move(json), found.values, found.wrong);
  report.lines.push_back(cells("frequencies", subject, "rule in MPFR", found.values, found.wrong,
                               fmt::format("equal to {:.0f} bits", found.worst_bits)));
}

// Cut, not rounded: 0.49999998 is below one half and must read so.
std::string cut(double value) { return fmt::format("{:.7f}", std::floor(value * 1e7) / 1e7); }

Status add_rows(const Subject& subject, const OracleRope& oracle, const VerifyOptions& options, Report& report) {
  const unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  const auto found = verify_rows(*subject.rope, oracle, options.profile, options.samples, threads);
  if (!found.ok()) return found.status();
  const Tally& tally = found->tally;
  Json json = subject_json("rows", subject, tally.wrong == 0);
  json.update({{"profile", profile_name(options.profile)},
               {"pairs", subject.rope->pairs()},
               {"positions", found->positions},
               {"values", tally.values},
               {"wrong", tally.wrong},
               {"retried", tally.retried},
               {"worst_ulp", cut(tally.worst_ulp)},
               {"limit_ulp", "0.5"},
               {"ratio", cut(tally.worst_ulp / 0.5)},
               {"threads", threads}});
  report.add(std::move(json), tally.values, tally.wrong);
  const std::string how = fmt::format("profile {}, {} in MPFR", profile_name(options.profile),
                                      counted(static_cast<std::size_t>(found->positions), "position"));
  report.lines.push_back(cells("rows", subject, how, tally.values, tally.wrong,
                               fmt::format("worst error {} ulp", cut(tally.worst_ulp))));
  return {};
}

std::string_view dtype_name(DType dtype) {
  return dtype == DType::kF32 ? "f32" : dtype == DType::kBF16 ? "bf16" : "f16";
}

Json kernel_json(const Subject& subject, const VerifyOptions& options, const KernelResult& one) {
  const Placement& place = one.placement;
  Json json = subject_json("kernels", subject, one.wrong == 0);
  json.update({{"profile", profile_name(options.profile)},
               {"target", active_target()},
               {"dtype", dtype_name(one.dtype)},
               {"pairing", pairing_name(place.pairing)},
               {"head_dim", one.head_dim},
               {"rotary_dim", place.rotary_dim},
               {"rotary_offset", place.rotary_offset},
               {"values", one.values},
               {"wrong", one.wrong}});
  return json;
}

std::string kernel_text(const KernelResult& one) {
  return fmt::format("{} {}, {} of {} at {}", dtype_name(one.dtype), pairing_name(one.placement.pairing),
                     one.placement.rotary_dim, one.head_dim, one.placement.rotary_offset);
}

// People get one line for all kernels that agree, and one for each that does not.
Status add_kernels(const Subject& subject, const VerifyOptions& options, Report& report) {
  const auto found = verify_kernels(*subject.rope, options.profile, options.kernels);
  if (!found.ok()) return found.status();
  std::uint64_t values = 0;
  std::size_t equal = 0;
  for (const KernelResult& one : *found) {
    report.add(kernel_json(subject, options, one), one.values, one.wrong);
    if (one.wrong == 0) {
      values += one.values;
      ++equal;
    } else {
      report.lines.push_back(cells("kernels", subject, kernel_text(one), one.values, one.wrong, "differs"));
    }
  }
  if (equal > 0) {
    const std::string how = fmt::format("target {}, f32 bf16 f16, {}", active_target(), counted(equal, "case"));
    report.lines.push_back(cells("kernels", subject, how, values, 0, "bit-equal"));
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
  if (report.lines.empty()) {
    return style.bold("nothing to check") + printable(fmt::format(": {}: no layer has a rope", model.path)) + '\n' +
           warning_lines(model, "", style);
  }
  const bool holds = report.wrong == 0;
  std::string out = holds ? style.good("holds") : style.bad("does not hold");
  out += printable(fmt::format(": {}: {} checked, {} wrong", model.path, counted(report.values, "value"), report.wrong));
  out += "\n\n";
  TextTable table({"what", "layers", "length", "table", "how", "values", "wrong", "result"});
  for (const auto& line : report.lines) table.row(line);
  out += table.text(style);
  if (!model.warnings.empty()) out += '\n';
  return out + warning_lines(model, "", style);
}

std::string report_json(const Report& report) {
  return to_line(Json(report.measurements));
}

}  // namespace

Result<Outcome> verify(const VerifyOptions& options) {
  auto model = read_model(options.file, options.read);
  if (!model.ok()) return model.status();
  std::deque<Rope> made;
  auto subjects = subjects_of(*model, options.read.length, made);
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
  if (report.measurements.empty()) {  // so that a program hears of it, and of the warnings
    report.add({{"schema", "ropecache.verify/1"}, {"measurement", "none"}, {"values", 0}, {"wrong", 0}}, 0, 0);
  }
  for (Json& measurement : report.measurements) measurement["warnings"] = model->warnings;
  return Outcome{report.wrong == 0 ? kHolds : kDiffers,
                 options.json ? report_json(report) : report_text(*model, report, options.style)};
}

}  // namespace ropecache::cli
