// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

#include "commands.h"
#include "describe.h"
#include "position_list.h"
#include "table.h"
#include "text.h"

namespace ropecache::cli {
namespace {

// The rows of a dump: one position per axis each. Plain positions have the same on all axes.
struct RowList {
  std::vector<std::int64_t> values;  // rows x axes
  int axes = 1;
  bool per_axis = false;

  std::int64_t rows() const { return static_cast<std::int64_t>(values.size()) / axes; }
  std::vector<std::int64_t> of(std::int64_t row) const {
    const auto first = values.begin() + row * axes;
    return {first, first + axes};
  }
  std::string label(std::int64_t row) const {
    return per_axis ? fmt::format("{}", fmt::join(of(row), ",")) : std::to_string(of(row).front());
  }
  Positions view() const {
    return {values.data(), PositionType::kInt64, rows(), axes, axes, 1, static_cast<std::int64_t>(values.size())};
  }
};

Result<RowList> rows_asked(const DumpOptions& options, int axes) {
  RowList rows;
  rows.axes = axes;
  if (options.axis_positions.empty()) {
    auto positions = parse_positions(options.positions);
    if (!positions.ok()) return positions.status();
    for (std::int64_t p : *positions) rows.values.insert(rows.values.end(), static_cast<std::size_t>(axes), p);
    return rows;
  }
  rows.per_axis = true;
  for (const std::string& text : options.axis_positions) {
    auto ids = parse_positions(text);
    if (!ids.ok()) return ids.status();
    if (std::ssize(*ids) != axes) {
      return Status(StatusCode::kInvalidArgument, fmt::format("--axis-positions: '{}': expected {} for this rope",
                                                              printable(text, kMaxWord), counted(static_cast<std::size_t>(axes), "position")));
    }
    rows.values.insert(rows.values.end(), ids->begin(), ids->end());
  }
  return rows;
}

// The rope of a layer in a role; the error lists where there is one.
Result<const ModelRope*> find_rope(const ModelRopes& model, int layer, Role role) {
  std::vector<int> layers;
  for (const ModelRope& entry : model.ropes) {
    if (entry.role != role) continue;
    if (std::binary_search(entry.layers.begin(), entry.layers.end(), layer)) return &entry;
    layers.insert(layers.end(), entry.layers.begin(), entry.layers.end());
  }
  std::sort(layers.begin(), layers.end());
  return Status(StatusCode::kInvalidArgument,
                fmt::format("{}: --layer: {}: expected a layer with a rope of role {}: {}", model.path, layer,
                            role_name(role), layers.empty() ? "there is none" : ranges(layers)));
}

std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }

std::string bits_list(const float* values, int count) {
  std::string out = "[";
  for (int i = 0; i < count; ++i) fmt::format_to(std::back_inserter(out), "{}\"{:08x}\"", i ? "," : "", bits(values[i]));
  return out + ']';
}

// Written by hand: bit patterns need no escaping, and a tree of a million strings would.
std::string json_text(const ModelRopes& model, const Table& table, const RowList& rows, const std::vector<float>& cos,
                      const std::vector<float>& sin) {
  const int pairs = table.pairs();
  std::string out = fmt::format(R"({{"schema":"ropecache.dump/1","profile":"{}","key":"{}","pairs":{},"rows":[)",
                                profile_name(table.profile()), table.key().hex(), pairs);
  for (std::int64_t row = 0; row < rows.rows(); ++row) {
    out += row == 0 ? "{" : ",{";
    if (rows.per_axis) fmt::format_to(std::back_inserter(out), R"("positions":[{}],)", rows.label(row));
    else fmt::format_to(std::back_inserter(out), R"("position":{},)", rows.label(row));
    out += "\"cos\":" + bits_list(cos.data() + row * pairs, pairs);
    out += ",\"sin\":" + bits_list(sin.data() + row * pairs, pairs) + '}';
  }
  std::string warnings = to_line(Json(model.warnings));
  warnings.pop_back();
  return out + "],\"warnings\":" + warnings + "}\n";
}

std::string plain_text(const Table& table, const Rope& rope, const RowList& rows, const std::vector<float>& cos,
                       const std::vector<float>& sin, const Style& style) {
  const int pairs = table.pairs();
  std::string out = fmt::format("table {}, profile {}, {}\n", table.key().hex(), profile_name(table.profile()),
                                counted(static_cast<std::size_t>(pairs), "pair"));
  for (std::int64_t row = 0; row < rows.rows(); ++row) {
    out += '\n' + style.bold("position " + rows.label(row)) + '\n';
    TextTable lines({"pair", "axis", "frequency", "cos", "cos bits", "sin", "sin bits"});
    for (int i = 0; i < pairs; ++i) {
      const auto pair = static_cast<std::size_t>(i);
      const auto at = static_cast<std::size_t>(row * pairs + i);
      lines.row({std::to_string(i), rope.axis_count == 1 ? "" : std::to_string(rope.axes[pair]),
                 rope.frequencies[pair].to_decimal(12), shortest(cos[at]), fmt::format("{:08x}", bits(cos[at])),
                 shortest(sin[at]), fmt::format("{:08x}", bits(sin[at]))});
    }
    out += lines.text(style);
  }
  return out;
}

}  // namespace

Result<Outcome> dump(const DumpOptions& options) {
  auto model = read_model(options.file, options.read);
  if (!model.ok()) return model.status();
  auto entry = find_rope(*model, options.layer, options.role);
  if (!entry.ok()) return entry.status();
  const Rope& rope = (*entry)->rope;

  auto rows = rows_asked(options, rope.axis_count);
  if (!rows.ok()) return rows.status();
  auto table = build_table(rope, options.profile);
  if (!table.ok()) return table.status();

  const auto values = static_cast<std::size_t>(rows->rows()) * static_cast<std::size_t>(rope.pairs());
  std::vector<float> cos(values);
  std::vector<float> sin(values);
  if (const Status status = (*table)->rows(rows->view(), cos.data(), sin.data()); !status.ok()) return status;
  if (options.json) return Outcome{kHolds, json_text(*model, **table, *rows, cos, sin)};
  const std::string warnings = warning_lines(*model, "", options.style);
  return Outcome{kHolds, plain_text(**table, rope, *rows, cos, sin, options.style) + (warnings.empty() ? "" : '\n' + warnings)};
}

}  // namespace ropecache::cli
