// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// What a model type's code does that its config.json does not say: one row per type. Rows hold data only; a rule that
// a few types share is an enum value with one small function behind it.
//
// Facts are from transformers 5.24 (configuration_*.py, modeling_*.py) unless a row's comment names another source.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "ropecache/model.h"

namespace ropecache::model {

// How wide a head is and where the turning part stands in it.
enum class HeadRule : std::uint8_t {
  kPlain = 0,    // head_dim, else hidden / heads; the first int(head_dim * partial) elements turn
  kDerived = 1,  // hidden / heads, whatever head_dim says
  kDoubled = 2,  // 2 hidden / heads (attention on two streams side by side)
  kMla = 3,      // qk_nope_head_dim elements that stand still, then qk_rope_head_dim that turn
  kTail = 4,     // the last qk_rope_head_dim (or head_dim * partial) elements of head_dim turn
};

// A key with one entry per layer that names layers' kinds, for files without layer_types.
enum class ListRule : std::uint8_t {
  kNone = 0,
  kNames = 1,          // names of kinds; a list shorter than the decoder repeats
  kOneIsSliding = 2,   // 1: sliding, 0: full
  kFullIndices = 3,    // the layers that attend; the others are linear
  kCompressRatios = 4, // 0: sliding, 4: compressed and sparse, more: heavily compressed
  kOneIsFull = 5,      // 1: full, 0: linear
};

// Layers that are left without a rope although they attend.
enum class NopeRule : std::uint8_t {
  kNone = 0,
  kFull = 1,             // full attention does not rotate
  kFullWhereWindow = 2,  // ... but without a sliding window every layer rotates
  kNoRopeLayers = 3,     // no_rope_layers, 1 = rope; else every no_rope_layer_interval-th does not
  kZeroTheta = 4,        // layer_rope_theta, 0 = no rope; other values are not used as a base
  kThetaList = 5,        // layer_rope_theta, 0 = no rope, else the layer's base
  kFullButDense = 6,     // as kFull, but the first (dense) layers rotate whatever they are
  kCrossAttention = 7,   // the layers of cross_attention_layers look at an image
};

enum class AxesRule : std::uint8_t {
  kSingle = 0,
  kSectioned = 1,
  kInterleaved = 2,
  kErnie = 3,
  kAxial = 4,        // vision: rows, then columns, half of the pairs each
  kAlternating = 5,  // vision: even frequencies turn by rows, odd ones by columns
  kHalves = 6,       // vision: a rope for each half of the head, rows then columns
  kThirds = 7,       // vision: time, rows, columns
  kAxialPairs = 8,   // vision: columns and rows alternate pair by pair, each with frequencies of its own
};

// The rope of a sparse-attention indexer: of index_head_dim elements as many as attention turns.
enum class IndexerRule : std::uint8_t {
  kNone = 0,
  kHalf = 1,             // the first elements, half pairing
  kInterleaved = 2,      // the first elements, interleaved unless indexer_rope_interleave is false
  kHalfTail = 3,         // the last elements
  kInterleavedTail = 4,  // the last elements, with the compressed rope (DeepSeek-V4)
};

enum class QueryRule : std::uint8_t {
  kNone = 0,
  kScalingBeta = 1,        // llama_4_scaling_beta of the rope parameters
  kTemperatureOfNope = 2,  // attn_scale, floor_scale: layers without a rope (Llama 4)
};

// Type-specific readings of the scaling block.
enum class ScalingRule : std::uint8_t {
  kStandard = 0,
  kPhi3 = 1,          // "su" and "yarn" are old names of longrope; original_max_position_embeddings is 4096 by itself
  kPhiMoe = 2,        // longrope whose magnitude is short_mscale / long_mscale
  kOnFullOnly = 3,    // a flat block scales full attention only; sliding layers have their own base, unscaled
  kOnCompressed = 4,  // a flat block belongs to the compressed rope (DeepSeek-V4); its magnitude is 1
};

struct Family {
  std::string_view type = {};          // model_type
  std::string_view architecture = {};  // the row is for files whose `architectures` names this one; empty: any
  Role role = Role::kAttention;
  Pairing pairing = Pairing::kHalf;
  std::string_view pairing_key = {}; // true: interleaved, false: half
  double theta = 10000;
  std::string_view theta_key = {};   // what this type calls rope_theta
  bool theta_key_only = false;       // ... and rope_theta beside the block is not read
  std::string_view theta_factor_key = {};  // a factor on the base instead of a base
  double partial = 0;                // default of partial_rotary_factor; 0: the key is not read, the whole head turns
  bool partial_fixed = false;        // ... and what the file says of it is not read
  std::string_view partial_key = {}; // what this type calls partial_rotary_factor
  std::string_view width_key = {};   // a key that holds the number of turning elements itself
  int width = 0;                     // ... where the file does not have the key; 0: the whole head
  HeadRule head = HeadRule::kPlain;
  std::string_view head_key = "head_dim";
  std::array<int, 2> split = {};     // qk_nope_head_dim and qk_rope_head_dim where the file has none

