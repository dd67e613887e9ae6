// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// What a kernel is given: one operand, checked already, in bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ropecache/half.h"
#include "ropecache/rope.h"
#include "rotate/rotate_ref.h"

namespace ropecache {

struct Work {
  const std::byte* in = nullptr;  // rotary part of head 0 of token 0
  std::byte* out = nullptr;
  std::int64_t in_token_stride = 0;  // bytes
  std::int64_t in_head_stride = 0;
  std::int64_t out_token_stride = 0;
  std::int64_t out_head_stride = 0;
  std::int64_t tokens = 0;
  std::int64_t heads = 0;
  std::size_t copy_before = 0;  // bytes in front of every rotary part to be copied, and behind it; 0 in place
  std::size_t copy_after = 0;
  std::int64_t pairs = 0;
  const float* cos = nullptr;  // [tokens, pairs]
  const float* sin = nullptr;
};

using Kernel = void (*)(const Work& work) noexcept;

// The loops around rotate_ref.h, without vectors.
Kernel scalar_kernel(DType dtype, Pairing pairing, ref::Turn turn) noexcept;

}  // namespace ropecache
