// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// What plan knows about a file before it is put into words or JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ropecache/model.h"
#include "ropecache/table.h"
#include "style.h"

namespace ropecache::cli {

struct Plan {
  ModelRopes model;  // ropes of the role asked for
  std::optional<Role> role;       // the one asked for; absent: all
  std::vector<Role> other_roles;  // that the file has beside it
  std::optional<std::int64_t> length;  // that rules which depend on it were resolved for
  std::int64_t context = 0;  // what memory is counted at; 0: neither the file nor the user says
  MemoryPlan memory;
};

// Towers and nothing else: their positions are those of a grid or a clip, so no context compares with their tables.
bool towers_only(const Plan& plan);

std::string plan_text(const Plan& plan, const Style& style);
Result<std::string> plan_json(const Plan& plan);

}  // namespace ropecache::cli
