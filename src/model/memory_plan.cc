// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <exception>
#include <limits>
#include <vector>

#include "ropecache/model.h"
#include "ropecache/table.h"
#include "table/exact_table.h"
#include "text.h"

namespace ropecache {
namespace {

Status count_table(const Rope& rope, std::vector<TableKey>& seen, MemoryPlan& plan) {
  Result<TableKey> key = table_key(rope);
  if (!key.ok()) return key.status();
  if (std::find(seen.begin(), seen.end(), *key) != seen.end()) return {};
  seen.push_back(*key);
  ++plan.distinct_tables;
  plan.shared_bytes += static_cast<std::int64_t>(ExactTable::bytes_for(rope.pairs()));
  return {};
}

// cos and sin in fp32 for every pair and position: rotary_dim floats a row.
std::int64_t table_per_layer(const ModelRope& rope, std::int64_t context) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const std::int64_t row = std::int64_t{4} * rope.config.rotary_dim;
  const auto layers = static_cast<std::int64_t>(rope.layers.size());
  if (row <= 0 || layers == 0 || context <= 0) return 0;
  return context > kMost / row / layers ? kMost : context * row * layers;
}

Result<MemoryPlan> plan(const ModelRopes& model, std::int64_t context) {
  if (context < 0) {
    return Status(StatusCode::kInvalidArgument, text("context ", context, ", expected a count of positions"));
  }
  MemoryPlan plan;
  std::vector<TableKey> seen;
  for (const ModelRope& rope : model.ropes) {
    Status status = count_table(rope.rope, seen, plan);
    if (status.ok() && rope.beyond) status = count_table(*rope.beyond, seen, plan);
    if (!status.ok()) return status;
    if (rope.role != Role::kAttention) continue;
    const std::int64_t bytes = table_per_layer(rope, context);
    if (bytes > std::numeric_limits<std::int64_t>::max() - plan.per_layer_bytes) {
      return Status(StatusCode::kInvalidArgument, text("context ", context, " counts more bytes than 63 bits hold"));
    }
    plan.per_layer_bytes += bytes;
  }
  return plan;
}

}  // namespace

Result<MemoryPlan> plan_memory(const ModelRopes& model, std::int64_t context) noexcept {
  try {
    return plan(model, context);
  } catch (const std::exception& error) {
    return Status(StatusCode::kOutOfMemory, "counting tables");
  }
}

}  // namespace ropecache
