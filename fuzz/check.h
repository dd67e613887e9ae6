// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// What must hold of every answer, whatever the input was. A broken promise traps, so that the fuzzer keeps the input.
#pragma once

#include <algorithm>
#include <cstdio>
#include <set>

#include "ropecache/model.h"
#include "ropecache/table.h"

namespace ropecache::fuzz {

inline void require(bool holds, const char* promise) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", promise);
  __builtin_trap();
}

inline void check_error(const Status& status) {
  require(!status.ok() && status.code() != StatusCode::kInternal, "bad input is never an internal error");
  require(!status.message().empty(), "an error says why");
  const bool one_line = std::none_of(status.message().begin(), status.message().end(),
                                     [](char c) { return static_cast<unsigned char>(c) < 0x20; });
  require(one_line, "an error is one line");
}

inline void check_rope(const Rope& rope) {
  require(rope.pairs() == rope.rotary_dim / 2, "one frequency for each pair");
  require(rope.axes.size() == rope.frequencies.size(), "one axis for each pair");
  for (const std::uint8_t axis : rope.axes) require(axis < rope.axis_count, "axes are counted");
  require(!rope.magnitude.is_zero(), "a magnitude is positive");
  require(rope.rotary_offset >= 0 && rope.rotary_dim <= rope.head_dim - rope.rotary_offset, "it turns within the head");
  const Result<TableKey> key = table_key(rope);
  require(key.ok() && !key->empty(), "every rope has a key");
}

inline void check_model(const Result<ModelRopes>& model) {
  if (!model.ok()) return check_error(model.status());
  std::multiset<int> layers(model->layers_without_rope.begin(), model->layers_without_rope.end());
  for (const ModelRope& rope : model->ropes) {
    check_rope(rope.rope);
    if (rope.beyond) check_rope(*rope.beyond);
    if (rope.role == Role::kAttention) layers.insert(rope.layers.begin(), rope.layers.end());
  }
  // Attention ropes and layers without one are every layer, each once.
  require(layers.size() == static_cast<std::size_t>(model->layers + model->mtp), "each layer has one answer");
  int expected = 0;
  for (const int layer : layers) require(layer == expected++, "layers are numbered from 0");
  require(plan_memory(*model, 4096).ok(), "every model has a memory plan");
}

}  // namespace ropecache::fuzz
