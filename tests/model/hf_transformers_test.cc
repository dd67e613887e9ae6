// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Every rotary model type of transformers 5.24, measured (tests/data/transformers/ropes.json), against what the reader
// makes of the same configuration: frequencies, width, placement, pairing, and which layers rotate.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "model/hf_family.h"
#include "model/hf_layers.h"
#include "model/hf_test.h"

namespace ropecache {
namespace {

using hf_test::Json;
using model::Family;
using model::find_family;
using model::text_families;

const Json& facts() {
  static const Json json = hf_test::file_json("transformers/ropes.json");
  return json;
}

// Types left out, and why. Everything else that transformers can build is compared.
const std::map<std::string, std::string>& exceptions() {
  constexpr const char* kParts = "no object of the file is a decoder with layers of its own";
  constexpr const char* kReal = "turns by real-valued coordinates or times";
  constexpr const char* kOdd = "the class default rotates an odd width, which no checkpoint does and resolve() refuses";
  constexpr const char* kSections = "the class's default sections do not fit its default head; transformers fails too";
  static const std::map<std::string, std::string> kExceptions = {
      {"blt", kParts},
      {"chmv2", kParts},
      {"csm", "the depth decoder and the codec are models of their own"},
      {"clvp", "the width comes from projection_dim, and values are turned as well"},
      {"dinov3_vit", kReal},
      {"edgetam_video", "the rope belongs to the attention over a memory of images"},
      {"efficientloftr", kReal},
      {"eomt_dinov3", kReal},
      {"evolla", "the protein encoder is a model of its own"},
      {"glm46v", kSections},
      {"glm4_moe", kOdd},
      {"glm4v", kSections},
      {"glm4v_moe", kOdd},
      {"glm_image", kSections},
      {"glmga", kSections},
      {"hunyuan_vl_text",
       "transformers cuts the sections over elements, not pairs: the halves of a pair turn by two axes"},
      {"lasr_ctc", kParts},
      {"musicflamingo", kReal},
      {"neomme", "two axes and a width for each kind of layer"},
      {"nemo_speechlm", kParts},
      {"nemotron3_5_transcribe_audio", kParts},
      {"nemotron3_diarization", kParts},
      {"qwen2_5_omni", "the speech decoder is a model of its own"},
      {"qwen3_omni_moe_text", kOdd},
      {"qwen3_omni_moe_thinker", kOdd},
      {"sam2_video", "the rope belongs to the attention over a memory of images"},
      {"sam3", kParts},
      {"sam3_lite_text", kParts},
      {"sam3_tracker", kParts},
      {"sam3_tracker_video", "the rope belongs to the attention over a memory of images"},
      {"sam3_video", kParts},
      {"sam3_vision_model", kParts},
      {"sapiens2", kReal},
  };
  return kExceptions;
}

// Vision types whose first frequencies turn by columns: our axis 0 is their axis 1.
bool columns_first(const std::string& type) {
  static const std::set<std::string> kTypes = {"inkling2_vision", "kimi_k25_vision", "step3p5_vision"};
  return kTypes.contains(type);
}

std::vector<float> frequencies_of(const std::string& id) {
  const auto hex = facts()["frequencies"][id].get<std::string>();
  std::vector<float> out;
  for (std::size_t i = 0; i + 8 <= hex.size(); i += 8) {
    out.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(std::stoul(hex.substr(i, 8), nullptr, 16))));
  }
  return out;
}

// torch's pow and division are not correctly rounded: a few units in the last place lie between theirs and ours.
bool near(float ours, float theirs) {
  if (ours == theirs) return true;
  return std::fabs(ours - theirs) <= 4 * 1.2e-7f * std::fabs(theirs);
}

// What was measured of the function that applies the rope; a composite's part has it in the entry of its own type.
Json apply_of(const Json& theirs) {
  if (theirs.contains("apply") || !theirs.contains("of")) return theirs.value("apply", Json::object());
  const Json part = facts()["models"].value(theirs["of"].get<std::string>(), Json::object());
  for (const Json& rope : part.value("ropes", Json::array())) {
    if (rope.value("class", "") == theirs["class"] && rope.value("freqs", "") == theirs["freqs"]) {
      return rope.value("apply", Json::object());
    }
  }
  return Json::object();
}

