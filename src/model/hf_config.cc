// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// config.json of Hugging Face: finds the towers, reads each, and accounts for every key.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/assemble.h"
#include "model/hf_family.h"
#include "model/hf_leftovers.h"
#include "model/hf_section.h"
#include "model/hf_tower.h"
#include "model/readers.h"
#include "text.h"

namespace ropecache::model {

namespace {

// Where a composite model keeps its decoder; "vlm_config" and "thinker_config" are composites themselves.
constexpr std::array<std::string_view, 7> kTextParts = {
    "text_config", "llm_config", "language_config", "vlm_config", "thinker_config", "decoder", "language_model_config"};
constexpr std::array<std::string_view, 3> kVisionParts = {"vision_config", "vision_tower_config", "visual"};
constexpr std::array<std::string_view, 2> kAudioParts = {"audio_config", "audio_encoder_config"};
constexpr int kMostNesting = 4;
constexpr std::size_t kMostArchitectures = 16;

constexpr Family kRopelessFamily = {.no_rope = true};

std::string read_type(const Section& section) { return section.has("model_type") ? *section.text("model_type") : ""; }

std::vector<std::string> read_architectures(const Section& section) {
  std::vector<std::string> names;
  const Json* list = section.peek("architectures");
  if (list == nullptr || !list->is_array()) return names;
  for (const Json& name : *list) {
    if (name.is_string() && names.size() < kMostArchitectures) names.push_back(name.get<std::string>());
  }
  return names;
}

const Family* family_of(std::span<const Family> rows, const std::string& type,
                        const std::vector<std::string>& architectures) {
  const Family* any = find_family(rows, type, "");
  for (const std::string& architecture : architectures) {
    const Family* row = find_family(rows, type, architecture);
    if (row != any) return row;
  }
  return any;
}

struct Named {
  Section section;
  std::string type;  // for the table
};

class Reader {
 public:
  Reader(const Json& file, std::string_view name, const ReadOptions& options) : file_(file), options_(options) {
    audit_.name = name;
    model_.path = name;
    model_.format = ModelFormat::kHfConfig;
  }

  ModelRopes read() {
    const Section root(&file_, "", &audit_);
    architectures_ = read_architectures(root);
    const std::string type = read_type(root);
    Named decoder{root, type};
    std::vector<Section> holders = {root};  // objects that may hold towers
    std::vector<const Composite*> composites = {find_composite(type)};
    descend(decoder, holders, composites);

    const bool tower_only = decoder.section.path().empty() && is_tower(type);
    if (!tower_only)
      read_decoder(decoder);
    else
      model_.architecture = type;
    for (std::size_t i = 0; i < holders.size(); ++i) {
      read_part(holders[i], kVisionParts, composites[i] ? composites[i]->vision : "", vision_families(), Role::kVision);
      read_part(holders[i], kAudioParts, composites[i] ? composites[i]->audio : "", text_families(), Role::kAudio);
    }
    if (tower_only) {
      const Family* family = family_of(vision_families(), type, {});
      if (family->no_rope && !family->note.empty()) refuse_unlisted(type, *family);
      add_tower(root, family, type, Role::kVision);
    }

    account_for_leftovers(file_, decoder.section.path(), !ropes_.empty(), audit_);
    finish();
    return std::move(model_);
  }

 private:
  static bool is_tower(const std::string& type) {
    return find_family(text_families(), type, "") == nullptr && find_family(vision_families(), type, "") != nullptr &&
           find_composite(type) == nullptr;
  }

  // Follows text_config and its like to the object that has the layers.
  static void descend(Named& at, std::vector<Section>& holders, std::vector<const Composite*>& composites) {
    for (int depth = 0; depth < kMostNesting; ++depth) {
      const Composite* composite = composites.back();
      const auto key = std::find_if(kTextParts.begin(), kTextParts.end(), [&](std::string_view part) {
        const Json* value = at.section.peek(part);
        // Encoder-decoder types have a "decoder" that is no part of a composite.
        return value != nullptr && value->is_object() && (part != "decoder" || composite != nullptr);
      });
      if (key == kTextParts.end()) break;
      const Section part = at.section.child(*key);
      const std::string stated = read_type(part);
      at = {part, !stated.empty() ? stated : composite != nullptr ? std::string(composite->text) : ""};
      holders.push_back(part);
      composites.push_back(find_composite(at.type));
    }
    // A composite without a part for its text is written flat (Qwen2-VL).
    const Composite* last = composites.back();
    if (last != nullptr && find_family(text_families(), at.type, "") == nullptr) at.type = last->text;
  }

