// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "model/gguf_model.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "model/assemble.h"
#include "model/gguf_architectures.h"
#include "model/gguf_config.h"
#include "model/gguf_file.h"
#include "model/gguf_keys.h"
#include "model/gguf_layers.h"
#include "model/gguf_split.h"
#include "model/json.h"
#include "text.h"

namespace ropecache::model {
namespace {

std::string architecture_of(const GgufFile& file, const Audit& audit) {
  const auto found = file.metadata.find("general.architecture");
  const bool usable = found != file.metadata.end() && found->second.kind == GgufValue::Kind::kText &&
                      !found->second.text.empty() && found->second.text.size() <= 64;
  if (!usable) {
    audit.refuse(text("general.architecture: ", found == file.metadata.end() ? "missing" : found->second.json(),
                      ", expected the name of an architecture"));
  }
  const std::string& name = found->second.text;
  if (std::any_of(name.begin(), name.end(), [](char c) { return c <= 0x20 || c >= 0x7f; })) {
    audit.refuse(text("general.architecture: ", json_quote(name), ", expected printable ASCII"));
  }
  return name;
}

const GgufArchitecture& row_of(Audit& audit, ModelRopes& model) {
  if (const GgufArchitecture* row = find_gguf_architecture(model.architecture)) return *row;
  model.known_architecture = false;
  audit.warn(text("general.architecture: \"", model.architecture,
                  "\" is not known: its keys are read, but which elements pair (half is assumed) and which layers have "
                  "no rope is not in the file"));
  return unknown_gguf_architecture();
}

Result<ModelRopes> read(GgufFile file, std::string_view name, const std::string& path, const ReadOptions& options) {
  Audit audit;
  audit.name = name;
  const GgufSplit split = read_gguf_split(file, audit);
  require_first_part(split, audit);
  ModelRopes model;
  model.path = name;
  model.format = ModelFormat::kGguf;
  model.architecture = architecture_of(file, audit);
  audit.ledger.used("general.architecture", json_quote(model.architecture));
  const GgufArchitecture& row = row_of(audit, model);
  if (row.has(kVisionOnly)) {
    audit.refuse("general.architecture: \"" + model.architecture + "\", a projector whose rope is not in the metadata",
                 StatusCode::kUnsupported);
  }
  if (row.rope != GgmlRope::kNone && row.factors != Factors::kNever) merge_parts(split, path, audit, file);

  const GgufKeys keys(file, model.architecture, audit);
  const GgufLayers layers = read_gguf_layers(row, keys);
  model.layers = layers.decoder;
  model.mtp = layers.mtp;
  model.context = keys.integer("context_length", 0, std::int64_t{1} << 40).value_or(0);

  std::vector<LayerRope> ropes;
  if (std::find(layers.rotates.begin(), layers.rotates.end(), true) != layers.rotates.end()) {
    ropes = gguf_layer_ropes(row, keys, file, layers, model);
  }
  keys.warn_of_surplus(layers.all());
  keys.ignore_the_rest();
  audit.ledger.move_into(model);
  Status status = assemble(ropes, options, name, model);
  if (!status.ok()) return status;
  return model;
}

}  // namespace

Result<ModelRopes> read_gguf(const Bytes& bytes, std::string_view name, const std::string& path,
                             const ReadOptions& options) {
  try {
    Result<GgufFile> file = parse_gguf(bytes, name);
    if (!file.ok()) return file.status();
    return read(*std::move(file), name, path, options);
  } catch (const Refusal& refusal) {
    return refusal.status;
  }
}

}  // namespace ropecache::model
