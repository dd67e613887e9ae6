// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// New keys turned and written straight into their slots of a cache, values beside them. A slot is not a position
// (contract 7): rows say how a key turns, the slot map where it goes.
//
// Thread safety, allocation, errors: as rotate(). Nothing is written when anything is wrong.
#pragma once

#include "ropecache/positions.h"
#include "ropecache/rotate.h"

namespace ropecache {

// The slot of each token; below 0: the token is left out (padding). Two tokens of one slot: the later one stays, unless
// parts of a call write them, which leaves either. Non-owning.
struct SlotMap {
  const void* data = nullptr;
  PositionType type = PositionType::kInt32;
  std::int64_t tokens = 0;

  static SlotMap of(const std::int32_t* data, std::int64_t tokens) noexcept { return {data, PositionType::kInt32, tokens}; }
  static SlotMap of(const std::int64_t* data, std::int64_t tokens) noexcept { return {data, PositionType::kInt64, tokens}; }
};

// Views whose `tokens` are slots. A type equal to what is written, or bf16 or f16 for fp32: narrowed once, after turning.
struct KvCache {
  TensorView k;
  TensorView v;  // heads == 0: keys only
};

// rotate() of k, narrowed to the cache's type and copied to its slots, and v narrowed and copied likewise, bit for bit.
// v may have its own number of heads and head_dim, equal to those of the cache; with cache.v.heads == 0 it is not read.
// kOutOfRange: a slot that the cache does not have.
Status rotate_into_cache(const Rows& rows, const Placement& placement, const TensorView& k, const TensorView& v,
                         const SlotMap& slots, const KvCache& cache, Part part = {}) noexcept;

}  // namespace ropecache
