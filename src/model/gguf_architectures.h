// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// What a GGUF file does not say and the name of its architecture does: which pairs turn together, which layers have no
// rope, what sliding layers turn by. One row per name of general.architecture, nothing falls through to a neighbour.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace ropecache::model {

// ggml's modes. kMrope and kImrope always pair halves.
enum class GgmlRope : std::uint8_t { kNone, kNorm, kNeox, kMrope, kImrope };

// Which layers rotate.
enum class Rotates : std::uint8_t {
  kAll,
  kSkipLastOf4,       // not (layer + 1) % 4 == 0
  kSkipFirstOf4,      // not layer % 4 == 0, if there is a sliding window; else all
  kSliding,           // only layers with a sliding window
  kSlidingOrDense,    // those and the leading dense layers
  kSlidingIfAny,      // only those, if the model has any; else all
  kWithKvHeads,       // not where attention.head_count_kv is 0: recurrent or convolution layers
  kEveryInterval,     // only (layer + 1) % full_attention_interval == 0, or as attention.recurrent_layers says
  kIfFinetuned,       // rope.scaling.finetuned is a switch for all
  kIfFinetunedAndKv,  // both
  kByPattern,         // attention.rope_pattern
  kUnless40Layers,    // Baichuan 13B, told by its 40 layers, has ALiBi
};

// Which layers have a sliding window.
enum class Window : std::uint8_t {
  kNever,
  kAlways,      // period and dense_first, or attention.sliding_window_pattern
  kIfKey,       // likewise, but only if attention.sliding_window is there and not 0
  kUnlessZero,  // likewise, but not if attention.sliding_window is 0
  kIf64Layers,  // likewise, but only in the model of 64 layers (EXAONE 4 32B)
  kArray,       // as attention.sliding_window_pattern says; it must be there
};

// What sliding layers turn by if rope.freq_base_swa is not there.
enum class SlidingBase : std::uint8_t {
  kMain,  // rope.freq_base
  kTenThousand,
  kRequired,    // an error
  kAlwaysMain,  // rope.freq_base, and rope.freq_base_swa is not looked at
};
enum class SlidingScaling : std::uint8_t {
  kMain,      // as full layers
  kUnscaled,  // factor 1; rope.scaling.attn_factor still applies
  kPlain,     // no scaling and magnitude 1
};

// Where rope_freqs or rope_factors_long/short apply.
enum class Factors : std::uint8_t { kNever, kAll, kFull };

enum class Indexer : std::uint8_t { kNone, kNeoxFirst, kNormFirst, kNormLast, kMainFirst };

// Unit of rope.scaling.yarn_log_multiplier.
enum class LogMultiplier : std::uint8_t {
  kNotRead,
  kMscaleAllDim,
  kTenth,      // 0.1 * mscale_all_dim
  kTenthBoth,  // likewise, and mscale is the same number unless that is 1 (DeepSeek-V2)
};

enum GgufTrait : std::uint32_t {
  kMropeIfSections = 1u << 0,  // MROPE if rope.dimension_sections has two positive entries
  kNormIfHyper = 1u << 1,      // NORM if hyper_connection.count > 0 (DFlash drafts of DeepSeek-V4)
  kMla = 1u << 2,              // the rope part is last in a head of attention.key_length_mla (or key_length)
  kTail = 1u << 3,             // the rope part is last in a head of attention.key_length
  kWholeHead = 1u << 4,        // the whole head turns, whatever rope.dimension_count says
  kMustBeWholeHead = 1u << 5,  // llama.cpp refuses rope.dimension_count != head size
  kFullHalf = 1u << 6,         // full layers turn half of rope.dimension_count
  kCompressed = 1u << 7,       // DeepSeek-V4: a second base where attention.compress_ratios is not 0; inverse on output
  kReadsBetas = 1u << 8,       // rope.scaling.yarn_beta_fast and _slow; other loaders take 32 and 1
  kReadsExtFactor = 1u << 9,   // rope.scaling.yarn_ext_factor; Grok, beta_fast 8 if absent
  kSoftmaxScale = 1u << 10,    // YaRN's magnitude squared goes into the softmax scale
  kTemperature = 1u << 11,     // attention.temperature_scale, over rope.scaling.original_context_length
  kTemperatureLength = 1u << 12,  // attention.temperature_scale, over attention.temperature_length
  kLlama4Temperature = 1u << 13,  // layers without rope: 0.1 and 8192
  kFixedBase = 1u << 14,          // 10000 whatever rope.freq_base says
  kAlpha = 1u << 15,              // rope.scaling.alpha
  kOmitsBase = 1u << 16,          // files of this family leave rope.freq_base out, and mean 10000
  kLlama3Family = 1u << 17,       // a base of 500000 without rope_freqs points to a lost llama3 scaling
  kVisionOnly = 1u << 18,         // a projector: its rope is not in the metadata
};

struct GgufArchitecture {
  std::string_view name;
  GgmlRope rope = GgmlRope::kNeox;
  Rotates rotates = Rotates::kAll;
  Window window = Window::kNever;
  int period = 0;
  bool dense_first = false;
  SlidingBase sliding_base = SlidingBase::kMain;
  SlidingScaling sliding_scaling = SlidingScaling::kMain;
  Factors factors = Factors::kNever;
  Indexer indexer = Indexer::kNone;
  LogMultiplier log_multiplier = LogMultiplier::kNotRead;
  std::uint32_t traits = 0;

  bool has(GgufTrait trait) const { return (traits & trait) != 0; }
};

// Sorted by name.
std::span<const GgufArchitecture> gguf_architectures();
const GgufArchitecture* find_gguf_architecture(std::string_view name);
// Stands in for a name that has no row.
const GgufArchitecture& unknown_gguf_architecture();

}  // namespace ropecache::model
