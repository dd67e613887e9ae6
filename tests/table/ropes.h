// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Ropes for the tests of tables, made by hand so that these tests depend on no scaling rule.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>

#include "rope/wide.h"
#include "ropecache/rope.h"

namespace ropecache::testing_ropes {

inline Rope plain(double theta, int rotary_dim, double magnitude = 1.0) {
  Rope rope;
  rope.head_dim = rope.rotary_dim = rotary_dim;
  const int pairs = rotary_dim / 2;
  for (int i = 0; i < pairs; ++i) {
    const Wide frequency = pow(Wide::decimal(theta), -divided(Wide(i), static_cast<std::uint64_t>(pairs)));
    rope.frequencies.push_back(frequency.to_real());
    rope.fp32_frequencies.push_back(frequency.to_float());
  }
  rope.axes.assign(static_cast<std::size_t>(pairs), 0);
  rope.magnitude = Wide::decimal(magnitude).to_real();
  rope.fp32_magnitude = static_cast<float>(magnitude);
  GgmlRecipe ggml;
  ggml.n_dims = rotary_dim;
  ggml.freq_base = static_cast<float>(theta);
  ggml.attn_factor = static_cast<float>(magnitude);
  ggml.n_ctx_orig = 4096;
  rope.ggml = ggml;
  return rope;
}

// Pair i turns by axis i % axes.
inline Rope with_axes(Rope rope, int axes) {
  for (std::size_t i = 0; i < rope.axes.size(); ++i) rope.axes[i] = static_cast<std::uint8_t>(static_cast<int>(i) % axes);
  rope.axis_count = axes;
  return rope;
}

// Positions of every size: uniform in the number of bits, either sign.
inline std::int64_t random_position(std::mt19937_64& random) {
  const int bits = static_cast<int>(random() % 31) + 1;
  const auto size = static_cast<std::int64_t>(random() & ((std::uint64_t{1} << bits) - 1));
  return (random() & 1u) != 0 ? size : -size;
}

}  // namespace ropecache::testing_ropes
