// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// From a model file to the rope of each layer: Hugging Face config.json (transformers 4 and 5 forms), GGUF v2 and v3
// (split files too), Mistral's and Meta's params.json. Every rope-relevant key of the file is used, listed as ignored
// with the reason, or an error; every default that was taken is listed. Target ropecache::model.
//
// Hostile files are normal input: nothing is allocated by a number in the file, nothing is read past its end.
// Errors: kIo (cannot be read, is a directory without config.json, is a pipe), kParse (bytes that are not what the
// format promises), kInvalidArgument (a value no rope can have), kUnsupported. The text is one line and names file, key,
// value and what was expected.
// Thread safety: pure functions of the file's contents.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ropecache/rope.h"
#include "ropecache/status.h"

namespace ropecache {

// What a rope turns. A layer can hold one of each.
enum class Role : std::uint8_t {
  kAttention = 0,
  kIndexer = 1,          // sparse-attention indexer (DeepSeek-V3.2, GLM-5)
  kVision = 2,           // vision tower; layers are numbered in the tower
  kAudio = 3,            // audio tower; likewise
  kLinearAttention = 4,  // linear-attention layers that rotate (Ling linear)
  kDraft = 5,            // a draft model's or head's own rope, where it differs from the main one
};
std::string_view role_name(Role role) noexcept;                          // "attention", "indexer", "vision", ...
std::optional<Role> role_from_name(std::string_view name) noexcept;

enum class ModelFormat : std::uint8_t { kHfConfig = 0, kGguf = 1, kMistralParams = 2, kMetaParams = 3 };
std::string_view model_format_name(ModelFormat format) noexcept;         // "hf-config", "gguf", "mistral-params", ...

// A key of the file, dotted from its root ("text_config.rope_parameters.full_attention.rope_theta",
// "gemma3.rope.freq_base"), with its value as JSON text; in `ignored` and `defaults` also why.
struct KeyNote {
  std::string key;
  std::string value;
  std::string reason;
};

// One rope and the layers that use it.
struct ModelRope {
  Role role = Role::kAttention;
  std::string group;            // the file's word for these layers: "full_attention", "sliding_attention", "all", ...
  std::vector<int> layers;      // ascending; MTP layers follow the model's last one
  std::vector<int> mtp_layers;  // those of `layers` that are MTP layers
  RopeConfig config;
  Rope rope;                    // resolved for ReadOptions::length
  // A rule that changes by length (longrope): sequences longer than `switch_length` turn by `beyond` instead.
  // Absent when ReadOptions::length fixed the choice.
  std::optional<std::int64_t> switch_length;
  std::optional<Rope> beyond;
};

struct ModelRopes {
  std::string path;
  ModelFormat format = ModelFormat::kHfConfig;
  std::string architecture;       // model_type of the part that has the layers; GGUF: general.architecture
  bool known_architecture = true; // false: resolved by keys alone, with a warning
  int layers = 0;                 // decoder layers, without MTP
  int mtp = 0;                    // MTP layers, numbered layers .. layers + mtp - 1
  std::int64_t context = 0;       // the model's own maximum of positions, else its class's (a default); 0: not known
  std::vector<ModelRope> ropes;   // by first layer; attention before other roles
  std::vector<int> layers_without_rope;
  QueryScale query_scale_without_rope;  // Llama 4: the temperature of layers without a rope
  std::vector<KeyNote> used;
  std::vector<KeyNote> defaults;
  std::vector<KeyNote> ignored;
  std::vector<std::string> warnings;
};

struct ReadOptions {
  std::optional<std::int64_t> length;   // for rules that depend on the sequence's length
  std::optional<std::int64_t> context;  // overrides the model's own maximum where memory is counted; no frequency
};

// `path`: a file of any of the formats, told apart by contents, or a directory that holds config.json or params.json.
Result<ModelRopes> read_model(const std::string& path, const ReadOptions& options = {}) noexcept;

// The text of a config.json or params.json. `name` stands for the file in errors.
Result<ModelRopes> read_model_json(std::string_view text, std::string_view name, const ReadOptions& options = {}) noexcept;

// The bytes of a GGUF file (of its first part, when split); only metadata and the small rope tensors are looked at.
Result<ModelRopes> read_model_gguf(std::string_view bytes, std::string_view name, const ReadOptions& options = {}) noexcept;

// Counted at a context: what one fp32 cos/sin table per layer holds against the distinct tables of ropecache. Counted are
// the ropes of Role::kAttention, the model's own layers; where there are none, all. `other_*`: tables that only the other
// roles (towers, indexers) need.
struct MemoryPlan {
  std::size_t distinct_tables = 0;
  std::int64_t shared_bytes = 0;     // distinct exact tables
  std::int64_t per_layer_bytes = 0;  // layers x context x rotary_dim x 4
  std::size_t other_tables = 0;
  std::int64_t other_bytes = 0;
};
Result<MemoryPlan> plan_memory(const ModelRopes& model, std::int64_t context) noexcept;

}  // namespace ropecache
