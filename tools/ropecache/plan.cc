// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "plan.h"

#include <algorithm>

#include "commands.h"

namespace ropecache::cli {

namespace {

bool is_tower(Role role) { return role == Role::kVision || role == Role::kAudio; }

// Of which part of the file a key speaks: the name of a tower stands in its path.
bool speaks_of(Role role, std::string_view key) {
  const auto names = [&](std::string_view word) { return key.find(word) != std::string_view::npos; };
  const bool vision = names("vision") || names("visual");
  const bool audio = names("audio");
  if (role == Role::kVision) return vision;
  if (role == Role::kAudio) return audio;
  return !vision && !audio;
}

// Leaves the ropes of one role, and what the file says of them.
void keep_role(Role role, Plan& plan) {
  ModelRopes& model = plan.model;
  for (const ModelRope& rope : model.ropes) {
    const auto& found = plan.other_roles;
    if (rope.role != role && std::find(found.begin(), found.end(), rope.role) == found.end()) {
      plan.other_roles.push_back(rope.role);
    }
  }
  std::erase_if(model.ropes, [&](const ModelRope& rope) { return rope.role != role; });
  // Where the file is one part, its keys name none.
  const bool parts = std::any_of(plan.other_roles.begin(), plan.other_roles.end(),
                                 [&](Role other) { return is_tower(other) != is_tower(role) || is_tower(role); });
  if (!parts) return;
  for (auto* notes : {&model.used, &model.defaults, &model.ignored}) {
    std::erase_if(*notes, [&](const KeyNote& note) { return !speaks_of(role, note.key); });
  }
}

}  // namespace

bool towers_only(const Plan& plan) {
  const auto& ropes = plan.model.ropes;
  return !ropes.empty() && std::all_of(ropes.begin(), ropes.end(), [](const ModelRope& rope) { return is_tower(rope.role); });
}

Result<Outcome> plan(const PlanOptions& options) {
  auto model = read_model(options.file, options.read);
  if (!model.ok()) return model.status();

  Plan plan;
  plan.model = std::move(*model);
  plan.role = options.role;
  plan.length = options.read.length;
  if (options.role) keep_role(*options.role, plan);
  plan.context = options.read.context.value_or(plan.model.context);
  auto memory = plan_memory(plan.model, plan.context);
  if (!memory.ok()) return memory.status();
  plan.memory = *memory;

  if (!options.json) return Outcome{kHolds, plan_text(plan, options.style)};
  auto json = plan_json(plan);
  if (!json.ok()) return json.status();
  return Outcome{kHolds, std::move(*json)};
}

}  // namespace ropecache::cli
