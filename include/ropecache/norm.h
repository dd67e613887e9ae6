// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// RMSNorm of each head and its rotation, in one pass over the data (Qwen3, Gemma 3, OLMo 2 norm queries and keys so).
//     partial sum j = sum of x^2 over elements j, j + 16, ... in order, j = 0 to 15; then j with j + 8, j + 4, j + 2, j + 1
//     scale = 1 / sqrt(sum / head_dim + eps)      y = (x * scale) * weight, rounded once to x's type
// in fp32, every operation rounded separately, on every target. norm_rotate() is rms_norm() then rotate(), bit for bit:
// the rotation reads y as it was rounded. Engines differ: Hugging Face rounds x * scale to the type before the weight,
// and Gemma's weight is 1 + w (hand in the sum).
//
// Thread safety, allocation, errors: as rotate().
#pragma once

#include "ropecache/rotate.h"

namespace ropecache {

struct RmsNorm {
  const float* weight = nullptr;  // [head_dim], read during the call; null: all 1
  float eps = 1e-6f;              // 0 or more, finite
};

// All elements of each head; in place or not.
Status rms_norm(const Operand& x, const RmsNorm& norm, Part part = {}) noexcept;

// Then turned by `rows` where `placement` says; elements outside the rotary part are normed only.
Status norm_rotate(const Rows& rows, const Placement& placement, const Operand& x, const RmsNorm& norm,
                   Part part = {}) noexcept;

// q and k in one call, as rotate() takes them.
Status norm_rotate(const Rows& rows, const Placement& placement, const Operand& q, const RmsNorm& q_norm,
                   const Operand& k, const RmsNorm& k_norm, Part part = {}) noexcept;

}  // namespace ropecache