  void read_decoder(const Named& decoder) {
    const std::string stated = read_type(decoder.section);
    model_.architecture = stated.empty() ? decoder.type : stated;
    std::vector<std::string> architectures = read_architectures(decoder.section);
    architectures.insert(architectures.end(), architectures_.begin(), architectures_.end());
    const Family* family = family_of(text_families(), decoder.type, architectures);
    if (family == nullptr && is_ropeless(decoder.type)) family = &kRopelessFamily;
    if (family == nullptr) {
      model_.known_architecture = false;
      audit_.warn(text("model_type ", decoder.type.empty() ? "(none)" : decoder.type,
                       " is not known; its rope is read from the keys alone"));
    }
    if (family != nullptr && !family->note.empty()) {
      if (family->no_rope) refuse_unlisted(decoder.type, *family);
      audit_.warn(text(decoder.type, ": ", family->note));
    }
    const Tower tower = add_tower(decoder.section, family, decoder.type, Role::kAttention);
    model_.layers = tower.layers;
    model_.mtp = tower.mtp;
    model_.context = tower.context;
    model_.query_scale_without_rope = tower.query_scale_without_rope;
  }

  // Of a model whose own rope cannot be described nothing is said; a tower beside a decoder is left out with a warning.
  [[noreturn]] void refuse_unlisted(std::string_view type, const Family& family) const {
    audit_.refuse(text("model_type ", type, ": ", family.note), StatusCode::kUnsupported);
  }

  void read_part(const Section& holder, std::span<const std::string_view> keys, std::string_view otherwise,
                 std::span<const Family> rows, Role role) {
    for (const std::string_view key : keys) {
      const Json* value = holder.peek(key);
      if (value == nullptr || !value->is_object()) continue;
      const Section part = holder.child(key);
      const std::string stated = read_type(part);
      const Family* family = stated.empty() ? nullptr : find_family(rows, stated, "");
      std::string type = stated;
      // Qwen's files name the whole model in vision_config; the table knows the tower's own type for sizes.
      if (family == nullptr || find_sizes(type) == nullptr) {
        if (!otherwise.empty()) type = otherwise;
        if (family == nullptr) family = find_family(rows, type, "");
      }
      if (family == nullptr) continue;  // a tower without a rope
      if (family->no_rope) {
        audit_.warn(text(part.path(), ": ", type, ": ", family->note));
        continue;
      }
      add_tower(part, family, type, role);
    }
  }

  Tower add_tower(const Section& section, const Family* family, std::string_view type, Role role) {
    Tower tower = read_tower(section, family, type, role);
    for (const LayerRope& rope : tower.ropes) {
      ropes_.push_back(rope);
      origins_.push_back(section.path());
    }
    return tower;
  }

  void finish() {
    audit_.ledger.move_into(model_);
    const Status status = assemble(ropes_, options_, audit_.name, model_);
    if (!status.ok()) throw Refusal{with_origin(status)};
  }

  // assemble() knows layers and groups; which object of the file they are from is known here.
  Status with_origin(const Status& status) const {
    std::string message = status.message();
    for (std::size_t i = 0; i < ropes_.size(); ++i) {
      if (origins_[i].empty() || resolve(ropes_[i].config, {options_.length}).ok()) continue;
      const std::string lead = audit_.name + ": ";
      if (message.rfind(lead, 0) == 0) message.insert(lead.size(), origins_[i] + ": ");
      break;
    }
    return Status(status.code(), one_line(message));
  }

  const Json& file_;
  const ReadOptions& options_;
  Audit audit_;
  ModelRopes model_;
  std::vector<std::string> architectures_;
  std::vector<LayerRope> ropes_;
  std::vector<std::string> origins_;
};

}  // namespace

Result<ModelRopes> read_hf_config(const nlohmann::ordered_json& config, std::string_view name,
                                  const ReadOptions& options) {
  try {
    return Reader(config, name, options).read();
  } catch (const Refusal& refusal) {
    return refusal.status;
  }
}

}  // namespace ropecache::model