bool same_frequencies(const Rope& rope, const Json& theirs) {
  const std::vector<float> frequencies = frequencies_of(theirs["freqs"].get<std::string>());
  if (frequencies.empty() || rope.fp32_frequencies.size() < frequencies.size()) return false;
  // `order` says which entry of the module's buffer a pair takes. An axial buffer serves each axis.
  const Json apply = apply_of(theirs);
  const std::vector<int> order = hf_test::parse_list(apply.value("order", ""));
  for (std::size_t i = 0; i < rope.fp32_frequencies.size(); ++i) {
    const std::size_t at = i < order.size() ? static_cast<std::size_t>(order[i]) : i % frequencies.size();
    if (at >= frequencies.size() || !near(rope.fp32_frequencies[i], frequencies[at])) return false;
  }
  return true;
}

std::string axes_text(const Rope& rope, bool swapped) {
  std::string text;
  for (const std::uint8_t axis : rope.axes) text += static_cast<char>('0' + (swapped ? 1 - axis : axis));
  return rope.axis_count == 1 ? "" : text;
}

int turning(const Rope& rope) {
  return 2 * static_cast<int>(std::count_if(rope.frequencies.begin(), rope.frequencies.end(),
                                            [](const Real& frequency) { return !frequency.is_zero(); }));
}

Role role_of(const std::string& name) {
  const auto role = role_from_name(name);
  EXPECT_TRUE(role) << name;
  return role.value_or(Role::kDraft);
}

// What of a measured module a rope of ours does not match; empty when it does.
std::string difference(const std::string& type, const ModelRope& ours, const Json& theirs) {
  if (theirs.contains("layer_type") && ours.group != "all" && ours.group != theirs["layer_type"].get<std::string>()) {
    return "group " + ours.group;
  }
  if (!same_frequencies(ours.rope, theirs)) return "frequencies";
  const double scaling = theirs.contains("scaling") ? theirs["scaling"].get<double>() : 1.0;
  if (std::fabs(ours.rope.magnitude.to_double() - scaling) > 1e-15) return "magnitude";
  const Json apply = apply_of(theirs);
  if (!apply.contains("pairing")) return "";
  if ((ours.config.pairing == Pairing::kHalf ? "half" : "interleaved") != apply["pairing"].get<std::string>())
    return "pairing";
  // Gemma 4's vision heads are two ropes, one for each half.
  const int halves = type == "gemma4_vision" || theirs.value("of", "") == "gemma4_vision" ? 2 : 1;
  if (halves * turning(ours.rope) != apply["turned"].get<int>()) return "turned " + std::to_string(turning(ours.rope));
  const std::string axes = axes_text(ours.rope, columns_first(type) || columns_first(theirs.value("of", "")));
  if (halves == 1 && apply.contains("axes") && axes != apply["axes"].get<std::string>()) return "axes " + axes;
  return "";
}

// What of a type's measured ropes the reader does not say; empty when it says all.
std::string rotation_difference(const std::string& type) {
  const Json& measured = facts()["models"][type];
  const auto result = hf_test::read(measured["config"]);
  if (!result.ok()) return result.status().message();
  if (!result->known_architecture) return "not a known type";
  for (const Json& theirs : measured["ropes"]) {
    if (!theirs.contains("freqs") || theirs["role"] == "compressor") continue;
    const Role role = role_of(theirs["role"].get<std::string>());
    // DeepSeek-V4's indexer holds both ropes and turns by the compressed one.
    if (role == Role::kIndexer && theirs["layer_type"] == "main") continue;
    std::string why = "no rope of role " + theirs["role"].get<std::string>();
    for (const ModelRope& ours : result->ropes) {
      // An encoder that is the whole model is that model's attention.
      if (ours.role != role && (ours.role != Role::kAttention || role == Role::kIndexer)) continue;
      why = difference(type, ours, theirs);
      if (why.empty()) break;
    }
    if (!why.empty()) return theirs["class"].get<std::string>() + ": " + why;
    // Other functions that turned by the same rope: the indexer's.
    for (const Json& also : theirs.value("also", Json::array())) {
      const bool found = std::any_of(result->ropes.begin(), result->ropes.end(), [&](const ModelRope& ours) {
        return (ours.config.pairing == Pairing::kHalf ? "half" : "interleaved") == also["pairing"].get<std::string>() &&
               turning(ours.rope) == also["turned"].get<int>();
      });
      if (!found) return also.dump();
    }
  }
  return "";
}

