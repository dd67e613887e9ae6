// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// The rope parameters of a tower, whichever way the file writes them: rope_scaling or rope_parameters, flat or nested
// by kind of layer, beside flat keys, or missing so that the model type's own hold.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/hf_family.h"
#include "model/hf_layers.h"
#include "model/hf_section.h"
#include "ropecache/rope.h"

namespace ropecache::model {

class Parameters {
 public:
  // `kinds`: the kinds of layers that rotate.
  Parameters(const Section& config, const Family* family, std::int64_t context, const std::vector<std::string>& kinds);

  // Base, scaling, pairing and query scale of a layer; nothing where the file says that its kind has no rope.
  std::optional<RopeConfig> rope(const Layer& layer) const;
  // The rope parameters of a kind of layer; nothing where the file says that it has no rope.
  std::optional<Section> block(std::string_view kind) const;
  // What the rope parameters call the layers of a kind: the kind, but "main" and "compress" in DeepSeek-V4.
  std::string label(std::string_view kind) const;
  // The pairing that `key` states, else `otherwise`.
  Pairing pairing(std::string_view key, Pairing otherwise) const;

 private:
  bool is_local(std::string_view kind) const;
  bool scaling_reaches(std::string_view kind) const;
  double theta(const Layer& layer, const Section& block) const;

  const Section config_;
  const Family* family_;
  std::int64_t context_;
  std::shared_ptr<const Json> preset_;  // what block_ points into where the class has its own
  Section block_;                       // the whole of rope_scaling or rope_parameters
  bool nested_ = false;
  std::vector<std::string> scaled_kinds_;  // yarn_only_types
};

}  // namespace ropecache::model
