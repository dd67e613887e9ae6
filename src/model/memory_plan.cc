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

// Adds the tables of a rope that are not among those seen.
Status count_tables(const ModelRope& rope, std::vector<TableKey>& seen, std::size_t& tables, std::int64_t& bytes) {
  for (const Rope* one : {&rope.rope, rope.beyond ? &*rope.beyond : nullptr}) {
    if (one == nullptr) continue;
    Result<TableKey> key = table_key(*one);
    if (!key.ok()) return key.status();
    if (std::find(seen.begin(), seen.end(), *key) != seen.end()) continue;
    seen.push_back(*key);
    ++tables;
    bytes += static_cast<std::int64_t>(ExactTable::bytes_for(one->pairs()));
  }
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
  const bool has_attention = std::any_of(model.ropes.begin(), model.ropes.end(),
                                         [](const ModelRope& rope) { return rope.role == Role::kAttention; });
  const auto counts = [&](const ModelRope& rope) { return !has_attention || rope.role == Role::kAttention; };
  MemoryPlan plan;
  std::vector<TableKey> seen;
  for (const ModelRope& rope : model.ropes) {
    if (!counts(rope)) continue;
    Status status = count_tables(rope, seen, plan.distinct_tables, plan.shared_bytes);
    if (!status.ok()) return status;
    const std::int64_t bytes = table_per_layer(rope, context);
    if (bytes > std::numeric_limits<std::int64_t>::max() - plan.per_layer_bytes) {
      return Status(StatusCode::kInvalidArgument, text("context ", context, " counts more bytes than 63 bits hold"));
    }
    plan.per_layer_bytes += bytes;
  }
  for (const ModelRope& rope : model.ropes) {
    if (counts(rope)) continue;
    Status status = count_tables(rope, seen, plan.other_tables, plan.other_bytes);
    if (!status.ok()) return status;
  }
  return plan;
}

}  // namespace

Result<MemoryPlan> plan_memory(const ModelRopes& model, std::int64_t context) noexcept {
  try {
    return plan(model, context);
  } catch (const std::exception&) {
    return Status(StatusCode::kOutOfMemory, "counting tables");
  }
}

}  // namespace ropecache
