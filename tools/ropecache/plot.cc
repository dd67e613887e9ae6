// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <set>

#include "chart.h"
#include "commands.h"
#include "describe.h"
#include "text.h"
#include "two_doubles.h"

namespace ropecache::cli {
namespace {

// The same rope without a scaling rule.
Result<Rope> unscaled(const RopeConfig& config) {
  RopeConfig plain = config;
  plain.scaling = {};
  plain.divisors.clear();
  return resolve(plain);
}

std::string heading(const ModelRope& entry, const char* what) {
  const std::string scaling = scaling_text(entry.config);
  return fmt::format("{}: {}{} {}, theta {}{}", what, entry.role == Role::kAttention ? "" : std::string(role_name(entry.role)) + " ",
                     entry.layers.size() == 1 ? "layer" : "layers", ranges(entry.layers), shortest(entry.config.theta),
                     scaling.empty() ? "" : ", " + scaling);
}

// Pairs that stay are left out: they have no wavelength.
Series wavelengths(std::string name, const Rope& rope) {
  Series out{std::move(name), {}, {}};
  for (std::size_t i = 0; i < rope.frequencies.size(); ++i) {
    if (rope.frequencies[i].is_zero()) continue;
    out.x.push_back(static_cast<double>(i));
    out.y.push_back(2 * std::numbers::pi / rope.frequencies[i].to_double());
  }
  return out;
}

// What a rule does to a pair, seen in the result: whatever the rule, the longest stretch there is counts as whole.
std::vector<Band> bands(const RopeConfig& config, const Rope& scaled, const Rope& plain) {
  if (std::holds_alternative<LongRopeScaling>(config.scaling) || !config.divisors.empty()) {
    return {{0, static_cast<double>(scaled.pairs()), "each pair has a factor of its own"}};
  }
  std::vector<double> stretch;
  double most = 1;
  for (std::size_t i = 0; i < scaled.frequencies.size(); ++i) {
    const double w = scaled.frequencies[i].to_double();
    stretch.push_back(w == 0 ? 0 : plain.frequencies[i].to_double() / w);
    most = std::max(most, stretch.back());
  }
  const auto name_of = [most](double s) {
    if (s == 0) return std::string("stays");
    if (std::fabs(s - 1) < 1e-9) return std::string("kept");
    if (std::fabs(s / most - 1) < 1e-9) return fmt::format("x{:.4g}", most);
    return std::string("between");
  };
  std::vector<Band> out;
  for (std::size_t i = 0; i < stretch.size(); ++i) {
    const std::string name = name_of(stretch[i]);
    const auto at = static_cast<double>(i);
    if (out.empty() || out.back().name != name) out.push_back({at, at + 1, name});
    out.back().to = at + 1;
  }
  return out;
}

Result<Panel> wavelength_panel(const ModelRope& entry, const ModelRopes& model) {
  Panel panel{heading(entry, "Wavelength"), "pair", "positions a turn", {}, true, false, {}, {}};
  panel.series.push_back(wavelengths("as resolved", entry.rope));
  const auto plain = unscaled(entry.config);
  if (plain.ok() && plain->frequencies.size() == entry.rope.frequencies.size()) {
    const Rope* scaled = &entry.rope;
    Rope longer;
    if (entry.beyond) {
      scaled = &*entry.beyond;
      panel.series.push_back(wavelengths(fmt::format("beyond {}", entry.switch_length.value_or(0)), *scaled));
    } else if (const auto* dynamic = std::get_if<DynamicNtkScaling>(&entry.config.scaling)) {
      auto rope = resolve(entry.config, {.length = 4 * dynamic->original_context});
      if (!rope.ok()) return rope.status();
      longer = std::move(*rope);
      scaled = &longer;
      panel.series.push_back(wavelengths(fmt::format("at length {}", 4 * dynamic->original_context), longer));
    }
    if (scaled->frequencies != plain->frequencies) {
      panel.series.push_back(wavelengths("without the rule", *plain));
      panel.bands = bands(entry.config, *scaled, *plain);
    }
  }
  if (model.context > 0) panel.levels.push_back({static_cast<double>(model.context), fmt::format("context {}", model.context)});
  return panel;
}

// The worst error of a cosine over all pairs, at some positions from each on.
Result<Panel> error_panel(const ModelRope& entry, std::int64_t context) {
  constexpr std::int64_t kTogether = 16;
  Panel panel{heading(entry, "Largest error of a cosine"), "position", "against the true value", {}};
  std::vector<TwoDoubles> frequencies(entry.rope.frequencies.begin(), entry.rope.frequencies.end());
  const double magnitude = entry.rope.magnitude.to_double();
  const std::int64_t last = std::max<std::int64_t>(context, 1 << 20);
  std::vector<float> cos(static_cast<std::size_t>(kTogether) * frequencies.size()), sin(cos.size());
  for (const Profile profile : {Profile::kExact, Profile::kFp32, Profile::kGgml}) {
    const auto table = build_table(entry.rope, profile);
    if (!table.ok()) continue;  // no ggml recipe
    Series series{std::string(profile_name(profile)), {}, {}};
    for (std::int64_t p = 1; p <= last; p *= 2) {
      std::int64_t positions[kTogether];
      for (std::int64_t i = 0; i < kTogether; ++i) positions[i] = std::max<std::int64_t>(1, p - i * p / (2 * kTogether));
      Positions equal = Positions::of(positions, kTogether);
      equal.axes = (*table)->axis_count();  // one position on every axis, as text has it
      if (Status status = (*table)->rows(equal, cos.data(), sin.data()); !status.ok()) return status;
      double worst = 0;
      for (std::size_t t = 0; t < kTogether; ++t) {
        for (std::size_t i = 0; i < frequencies.size(); ++i) {
          const double truth = magnitude * frequencies[i].cos_at(static_cast<double>(positions[t]));
          worst = std::max(worst, std::fabs(static_cast<double>(cos[t * frequencies.size() + i]) - truth));
        }
      }
      series.x.push_back(static_cast<double>(p));
      series.y.push_back(std::max(worst, 1e-10));
    }
    panel.series.push_back(std::move(series));
  }
  return panel;
}

Result<Panel> memory_panel(const ModelRopes& model) {
  Panel panel{"Memory of the decoder's tables", "context, positions", "", {{"a table per layer", {}, {}}, {"ropecache", {}, {}}}};
  panel.y_bytes = true;
  for (std::int64_t context = 4096; context <= 16 * 1024 * 1024; context *= 4) {
    const auto memory = plan_memory(model, context);
    if (!memory.ok()) return memory.status();
    for (Series& series : panel.series) series.x.push_back(static_cast<double>(context));
    panel.series[0].y.push_back(static_cast<double>(std::max<std::int64_t>(1, memory->per_layer_bytes)));
    panel.series[1].y.push_back(static_cast<double>(std::max<std::int64_t>(1, memory->shared_bytes)));
  }
  return panel;
}

Result<std::string> draw(const ModelRopes& model) {
  std::vector<Panel> panels;
  std::set<std::string> seen;
  for (const ModelRope& entry : model.ropes) {
    const auto key = table_key(entry.rope);
    if (!key.ok()) return key.status();
    std::string name = key->hex();
    if (entry.beyond) name += table_key(*entry.beyond)->hex();
    if (!seen.insert(name).second) continue;
    for (auto& panel : {wavelength_panel(entry, model), error_panel(entry, model.context)}) {
      if (!panel.ok()) return panel.status();
      panels.push_back(*panel);
    }
  }
  if (panels.empty()) return Status(StatusCode::kUnsupported, fmt::format("{}: no layer has a rope: nothing to draw", printable(model.path)));
  auto memory = memory_panel(model);
  if (!memory.ok()) return memory.status();
  panels.push_back(std::move(*memory));
  return svg(fmt::format("{}, {}", printable(model.path), printable(model.architecture, kMaxWord)), {}, panels);
}

}  // namespace

Status write_file(const std::string& path, const std::string& text) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return Status(StatusCode::kIo, fmt::format("{}: cannot be written", printable(path)));
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fclose(file) != 0 || !written) return Status(StatusCode::kIo, fmt::format("{}: could not be written whole", printable(path)));
  return {};
}

Result<Outcome> plot(const PlotOptions& options) {
  const auto model = read_model(options.file, options.read);
  if (!model.ok()) return model.status();
  const auto drawn = draw(*model);
  if (!drawn.ok()) return drawn.status();
  if (options.out.empty()) return Outcome{kHolds, *drawn};
  if (Status status = write_file(options.out, *drawn); !status.ok()) return status;
  return Outcome{kHolds, ""};
}

}  // namespace ropecache::cli
