// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// The angles of the profiles `fp32` and `ggml`: other people's fp32 arithmetic, step by step. Where they call powf or
// logf, whose last bit depends on the platform, the correctly rounded value is taken.
#pragma once

#include <cstddef>
#include <vector>

#include "ropecache/rope.h"

namespace ropecache {

// What ggml's rope_yarn() multiplies cos and sin by: attn_factor, and with an extrapolation factor
// 1 + 0.1 ln(1 / freq_scale) as well (ggml-cpu/ops.cpp, rope_yarn).
float ggml_magnitude(const GgmlRecipe& recipe);

// The constants of a GgmlRecipe, derived once.
class GgmlAngles {
 public:
  GgmlAngles(const GgmlRecipe& recipe, int pairs);

  // Angle of a pair at a position: the running product, divided by its factor, scaled, mixed by the YaRN ramp.
  float at(float position, std::size_t pair) const noexcept;

 private:
  GgmlRecipe recipe_;
  float theta_scale_ = 1;
  std::vector<float> ramp_;  // per pair: the share of the extrapolated angle
};

// fl(p * frequency), the position rounded to fp32 first (HF, torchtitan, Megatron, vLLM).
inline float fp32_angle(std::int64_t position, float frequency) noexcept {
  return static_cast<float>(position) * frequency;
}

}  // namespace ropecache
