// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// What plan knows about a file before it is put into words or JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ropecache/model.h"
#include "ropecache/table.h"
#include "style.h"

namespace ropecache::cli {

struct Plan {
  ModelRopes model;  // ropes of the role asked for
  bool all_roles = true;
  std::int64_t context = 0;  // what memory is counted at; 0: neither the file nor the user says
  MemoryPlan memory;
};

std::string plan_text(const Plan& plan, const Style& style);
Result<std::string> plan_json(const Plan& plan);

}  // namespace ropecache::cli
