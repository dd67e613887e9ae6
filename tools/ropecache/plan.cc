// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "plan.h"

#include <algorithm>

#include "commands.h"

namespace ropecache::cli {

Result<Outcome> plan(const PlanOptions& options) {
  auto model = read_model(options.file, options.read);
  if (!model.ok()) return model.status();

  Plan plan;
  plan.model = std::move(*model);
  plan.all_roles = !options.role;
  if (options.role) {
    std::erase_if(plan.model.ropes, [&](const ModelRope& rope) { return rope.role != *options.role; });
  }
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