// Each module that turned something in a forward pass, layer by layer, is a role of ours with the same layers.
void expect_layers(const std::string& type) {
  const Json& measured = facts()["models"][type];
  const Json& layers = measured["layers"];
  const auto result = hf_test::read(measured["config"]);
  ASSERT_TRUE(result.ok()) << result.status().message();
  std::map<Role, std::set<int>> ours;
  std::set<std::vector<int>> slices;
  for (const ModelRope& rope : result->ropes) {
    for (const int layer : rope.layers) {
      if (rope.role != Role::kAttention || layer < result->layers) ours[rope.role].insert(layer);
    }
    slices.insert({rope.config.head_dim, rope.config.rotary_offset, rope.config.rotary_dim});
  }
  for (const auto& [path, numbers] : layers.items()) {
    if (!numbers.is_string() || path.find("compressor") != std::string::npos) continue;
    const std::vector<int> list = hf_test::parse_list(numbers.get<std::string>());
    const std::set<int> theirs(list.begin(), list.end());
    EXPECT_TRUE(std::any_of(ours.begin(), ours.end(), [&](const auto& role) { return role.second == theirs; })) << path;
  }
  const Json parts = layers.value("slices", Json::object());
  for (const auto& [path, list] : parts.items()) {
    if (path.find("compressor") != std::string::npos) continue;
    // A slice of q, k and v together, or of q with a gate, says nothing of one head.
    if (type == "gpt_neox" || type == "gpt_neox_japanese" || type == "axk2") continue;
    for (const Json& slice : list) EXPECT_TRUE(slices.contains(slice.get<std::vector<int>>())) << path << " " << slice;
  }
}

// A type's own keys in place of what the default configuration says.
Json without_ropes(const Json& config) {
  Json out = config;
  for (const char* key : {"rope_parameters", "rope_scaling", "rope_theta", "layer_rope_theta"}) out.erase(key);
  return out;
}

// An older file's keys mean what the class makes of them.
void expect_folds(const std::string& type) {
  const Json& measured = facts()["models"][type];
  const std::map<std::string, Json> files = {
      {"theta", {{"rope_theta", 777.0}}},
      {"linear", {{"rope_scaling", {{"type", "linear"}, {"factor", 4.0}}}}},
  };
  for (const auto& [name, keys] : files) {
    const Json folded = measured.value("folds", Json::object()).value(name, Json());
    if (!folded.is_object() || measured["config"].contains("text_config")) continue;
    // The one class that forgets the sliding layers' base when rope_scaling is there.
    if (type == "dots3_note_text" && name == "linear") continue;
    // These were measured with a partial factor that is not a default of the class.
    if (type == "glm4v_text" || type == "glm_image_text") continue;
    SCOPED_TRACE(name);
    Json file = without_ropes(measured["config"]);
    file.update(keys);
    const auto result = hf_test::read(file);
    ASSERT_TRUE(result.ok()) << result.status().message();
    for (const ModelRope& rope : result->ropes) {
      if (rope.role != Role::kAttention) continue;
      const bool nested = folded.contains(rope.group);
      if (!nested && !folded.contains("rope_theta")) continue;
      const Json& block = nested ? folded[rope.group] : folded;
      EXPECT_EQ(rope.config.theta, block["rope_theta"].get<double>()) << rope.group;
      const bool linear = std::holds_alternative<LinearScaling>(rope.config.scaling);
      EXPECT_EQ(linear, block.value("rope_type", "") == "linear" || block.value("type", "") == "linear") << rope.group;
    }
  }
}

