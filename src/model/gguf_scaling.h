// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// The scaling rule that a GGUF file asks for, so that frequencies and magnitude are in real arithmetic what llama.cpp
// puts on cos and sin in all. ggml's operator multiplies by 1 + 0.1 ln(factor) by itself and llama.cpp divides by it
// beforehand; what is left is what stands here.
#pragma once

#include <vector>

#include "model/gguf_architectures.h"
#include "model/gguf_file.h"
#include "model/gguf_keys.h"
#include "ropecache/rope.h"

namespace ropecache::model {

struct GgufScaling {
  Scaling full;                       // of full layers, and of sliding ones where the row says so
  double attn_factor = 1;             // rope.scaling.attn_factor
  double longrope_factor = 1;         // rope.scaling.factor beside a longrope: divides all frequencies
  std::int64_t original_context = 0;  // rope.scaling.original_context_length, else context_length; 0: neither
  std::vector<double> divisors;       // rope_freqs.weight
};

GgufScaling read_gguf_scaling(const GgufArchitecture& row, const GgufKeys& keys, const GgufFile& file,
                              std::int64_t context);

// No scaling, times a magnitude.
Scaling plain_with_magnitude(double magnitude);

}  // namespace ropecache::model
