// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// The layers of a tower: how many, of which kind each is, and which of them rotate.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/hf_family.h"
#include "model/hf_section.h"

namespace ropecache::model {

struct Layer {
  std::string kind;  // "full_attention", ...; "all" where the file and the type make no difference
  bool rotates = true;
  std::optional<double> theta;    // a base of its own (lists with one entry per layer)
  std::optional<double> partial;  // likewise
  std::string own;                // its key in per_layer_config; empty: none
  bool indexes = true;            // has an indexer of its own, where the type has indexers
};

struct Layers {
  int count = 0;  // without MTP
  int mtp = 0;
  std::vector<Layer> all;  // count + mtp of them
};

// `family` nullptr: an unknown type, read by its keys alone. `decoder`: there is at least one layer, and
// MTP layers may follow.
Layers read_layers(const Section& config, const Family* family, const Sizes* sizes, bool decoder);

}  // namespace ropecache::model