std::vector<std::string> rotary_types() {
  std::vector<std::string> types;
  for (const auto& [type, model] : facts()["models"].items()) {
    if (model.contains("ropes") && !exceptions().contains(type)) types.push_back(type);
  }
  return types;
}

// Those of them that a forward pass was possible for.
std::vector<std::string> run_types() {
  static const std::map<std::string, std::string> kOtherwise = {
      {"dia", "the encoder is another stack than the decoder"},
      {"hrm_text", "one stack of layers is run as two modules"},
      {"dory", "transformers counts an attention and an MLP of the file as one layer"},
  };
  std::vector<std::string> types;
  for (const std::string& type : rotary_types()) {
    const Json layers = facts()["models"][type].value("layers", Json::object());
    if (!layers.empty() && !layers.contains("error") && !kOtherwise.contains(type)) types.push_back(type);
  }
  return types;
}

TEST(HfTransformers, RotateAsMeasured) {
  const std::vector<std::string> types = rotary_types();
  EXPECT_GT(types.size(), 300u);
  for (const std::string& type : types) {
    SCOPED_TRACE(type);
    EXPECT_EQ(rotation_difference(type), "");
  }
}

TEST(HfTransformers, TurnTheLayersMeasured) {
  const std::vector<std::string> types = run_types();
  EXPECT_GT(types.size(), 200u);
  for (const std::string& type : types) {
    SCOPED_TRACE(type);
    expect_layers(type);
  }
}

TEST(HfTransformers, FoldOlderKeys) {
  for (const std::string& type : rotary_types()) {
    SCOPED_TRACE(type);
    expect_folds(type);
  }
}

// The kinds of 24 layers that a class derives, letter by letter, for the types whose kinds make a difference.
TEST(HfTransformers, KindsAreThoseOfTheClass) {
  static const std::map<std::string, char> kLetters = {
      {"full_attention", 'F'}, {"sliding_attention", 'S'}, {"linear_attention", 'L'}, {"conv", 'C'},
      {"hybrid", 'H'},         {"indexed_attention", 'I'},
  };
  int compared = 0;
  for (const auto& [type, model] : facts()["models"].items()) {
    const Family* family = find_family(text_families(), type, "");
    if (!model.contains("layer_types_24") || family == nullptr || family->cycle.empty()) continue;
    if (family->list == model::ListRule::kCompressRatios) continue;  // kinds by ratio only
    if (type == "bamba") continue;  // the class's own attn_layer_indices are for its own 32 layers
    SCOPED_TRACE(type);
    Json file = model["config"];
    for (const char* key : {"layer_types", "layers_block_type", "full_attn_idxs", "attn_layer_indices",
                            "per_layer_config", "layer_rope_theta"}) {
      file.erase(key);
    }
    file["num_hidden_layers"] = 24;
    model::Audit audit{"config.json", {}, {}};
    model::Layers layers;
    try {
      layers = model::read_layers(model::Section(&file, "", &audit), family, nullptr, false);
    } catch (const model::Refusal& refusal) {
      ADD_FAILURE() << refusal.status.message();
    }
    std::string letters;
    for (const model::Layer& layer : layers.all)
      letters += kLetters.contains(layer.kind) ? kLetters.at(layer.kind) : '?';
    EXPECT_EQ(letters, model["layer_types_24"].get<std::string>());
    ++compared;
  }
  EXPECT_GT(compared, 30);
}

