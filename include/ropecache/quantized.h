// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Shift of cached keys that are stored in ggml's blocks: a block is dequantised, turned in fp32 and quantised again as ggml's
// reference does (llama.cpp, ggml/src/ggml-quants.c, quantize_row_q8_0_ref and quantize_row_q4_0_ref). Beside the exact
// result stands the rounding of the new block: at most half of its step for q8_0, a whole one for q4_0 (the end of the range
// away from the largest element is cut off), plus what fp16 rounds off its scale.
#pragma once

#include <cstdint>

#include "ropecache/rotate.h"

namespace ropecache {

enum class BlockType : std::uint8_t {
  kQ8_0 = 0,  // 34 bytes: fp16 scale, 32 int8
  kQ4_0 = 1,  // 18 bytes: fp16 scale, 16 bytes; element i is the low half of byte i, i + 16 the high one, each minus 8
};

// Head (t, h) starts at data + t * token_stride + h * head_stride, in bytes. head_dim is a multiple of 32 up to
// kMaxBlockHead. Non-owning.
struct BlockView {
  void* data = nullptr;
  BlockType type = BlockType::kQ8_0;
  std::int64_t tokens = 0;
  std::int64_t heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t token_stride = 0;
  std::int64_t head_stride = 0;
};
inline constexpr std::int64_t kMaxBlockHead = 2048;

// Keys in place, by rows of Use::kShift. Only blocks that hold turned elements are written. A block whose scale is not
// finite stays so. Thread safety, allocation, errors: as rotate().
Status rotate_shift(const Rows& rows, const Placement& placement, const BlockView& x, Part part = {}) noexcept;

}  // namespace ropecache
