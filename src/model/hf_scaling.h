// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// The rope parameters of one kind of layer: rope_scaling or rope_parameters, flat or the part for that kind.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/hf_family.h"
#include "model/hf_section.h"
#include "ropecache/rope.h"

namespace ropecache::model {

// What a scaling rule needs to know from outside its block.
struct ScalingContext {
  const Family* family = nullptr;  // nullptr: an unknown model type
  Section config;                  // the object around the block
  Section outer;                   // the nested block's parent, or nothing
  std::int64_t max_context = 0;    // max_position_embeddings; 0: unknown
};

// What a block says about the rope beside its scaling.
struct RopeBlock {
  Scaling scaling;
  std::string type = "default";      // the file's word
  std::optional<double> query_beta;  // llama_4_scaling_beta
  std::int64_t query_context = 0;
};

// Reads the scaling of a block and accounts for each of its keys. Keys that callers read themselves (rope_theta,
// partial_rotary_factor, sections) are left alone.
RopeBlock read_block(const Section& block, const ScalingContext& context);

}  // namespace ropecache::model
