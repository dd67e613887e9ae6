// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Which of a token's positions turns which pair, and with what operator of ggml.
#pragma once

#include "model/gguf_architectures.h"
#include "model/gguf_keys.h"
#include "ropecache/rope.h"

namespace ropecache::model {

struct GgufAxes {
  GgmlRope rope = GgmlRope::kNone;
  Axes axes;
};

// `rope`: what the architecture has without sections. `width`: elements that turn.
GgufAxes read_gguf_axes(const GgufArchitecture& row, const GgufKeys& keys, GgmlRope rope, int width);

}  // namespace ropecache::model
