// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Positions: a typed view of the rotary positions of some tokens. A rotary position is not a KV-cache slot.
#pragma once

#include <cstdint>

#include "ropecache/status.h"

namespace ropecache {

// Every table in profile `exact` answers -kMaxPosition to kMaxPosition.
inline constexpr std::int64_t kMaxPosition = 2147483647;

enum class PositionType : std::uint8_t { kInt32 = 0, kInt64 = 1 };

// Value (token, axis) stands at data[token * token_stride + axis * axis_stride], strides in elements. Section-major
// M-RoPE buffers ([t x N][h x N][w x N]) have token_stride 1 and axis_stride N, and keep axis_stride N when a
// sub-batch is cut out of them. A rope of several axes needs a view of as many; axis_stride 0 says "equal ids on all
// axes" (plain text) without a copy.
struct Positions {
  const void* data = nullptr;
  PositionType type = PositionType::kInt32;
  std::int64_t tokens = 0;
  int axes = 1;
  std::int64_t token_stride = 1;
  std::int64_t axis_stride = 0;
  std::int64_t count = -1;  // elements behind data, when the caller knows; checked against the strides. -1: unknown

  static Positions of(const std::int32_t* data, std::int64_t tokens) noexcept {
    return {data, PositionType::kInt32, tokens, 1, 1, 0, tokens};
  }
  static Positions of(const std::int64_t* data, std::int64_t tokens) noexcept {
    return {data, PositionType::kInt64, tokens, 1, 1, 0, tokens};
  }

  std::int64_t at(std::int64_t token, int axis) const noexcept {
    const std::int64_t index = token * token_stride + axis * axis_stride;
    return type == PositionType::kInt32 ? static_cast<const std::int32_t*>(data)[index]
                                        : static_cast<const std::int64_t*>(data)[index];
  }
};

}  // namespace ropecache
