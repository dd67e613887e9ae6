// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// The container of GGUF v2 and v3 (little-endian): metadata and the few small tensors that shape a rope. Counts and
// lengths in the file are checked against the bytes that are left before anything is sized by them.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/bytes.h"
#include "model/gguf_metadata.h"
#include "model/gguf_tensors.h"
#include "ropecache/status.h"

namespace ropecache::model {

struct GgufFile {
  GgufMetadata metadata;
  GgufTensors rope_tensors;
  std::uint64_t tensors = 0;  // of all kinds
};

// kParse: not what the format promises. kUnsupported: v1, big-endian, or a rope tensor of a quantised type.
Result<GgufFile> parse_gguf(const Bytes& bytes, std::string_view name);

}  // namespace ropecache::model
