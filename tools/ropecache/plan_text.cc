// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include <map>
#include <set>

#include "describe.h"
#include "plan.h"
#include "table.h"
#include "text.h"

namespace ropecache::cli {
namespace {

constexpr std::size_t kKeyWidth = 120;
constexpr std::size_t kValueWidth = 48;  // of a key's value; long lists are cut, --json has them whole

std::size_t total(const std::map<Role, std::size_t>& layers) {
  std::size_t count = 0;
  for (const auto& [role, number] : layers) count += number;
  return count;
}

std::string no_such_role(const Plan& plan) {
  std::string line = fmt::format("no layer has a rope of role {}", role_name(*plan.role));
  for (const Role role : plan.other_roles) {
    line += fmt::format("{}{}", role == plan.other_roles.front() ? "; the file has " : ", ", role_name(role));
  }
  // "draft" is for a module with a rope of its own.
  if (*plan.role == Role::kDraft && plan.model.mtp > 0) line += " (MTP layers turn as attention does)";
  return line;
}

// The line worth reading first: what sharing saves. Counted as plan_memory() counts: attention, and what else there is.
std::string headline(const Plan& plan) {
  std::map<Role, std::set<int>> layers;  // a layer can hold several ropes of a role
  for (const ModelRope& entry : plan.model.ropes) layers[entry.role].insert(entry.layers.begin(), entry.layers.end());
  std::map<Role, std::size_t> users;
  for (const auto& [role, which] : layers) users[role] = which.size();
  if (users.empty()) {
    return plan.role ? no_such_role(plan) : "no layer turns anything: there is no table to build";
  }
  std::map<Role, std::size_t> others;
  if (users.contains(Role::kAttention)) {
    others = users;
    others.erase(Role::kAttention);
    std::erase_if(users, [](const auto& entry) { return entry.first != Role::kAttention; });
  }
  std::string line = fmt::format("{} {} {}: {}", layers_text(users), total(users) == 1 ? "uses" : "share",
                                 counted(plan.memory.distinct_tables, "table"), bytes(plan.memory.shared_bytes));
  if (towers_only(plan)) return line;
  if (plan.context > 0) {
    line += fmt::format(" instead of {} (a cos/sin table per layer, {})", bytes(plan.memory.per_layer_bytes),
                        counted(static_cast<std::size_t>(plan.context), "position"));
  } else {
    line += " at any context length (the file names none; --context N compares with a table per layer)";
  }
  if (others.empty()) return line;
  const bool one = total(others) == 1;
  if (plan.memory.other_tables == 0) {
    return line + fmt::format("; {} {} {} too", layers_text(others), one ? "uses" : "share",
                              plan.memory.distinct_tables == 1 ? "it" : "them");
  }
  return line + fmt::format("; {} {} {} more: {}", layers_text(others), one ? "needs" : "need",
                            counted(plan.memory.other_tables, "table"), bytes(plan.memory.other_bytes));
}

std::string source_line(const Plan& plan) {
  const ModelRopes& model = plan.model;
  std::string line = fmt::format("{}: {}, {}, {}", model.path, model_format_name(model.format),
                                 architecture_text(model),
                                 counted(static_cast<std::size_t>(model.layers), "layer"));
  if (model.mtp > 0) line += fmt::format(" and {} for multi-token prediction", model.mtp);
  if (model.context > 0) line += fmt::format(", context {}", model.context);
  return printable(line);
}

std::string other_than_one(const Real& value) { return value == Real::one() ? "" : value.to_decimal(10); }

std::string short_key(const Rope& rope) {
  const auto key = table_key(rope);
  return key.ok() ? key->hex().substr(0, 8) : "-";
}

std::string ropes_text(const Plan& plan, const Style& style) {
  TextTable table({"layers", "role", "group", "head_dim", "rotary", "offset", "pairing", "theta", "scaling", "axes",
                   "magnitude", "softmax scale", "query scale", "output", "table"});
  for (const ModelRope& entry : plan.model.ropes) {
    const Rope& rope = entry.rope;
    std::string tables = short_key(rope);
    if (entry.beyond) {
      tables += fmt::format(", beyond {}: {}", entry.switch_length.value_or(0), short_key(*entry.beyond));
    }
    table.row({ranges(entry.layers), std::string(role_name(entry.role)),
               entry.group == "all" ? "" : printable(entry.group, kMaxWord),
               std::to_string(rope.head_dim), std::to_string(rope.rotary_dim),
               rope.rotary_offset == 0 ? "" : std::to_string(rope.rotary_offset),
               std::string(pairing_name(rope.pairing)), shortest(entry.config.theta),
               scaling_text(entry.config) + regime_text(entry.config, plan.length),
               axes_text(entry.config.axes), other_than_one(rope.magnitude),
               other_than_one(rope.softmax_scale_multiplier), query_scale_text(rope.query_scale),
               rope.inverse_on_output ? "turned back" : "", tables});
  }
  return plan.model.ropes.empty() ? "" : '\n' + table.text(style);
}

std::string notes_text(const char* what, const std::vector<KeyNote>& notes, const Style& style) {
  if (notes.empty()) return "";
  TextTable table({what, "value", "why"});
  for (const KeyNote& note : notes) {
    const bool cut = note.value.size() > kValueWidth;
    table.row({printable(note.key, kKeyWidth), cut ? note.value.substr(0, kValueWidth - 3) + "..." : note.value,
               note.reason});
  }
  return '\n' + table.text(style);
}

const char* noun(const std::vector<int>& layers) { return layers.size() == 1 ? "layer" : "layers"; }

std::string other_layers_text(const Plan& plan) {
  const ModelRopes& model = plan.model;
  std::string out;
  if (!plan.role && !model.layers_without_rope.empty()) {
    out += fmt::format("\n{} without rope: {}", noun(model.layers_without_rope), ranges(model.layers_without_rope));
    const std::string scale = query_scale_text(model.query_scale_without_rope);
    if (!scale.empty()) out += ", query scale " + scale;
    out += '\n';
  }
  std::set<std::string> said;  // several roles of a layer can have one row each
  for (const ModelRope& entry : model.ropes) {
    if (entry.mtp_layers.empty()) continue;
    const std::string line = fmt::format("\nMTP {}: {}, in the row of {} {}\n", noun(entry.mtp_layers),
                                         ranges(entry.mtp_layers), noun(entry.layers), ranges(entry.layers));
    if (said.insert(line).second) out += line;
  }
  return out;
}

}  // namespace

std::string plan_text(const Plan& plan, const Style& style) {
  std::string out = style.bold(headline(plan)) + '\n' + source_line(plan) + '\n';
  out += ropes_text(plan, style);
  out += other_layers_text(plan);
  out += notes_text("default taken", plan.model.defaults, style);
  out += notes_text("ignored", plan.model.ignored, style);
  if (!plan.model.warnings.empty()) out += '\n';
  return out + warning_lines(plan.model, "", style);
}

}  // namespace ropecache::cli