// Where the reader deliberately does not do as transformers 5.24 does: a model type, what its file holds, why.
struct Deviation {
  std::string type;
  std::string part;
  std::string reason;
};
const std::vector<Deviation>& deviations() {
  static const std::vector<Deviation> kDeviations = {
      {"llama", R"("rope_theta":null)", "null is read as absent; transformers fails"},
      {"llama", R"("original_max_position_embeddings":null)", "null is read as absent; transformers fails"},
      {"llama", R"("type":"mrope")", "a spelling of older files; transformers fails for all but two types"},
      {"qwen3_vl_text", R"("type":"mrope")", "a spelling of older files; transformers fails for all but two types"},
      {"llama", R"("partial_rotary_factor":0.5,"rope_scaling":{"type":"linear")",
       "transformers builds a table of half the "
       "width and then fails to apply it: the type turns whole heads"},
      {"llama", R"("full_attention":{"rope_theta":5.0})", "transformers does not see the nested block and takes 10000"},
      {"olmo3", R"("rope_theta":777.0)",
       "transformers gives sliding layers the class default in place of the file's base"},
      {"gemma3_text", R"("rope_parameters":{"rope_type":"linear")",
       "transformers does not read a flat rope_parameters here"},
      {"gemma3_text", R"("rope_scaling":{"type":"linear")",
       "transformers reads rope_type only here and drops the scaling"},
      {"modernbert", R"("rope_scaling":{"type":"linear")",
       "transformers reads rope_type only here and drops the scaling"},
      {"phi3", R"("original_max_position_embeddings":8192})", "transformers overwrites the file's length by 4096"},
      {"phi3", R"("type":"su")", "transformers asks for a second original_max_position_embeddings inside"},
      {"phi3", R"("type":"linear")", "transformers refuses every type but longrope here"},
      {"deepseek_v3", R"("head_dim":192)", "qk_rope_head_dim says what turns; GLM-5's files carry another head_dim"},
      {"bamba", R"("partial_rotary_factor":1.0)", "no layer of this file attends"},
      {"deepseek_v4", R"("rope_theta":777.0)", "no layer of this file uses the main rope"},
  };
  return kDeviations;
}

const Deviation* deviation_of(const Json& rule) {
  const std::string file = rule["file"].dump();
  const auto found = std::find_if(deviations().begin(), deviations().end(), [&](const Deviation& deviation) {
    return rule["model_type"] == deviation.type && file.find(deviation.part) != std::string::npos;
  });
  return found == deviations().end() ? nullptr : &*found;
}

// Small files, each given to a class of transformers: the frequencies that came of it, or that nothing did.
std::string rule_difference(const Json& rule) {
  Json file = rule["file"];
  file["model_type"] = rule["model_type"];
  const auto result = hf_test::read(file);
  if (rule.contains("error")) return result.ok() ? "transformers: " + rule["error"].get<std::string>() : "";
  if (!result.ok()) return result.status().message();
  for (const Json& theirs : rule["ropes"]) {
    std::string why = "no rope";
    for (const ModelRope& ours : result->ropes) {
      why = difference("", ours, theirs);
      if (why.empty()) break;
    }
    if (!why.empty()) return theirs.dump() + ": " + why;
  }
  return "";
}

TEST(HfTransformers, SmallFilesGiveTheMeasuredFrequencies) {
  std::size_t compared = 0;
  for (const Json& rule : facts()["rules"]) {
    if (deviation_of(rule) != nullptr) continue;
    EXPECT_EQ(rule_difference(rule), "") << rule["model_type"] << " " << rule["file"];
    ++compared;
  }
  EXPECT_GT(compared, 50u);
}

// An exception that is no longer needed would hide what breaks later.
TEST(HfTransformers, EveryExceptionIsNeeded) {
  for (const auto& [type, reason] : exceptions()) {
    ASSERT_TRUE(facts()["models"].contains(type)) << type;
    EXPECT_NE(rotation_difference(type), "") << type << ": " << reason;
  }
  std::set<const Deviation*> needed;
  for (const Json& rule : facts()["rules"]) {
    const Deviation* deviation = deviation_of(rule);
    if (deviation != nullptr && !rule_difference(rule).empty()) needed.insert(deviation);
  }
  for (const Deviation& deviation : deviations()) {
    EXPECT_TRUE(needed.contains(&deviation)) << deviation.type << " " << deviation.part << ": " << deviation.reason;
  }
}

}  // namespace
}  // namespace ropecache
