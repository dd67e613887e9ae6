// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "commands.h"
#include "compare.h"
#include "describe.h"
#include "table.h"
#include "text.h"

namespace ropecache::cli {
namespace {

Json side_json(const ModelRopes& model) {
  return {{"path", model.path},
          {"format", model_format_name(model.format)},
          {"architecture", model.architecture},
          {"layers", model.layers},
          {"context", model.context},
          {"warnings", model.warnings}};
}

std::string diff_json(const ModelRopes& a, const ModelRopes& b, const Comparison& found) {
  Json differences = Json::array();
  for (const Difference& difference : found.differences) {
    Json fields = Json::array();
    for (const auto& [field, left, right] : difference.fields) {
      fields.push_back({{"field", field}, {"a", left}, {"b", right}});
    }
    const auto& first = difference.first_position;
    differences.push_back({{"role", role_name(difference.role)},
                           {"layers", difference.layers},
                           {"fields", std::move(fields)},
                           {"first_position", first ? Json(*first) : Json(nullptr)},
                           {"beyond", difference.beyond ? Json(*difference.beyond) : Json(nullptr)}});
  }
  Json notes = Json::array();
  for (const Note& note : found.notes) {
    notes.push_back({{"kind", note_kind_name(note.kind)},
                     {"role", role_name(note.role)},
                     {"layers", note.layers},
                     {"text", note.text}});
  }
  return to_line({{"schema", "ropecache.diff/1"},
                  {"a", side_json(a)},
                  {"b", side_json(b)},
                  {"equal", found.differences.empty()},
                  {"differences", std::move(differences)},
                  {"notes", std::move(notes)}});
}

// "layers 0-31", with the role where it is not attention.
std::string where(Role role, const std::vector<int>& layers) {
  if (layers.empty()) return "model";
  const std::string prefix = role == Role::kAttention ? "" : std::string(role_name(role)) + ' ';
  return fmt::format("{}{} {}", prefix, layers.size() == 1 ? "layer" : "layers", ranges(layers));
}

std::string side_line(char letter, const ModelRopes& model) {
  return printable(fmt::format("{}  {}: {}, {}", letter, model.path, model_format_name(model.format),
                               architecture_text(model))) +
         '\n';
}

std::string shows(const Difference& difference) {
  if (difference.layers.empty()) return "";
  const auto& first = difference.first_position;
  if (difference.beyond) {
    const std::string from = first ? fmt::format(", from position {}", *first) : "";
    return fmt::format("shows in sequences beyond {}{}", *difference.beyond, from);
  }
  if (first) return fmt::format("shows from position {}", *first);
  for (const FieldDifference& field : difference.fields) {
    if (field.field == "axes") return "shows where a token's ids differ by axis";
  }
  return "shows at no position below 2^31";
}

std::string diff_text(const ModelRopes& a, const ModelRopes& b, const Comparison& found, const Style& style) {
  std::map<Role, std::size_t> layers;
  std::size_t count = 0;
  for (const Difference& difference : found.differences) {
    if (!difference.layers.empty()) layers[difference.role] += difference.layers.size();
    count += difference.layers.size();
  }
  std::string out;
  if (found.differences.empty()) out = style.good("equal: every layer rotates alike");
  else if (count == 0) out = style.bad("the models have different numbers of layers");
  else out = style.bad(fmt::format("{} {} differently", layers_text(layers), count == 1 ? "rotates" : "rotate"));
  out += '\n' + side_line('A', a) + side_line('B', b);
  for (const Difference& difference : found.differences) {
    const std::string when = shows(difference);
    out += '\n' + style.bold(where(difference.role, difference.layers)) + (when.empty() ? "" : ": " + when) + '\n';
    TextTable table({"field", "A", "B"});
    for (const auto& [field, left, right] : difference.fields) table.row({field, left, right});
    out += table.text(style);
  }
  if (!found.notes.empty()) out += '\n';
  for (const Note& note : found.notes) out += fmt::format("note: {}: {}\n", where(note.role, note.layers), note.text);
  if (!a.warnings.empty() || !b.warnings.empty()) out += '\n';
  return out + warning_lines(a, "A: ", style) + warning_lines(b, "B: ", style);
}

}  // namespace

Result<Outcome> diff(const DiffOptions& options) {
  auto a = read_model(options.a, options.read);
  if (!a.ok()) return a.status();
  auto b = read_model(options.b, options.read);
  if (!b.ok()) return b.status();
  const Comparison found = compare(*a, *b, options.read.length.has_value());
  return Outcome{found.differences.empty() ? kHolds : kDiffers,
                 options.json ? diff_json(*a, *b, found) : diff_text(*a, *b, found, options.style)};
}

}  // namespace ropecache::cli
