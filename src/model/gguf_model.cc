// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "model/gguf_model.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "model/assemble.h"
#include "model/gguf_architectures.h"
#include "model/gguf_config.h"
#include "model/gguf_file.h"
#include "model/gguf_keys.h"
#include "model/gguf_layers.h"
#include "model/json.h"
#include "text.h"

namespace ropecache::model {
namespace {

constexpr int kMaxParts = 99999;  // names of parts count with five digits

std::optional<int> split_value(const GgufFile& file, std::string_view key) {
  const auto found = file.metadata.find(key);
  if (found == file.metadata.end() || found->second.kind != GgufValue::Kind::kNumber) return std::nullopt;
  const double number = found->second.number;
  if (!(number >= 0 && number <= kMaxParts)) return std::nullopt;
  return static_cast<int>(number);
}

// "model-00001-of-00004.gguf" for part 0 of 4 of "model-00003-of-00004.gguf"; nothing for other names.
std::optional<std::string> part_name(std::string_view path, int part, int count) {
  const auto digits = [](int number) {
    const std::string tail = text(number);
    return std::string(5 - tail.size(), '0') + tail;
  };
  const std::string ending = "-of-" + digits(count) + ".gguf";
  if (!path.ends_with(ending) || path.size() < ending.size() + 6) return std::nullopt;
  const std::string_view stem = path.substr(0, path.size() - ending.size() - 5);
  if (!stem.ends_with('-')) return std::nullopt;
  return std::string(stem) + digits(part + 1) + ending;
}

Status refuse_later_part(const GgufFile& file, std::string_view name) {
  const int part = split_value(file, "split.no").value_or(0);
  if (part == 0) return {};
  const int count = split_value(file, "split.count").value_or(0);
  const auto first = part_name(name, 0, count);
  return Status(StatusCode::kInvalidArgument,
                text(name, ": split.no: ", part, ", expected part 0 of ", count, ", which holds the metadata",
                     first ? text(": ", *first) : std::string()));
}

// A split can put every tensor behind the first part. The rope tensors are then in the part after it.
void find_rope_tensors(const std::string& path, Audit& audit, GgufFile& file) {
  const int count = split_value(file, "split.count").value_or(1);
  if (count <= 1 || !file.rope_tensors.empty()) return;
  for (int part = 1; part < count; ++part) {
    const auto other = path.empty() ? std::nullopt : part_name(path, part, count);
    FileBytes bytes;
    Status status;
    if (!other || bytes.open(*other, status) != FileBytes::Kind::kFile) {
      audit.warn(text("part ", part + 1, " of ", count, " is not at hand: a rope tensor in it would be missed"));
      return;
    }
    Result<GgufFile> rest = parse_gguf(bytes, *other);
    if (!rest.ok()) throw Refusal{rest.status()};
    if (!rest->rope_tensors.empty()) {
      file.rope_tensors = std::move(rest->rope_tensors);
      return;
    }
  }
}

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
  if (row.rope != GgmlRope::kNone && row.factors != Factors::kNever) find_rope_tensors(path, audit, file);

  const GgufKeys keys(file, model.architecture, audit);
  const GgufLayers layers = read_gguf_layers(row, keys);
  model.layers = layers.decoder;
  model.mtp = layers.mtp;
  model.context = keys.integer("context_length", 0, std::int64_t{1} << 40).value_or(0);

  std::vector<LayerRope> ropes;
  if (std::find(layers.rotates.begin(), layers.rotates.end(), true) != layers.rotates.end()) {
    ropes = gguf_layer_ropes(row, keys, file, layers, model);
  }
  keys.ignore_the_rest();
  Status status = assemble(ropes, options, name, model);
  if (!status.ok()) return status;
  audit.ledger.move_into(model);
  return model;
}

}  // namespace

Result<ModelRopes> read_gguf(const Bytes& bytes, std::string_view name, const std::string& path,
                             const ReadOptions& options) {
  try {
    Result<GgufFile> file = parse_gguf(bytes, name);
    if (!file.ok()) return file.status();
    Status status = refuse_later_part(*file, name);
    if (!status.ok()) return status;
    return read(*std::move(file), name, path, options);
  } catch (const Refusal& refusal) {
    return refusal.status;
  }
}

}  // namespace ropecache::model