  // Kinds of layers, one letter each (kind_name()), where the file has no layer_types: `cycle` repeats over the layers'
  // numbers, `prefix` stands over its beginning, `last` over its last layer.
  std::string_view cycle = {};
  std::string_view prefix = {};
  char last = 0;
  bool from_end = false;             // the cycle is counted from the last layer
  std::string_view period_key = {};  // a number (or a pattern such as "LLLG") in place of the cycle's length
  std::string_view list_key = {};
  ListRule list = ListRule::kNone;
  NopeRule nope = NopeRule::kNone;

  double local_theta = 0;            // base of sliding (DeepSeek-V4: compressed) layers; 0: as the others
  std::string_view local_theta_key = {};
  int global_head_dim = 0;           // head of full layers (global_head_dim)
  ScalingRule scaling = ScalingRule::kStandard;
  std::string_view preset = {};      // rope parameters of the class, as JSON, where the file has none

  AxesRule axes = AxesRule::kSingle;
  std::array<int, 3> sections = {};  // where the file has none
  bool sections_loose = false;       // ... which the class takes although they do not fit its own heads
  IndexerRule indexer = IndexerRule::kNone;
  QueryRule query = QueryRule::kNone;
  bool softmax_scale = false;        // YaRN's mscale_all_dim goes to the softmax scale
  bool inverse_on_output = false;
  bool linear_rotates = false;       // linear-attention layers have a rope of their own
  int mtp = 0;                       // MTP layers where no key counts them
  bool mtp_apart = false;            // MTP layers that the file counts are a module of their own, not further layers
  std::string_view only_if_key = {}; // there is a rope only if this key has that value (JSON text)
  std::string_view only_if_value = {};
  bool only_if_default = false;      // what an absent key means

  bool no_rope = false;              // the type has no rotary embedding that turns queries and keys by whole positions
  std::string_view note = {};        // what people should know of this type: a warning
};

// The parts of a composite model whose config.json does not name their types.
struct Composite {
  std::string_view type;
  std::string_view text;
  std::string_view vision;
  std::string_view audio;
};

// Sizes a model type's class has where a sparse file leaves them out; 0: it has none.
struct Sizes {
  std::string_view type;
  int layers;
  int hidden;
  int heads;
  int head_dim;
  std::int64_t context;  // max_position_embeddings, or what the class calls so
};

std::span<const Family> text_families() noexcept;    // everything but vision towers
std::span<const Family> vision_families() noexcept;
std::span<const Composite> composites() noexcept;
std::span<const std::string_view> ropeless_types() noexcept;
std::span<const Sizes> sizes() noexcept;

// nullptr: not known. A row for this architecture goes before one for any.
const Family* find_family(std::span<const Family> rows, std::string_view type, std::string_view architecture) noexcept;
const Composite* find_composite(std::string_view type) noexcept;
const Sizes* find_sizes(std::string_view type) noexcept;
// Known not to rotate anything.
bool is_ropeless(std::string_view type) noexcept;

// 'F' full_attention, 'S' sliding_attention, 'L' linear_attention, 'C' conv, 'I' indexed_attention, ...
std::string_view kind_name(char letter) noexcept;

}  // namespace ropecache::model
