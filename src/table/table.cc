// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "ropecache/table.h"

#include <algorithm>
#include <exception>

#include "table/dense_table.h"
#include "table/exact_table.h"
#include "table/key.h"
#include "text.h"

namespace ropecache {
namespace {

// Smallest and largest index a view touches; false when they do not fit in 64 bits.
bool index_range(const Positions& positions, int axis_count, std::int64_t& lowest, std::int64_t& highest) {
  std::int64_t along_tokens = 0, along_axes = 0;
  if (__builtin_mul_overflow(positions.tokens - 1, positions.token_stride, &along_tokens) ||
      __builtin_mul_overflow(static_cast<std::int64_t>(axis_count - 1), positions.axis_stride, &along_axes)) {
    return false;
  }
  return !__builtin_add_overflow(along_tokens < 0 ? along_tokens : 0, along_axes < 0 ? along_axes : 0, &lowest) &&
         !__builtin_add_overflow(along_tokens > 0 ? along_tokens : 0, along_axes > 0 ? along_axes : 0, &highest);
}

Status invalid(std::string message) { return Status(StatusCode::kInvalidArgument, message); }

// Without a branch for each: a step asks this of all its tokens.
template <class Integer>
void widen_range(const Integer* at, const Positions& positions, std::int64_t& smallest, std::int64_t& largest) {
  std::int64_t low = smallest, high = largest;
  for (std::int64_t token = 0; token < positions.tokens; ++token) {
    const std::int64_t position = at[token * positions.token_stride];
    low = std::min(low, position);
    high = std::max(high, position);
  }
  smallest = low;
  largest = high;
}

// The first position that is out of range.
Status out_of_range(const Positions& positions, int axis_count) {
  for (std::int64_t token = 0; token < positions.tokens; ++token) {
    for (int axis = 0; axis < axis_count; ++axis) {
      const std::int64_t position = positions.at(token, axis);
      if (position < -kMaxPosition || position > kMaxPosition) {
        return Status(StatusCode::kOutOfRange, text("positions: token ", token, " axis ", axis, " is ", position,
                                                    "; expected -2147483647 to 2147483647"));
      }
    }
  }
  return Status();
}

Status checked(const Positions& positions, int axis_count) {
  if (positions.tokens < 0) return invalid(text("positions: ", positions.tokens, " tokens; expected 0 or more"));
  if (positions.type != PositionType::kInt32 && positions.type != PositionType::kInt64) {
    return invalid("positions: unknown element type; expected int32 or int64");
  }
  if (positions.axes < axis_count) {
    return invalid(text("positions: ", positions.axes, " axes for a rope that turns by ", axis_count,
                        "; expected a view of ", axis_count, " (axis_stride 0 repeats one position on every axis)"));
  }
  if (positions.tokens == 0) return Status();
  if (positions.data == nullptr) return invalid("positions: null data");
  std::int64_t lowest = 0, highest = 0;
  if (!index_range(positions, axis_count, lowest, highest)) return invalid("positions: strides overflow 64 bits");
  if (positions.count >= 0 && (lowest < 0 || highest >= positions.count)) {
    return invalid(text("positions: ", positions.count, " values where ", positions.tokens, " tokens x ", axis_count,
                        " axes with these strides reach from ", lowest, " to ", highest));
  }
  std::int64_t smallest = 0, largest = 0;
  for (int axis = 0; axis < axis_count; ++axis) {
    if (positions.type == PositionType::kInt32) {
      widen_range(static_cast<const std::int32_t*>(positions.data) + axis * positions.axis_stride, positions, smallest, largest);
    } else {
      widen_range(static_cast<const std::int64_t*>(positions.data) + axis * positions.axis_stride, positions, smallest, largest);
    }
  }
  if (smallest < -kMaxPosition || largest > kMaxPosition) return out_of_range(positions, axis_count);
  return Status();
}

}  // namespace

std::string_view profile_name(Profile profile) noexcept {
  switch (profile) {
    case Profile::kExact: return "exact";
    case Profile::kFp32: return "fp32";
    case Profile::kGgml: return "ggml";
  }
  return "unknown";
}

Status check_positions(const Positions& positions, int axis_count) noexcept {
  try {
    return checked(positions, axis_count);
  } catch (const std::exception&) {
    return Status(StatusCode::kInvalidArgument, "positions: not valid");
  }
}

Table::Table(const Rope& rope, Profile profile, Use use, const TableKey& key)
    : axes_(rope.axes),
      key_(key),
      profile_(profile),
      use_(use),
      pairs_(rope.pairs()),
      axis_count_(used_axes(rope)),
      unit_magnitude_(table_magnitude(rope, profile, Use::kRotate) == Real::one()) {}

Status Table::rows(const Positions& positions, float* cos, float* sin) const noexcept {
  if (Status status = check_positions(positions, axis_count_); !status.ok()) return status;
  if (positions.tokens == 0) return Status();
  if (cos == nullptr || sin == nullptr) return Status(StatusCode::kInvalidArgument, "rows: null output");
  fill(positions, cos, sin);
  return Status();
}

Result<TableRef> build_table(const Rope& rope, Profile profile, Use use) noexcept {
  auto key = table_key(rope, profile, use);
  if (!key.ok()) return key.status();
  try {
    if (profile == Profile::kExact) return TableRef(std::make_shared<const ExactTable>(rope, use, *key));
    return TableRef(std::make_shared<const DenseTable>(rope, profile, use, *key));
  } catch (const std::exception&) {
    return Status(StatusCode::kOutOfMemory, text("no memory for a table of ", rope.pairs(), " pairs"));
  }
}

}  // namespace ropecache
