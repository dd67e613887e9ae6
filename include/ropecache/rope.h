// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// RopeConfig is what a model file says about one rotary position embedding; Rope is what that means: one frequency
// per pair, the axis that turns it, and the factors that go with it. resolve() takes one to the other and never
// guesses: a missing, contradictory or impossible value is an error.
//
// Numbers. A double in a RopeConfig stands for its shortest decimal: 1e6 is a million, 1.0800000429153442 is that
// decimal and not the binary fraction beside it. Rules are evaluated in real arithmetic on those decimals (256 bits,
// rounded once to a Real), so configs that define the same numbers give equal Reals: a linear factor of 1 is none.
//
// Bounds. theta: above 1, at most 1e30. Every factor, multiplier and beta: 1e-12 to 1e12. Contexts and lengths: 1 to
// 2^31. head_dim and rotary_dim: at most 65536. A pair turns by 2^-100 up to 2^20 radians per position, or not at all;
// magnitudes lie from 2^-20 up to 2^20. What is outside is an error.
//
// Thread safety: plain values; resolve() is a pure function.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ropecache/real.h"
#include "ropecache/status.h"

namespace ropecache {

// Which two elements of the rotary part form pair i. A property of weights and file format, not of an architecture.
enum class Pairing : std::uint8_t {
  kHalf = 0,         // (i, i + pairs): NeoX, rotate_half, ggml NEOX
  kInterleaved = 1,  // (2i, 2i + 1): GPT-J, ggml NORM
};

// Which position of a token turns pair i. Never confuse kInterleaved axes with interleaved pairs.
// Sections add up to the pairs, except in the two layouts named after ggml, where `i mod sum` covers them. The axial
// layouts take no scaling, linear scaling, or divisors: the other rules speak of one index that runs over all pairs.
// Rope::axis_count is one more than the highest axis that turns a pair: [16, 24, 24] equals ggml's [16, 24, 24, 0].
enum class AxisLayout : std::uint8_t {
  kSingle = 0,           // one position per token
  kSectioned = 1,        // pairs [0, s0) axis 0, the next s1 axis 1, ...: Qwen2-VL [t, h, w]; xdrope has four
  kInterleaved = 2,      // Qwen3-VL: axis 1 if i % 3 == 1 and i < 3 s1; axis 2 if i % 3 == 2 and i < 3 s2; else axis 0
  kInterleavedGgml = 3,  // ggml IMROPE: like kInterleaved on q = i mod (sum of sections), but axis 0 only if q % 3 == 0
                         // and q < 3 s0; the rest axis 3. Differs from kInterleaved for [24, 20, 20]: pairs 61 and 62
  kSectionedGgml = 4,    // ggml MROPE: kSectioned on i mod (sum of sections)
  kErnie = 5,            // Ernie 4.5 VL: axes 1 and 2 alternate over the first s0 + s1 pairs, s0 == s1; the last s2 are
                         // axis 0
  kAxial = 6,            // a block per axis, and the frequency index starts again at 0 in each block with twice the
                         // block's pairs as r of the exponent: vision 2-D (ggml VISION, Qwen), video 3-D
  kAxialAlternating = 7, // two equal blocks; axis 0 has the frequencies of even, axis 1 those of odd index (Pixtral)
  kAlternating = 8,      // pair i turns by axis i mod n of n equal sections; one frequency index over all (HunyuanImage-3)
  kAxialPairs = 9,       // likewise, but pair i has the frequency of index i / n, with an axis's own width in the
                         // exponent: kAxial with its blocks shuffled together (Kimi's vision tower)
};

struct Axes {
  AxisLayout layout = AxisLayout::kSingle;
  std::vector<int> sections;  // pairs per axis, in the order of `layout`; empty for kSingle
  bool operator==(const Axes&) const = default;
};

// ---- Scaling rules. Formulas, sources and the choices of other engines are in docs/formulas.md; "HF" is Hugging Face
// transformers 5.24. r is exponent_dim, or rotary_dim where that is 0.

// frequency / factor (position interpolation). Engines that divide the position instead (vLLM, ggml, Megatron) define
// the same real number.
struct LinearScaling {
  double factor = 1;
  bool operator==(const LinearScaling&) const = default;
};

// NTK by length: base' = base * (factor * L / P - (factor - 1))^(r / (r - 2)), L = max(length, P). HF "dynamic".
// The length is an argument of resolve(); without one L = P, which leaves the base alone. Needs r > 2.
// HF keeps a longer L from an earlier batch: here the same length always gives the same rope. The static form of vLLM
// and SGLang is length = P * factor.
struct DynamicNtkScaling {
  double factor = 1;
  std::int64_t original_context = 0;  // P; HF takes max_position_embeddings
  bool operator==(const DynamicNtkScaling&) const = default;
};

// Hunyuan: base' = base * alpha^(r / (r - 2)), whatever the length, though its files say "dynamic". Needs r > 2.
struct NtkAlphaScaling {
  double alpha = 1;
  bool operator==(const NtkAlphaScaling&) const = default;
};

// vLLM "ntk". Without mixed_b: base * factor, and every frequency divided by factor^(2/rotary_dim).
// With it (0 to 16): frequency i divided by exp(a (i+1)^mixed_b), a = ln(factor) / (rotary_dim/2)^mixed_b.
struct NtkScaling {
  double factor = 1;
  std::optional<double> mixed_b;
  bool operator==(const NtkScaling&) const = default;
};

// Where YaRN's magnitude goes. g(m) = 1 if factor <= 1, else slope * m * ln(factor) + 1.
enum class YarnMagnitude : std::uint8_t {
  kHf = 0,        // attention_factor; else g(mscale)/g(mscale_all_dim) if both are given and not 0; else g(1)
  kOne = 1,       // 1, whatever attention_factor, mscale, mscale_all_dim and attention_multiplier say (DeepSeek-V4,
                  // torchtitan, Megatron's V4 recipe)
  kPlain = 2,     // g(1), whatever attention_factor, mscale and mscale_all_dim say (YaRN paper, SGLang "yarn",
                  // llama.cpp without yarn_log_multiplier)
};

// YaRN, "NTK by parts" (arXiv 2309.00071, section 3.2). Peers disagree on rounding, clamps and magnitude:
// every switch is a field, and the defaults are HF's.
//   c(n) = r ln(P / (2 pi n)) / (2 ln theta);  low = max(c(beta_fast), 0), high = min(c(beta_slow), r - 1), before the
//   clamps rounded down and up if `truncate`; if low == high, high += 0.001
//   kept = (1 - clamp((i - low) / (high - low), 0, 1)) * extrapolation_factor
//   frequency' = kept * frequency + (1 - kept) * frequency / factor
// low > high after the clamps is an error (the ramp would run backwards); so is beta_fast < beta_slow. That HF takes a
// beta of 0 for a missing one is for the reader of the file. The rule applies whatever the length: an engine that skips
// it up to P (the DeepSeek reference) wants no scaling there.
struct YarnScaling {
  double factor = 1;
  std::int64_t original_context = 0;  // P
  double beta_fast = 32;
  double beta_slow = 1;
  bool truncate = true;               // floor/ceil of the correction range; gpt-oss: false
  double extrapolation_factor = 1;    // 0 to 1 (ggml ext_factor, vLLM extrapolation_factor); 0: all pairs / factor
  std::optional<double> attention_factor;
  std::optional<double> mscale;
  std::optional<double> mscale_all_dim;
  double attention_multiplier = 1;    // one more factor on the magnitude (vLLM attn_factor, ggml attn_factor)
  double slope = 0.1;                 // 0.07 for TeleChat3
  YarnMagnitude magnitude = YarnMagnitude::kHf;
  bool softmax_scale = false;         // DeepSeek: softmax scale multiplied by g(mscale_all_dim)^2, by 1 without one, as
                                      // HF and vLLM; DeepSeek's own code takes mscale: put that value here
  bool operator==(const YarnScaling&) const = default;
};

// Llama 3.1. t = P * frequency / (2 pi), the turns in the original context: above high_freq_factor the pair is kept, up
// to low_freq_factor divided by factor, between them sm = (t - low) / (high - low), frequency' = (1 - sm) frequency /
// factor + sm frequency. low == high (Llama 4) is a hard step; low > high is an error.
struct Llama3Scaling {
  double factor = 8;
  double low_freq_factor = 1;
  double high_freq_factor = 4;
  std::int64_t original_context = 8192;
  bool operator==(const Llama3Scaling&) const = default;
};

// Phi-3 longrope ("su"): one divisor per pair, both lists required; `long_factor` once length > original_context
// (strictly, as HF and llama.cpp; SGLang switches one token later), else `short_factor`. The length is an argument of
// resolve(); the answer holds for a whole sequence (cached keys of a sequence share one list). Without a length:
// short_factor. Engines that choose once (vLLM, llama.cpp, mlx-lm) choose by the length they serve: pass that.
// Magnitude: attention_factor; else short_mscale or long_mscale, of the list taken; else sqrt(1 + ln q / ln P) with
// q = factor, or max_context / P without one (which is then required); 1 if q <= 1. P is at least 2.
struct LongRopeScaling {
  std::vector<double> short_factor;
  std::vector<double> long_factor;
  std::int64_t original_context = 0;
  std::int64_t max_context = 0;
  std::optional<double> factor;
  std::optional<double> attention_factor;
  std::optional<double> short_mscale;
  std::optional<double> long_mscale;
  bool operator==(const LongRopeScaling&) const = default;
};

// Gemma 4 "proportional": the exponent runs over the whole head, the first floor(partial * rotary_dim / 2) pairs turn,
// the others have frequency 0 and stay in place. Then divided by factor, as HF does (vLLM and SGLang do not: factor 1).
// rotary_dim is the whole head. Not the same as a partial rotary_dim: exponents and partners differ.
struct ProportionalScaling {
  double partial = 1;
  double factor = 1;
  bool operator==(const ProportionalScaling&) const = default;
};

using Scaling = std::variant<std::monostate, LinearScaling, DynamicNtkScaling, NtkAlphaScaling, NtkScaling, YarnScaling,
                             Llama3Scaling, LongRopeScaling, ProportionalScaling>;

// "none", "linear", "dynamic", "ntk-alpha", "ntk", "yarn", "llama3", "longrope", "proportional".
std::string_view scaling_name(const Scaling& scaling) noexcept;

// A factor on the query alone that depends on its position; applied by attention, never part of a table. Negative
// positions count as 0. beta is not negative, context at least 1; a beta of 0 becomes kNone in the Rope.
struct QueryScale {
  enum class Rule : std::uint8_t {
    kNone = 0,
    kLogFloor = 1,        // 1 + beta * ln(1 + floor(p / context)): Ministral 3 llama_4_scaling_beta
    kLogFloorPlusOne = 2, // 1 + beta * ln(1 + floor((p + 1) / context)): Llama 4 attn_scale / floor_scale
  };
  Rule rule = Rule::kNone;
  double beta = 0;
  double context = 0;
  bool operator==(const QueryScale&) const = default;
};

struct RopeConfig {
  int head_dim = 0;        // elements of one head as q and k store it
  int rotary_dim = 0;      // elements that turn: even, 2 to head_dim. No default: a width that came out as 0 is an
                           // error, and must not turn the whole head
  int rotary_offset = 0;   // first of them
  Pairing pairing = Pairing::kHalf;
  double theta = 0;        // the base; no default. A ratio of bases (ChatGLM rope_ratio) is not one: above 1
  int exponent_dim = 0;    // r of the exponent 2i/r if it is not rotary_dim; 0: rotary_dim
  Scaling scaling{};
  std::vector<double> divisors{};  // frequency i, as `scaling` left it, is divided by divisors[i] (GGUF rope_freqs);
                                 // empty: none. 1e30 and above mean "does not turn", as GGUF files write it
  Axes axes{};
  QueryScale query_scale{};
  bool inverse_on_output = false;  // DeepSeek-V4: the attention output is turned back by the query's position
  bool operator==(const RopeConfig&) const = default;
};

// The recipe of ggml's rope operator, as its op parameters would hold it for a llama.cpp conversion of this rope: the
// `ggml` profile needs it. Where ggml's rule differs, the recipe is ggml's: YaRN's range is always rounded (gpt-oss: 8
// to 18). Which axis turns a pair is Rope::axes. Values without effect have their defaults: n_ctx_orig and betas where
// ext_factor is 0, factors that are all 1.
struct GgmlRecipe {
  int n_dims = 0;  // VISION: pairs in all, half of rotary_dim
  std::int64_t n_ctx_orig = 0;
  float freq_base = 0;
  float freq_scale = 1;
  float ext_factor = 0;
  float attn_factor = 1;  // where ext_factor is not 0, ggml multiplies this by 1 + 0.1 ln(1 / freq_scale)
  float beta_fast = 32;
  float beta_slow = 1;
  std::vector<float> freq_factors;  // one per pair, or empty; 1e30: does not turn
  std::vector<std::uint8_t> restarts;  // per pair 1 where the running product starts again, the first pair apart
                                       // (VISION), or empty
  bool operator==(const GgmlRecipe&) const = default;
};

struct Rope {
  // Where it turns: not part of a table's identity.
  int head_dim = 0;
  int rotary_dim = 0;
  int rotary_offset = 0;
  Pairing pairing = Pairing::kHalf;

  // What it turns by: the contents of the exact table.
  std::vector<Real> frequencies;    // radians per position, one per pair; zero: the pair does not turn
  std::vector<std::uint8_t> axes;   // axis of each pair, 0 to axis_count - 1
  int axis_count = 1;
  Real magnitude = Real::one();     // on cos and sin

  // Beside the table: attention applies these.
  Real softmax_scale_multiplier = Real::one();
  QueryScale query_scale;
  bool inverse_on_output = false;

  // The same rope in other people's arithmetic, for the profiles of those names.
  std::vector<float> fp32_frequencies;  // HF's fp32 steps with a correctly rounded pow (its own pow differs by device)
  float fp32_magnitude = 1;
  std::optional<GgmlRecipe> ggml;       // absent where ggml has no such rule: ntk with mixed_b, kErnie,
                                        // kAxialAlternating, kAxial of other than two equal blocks, more than four axes

  int pairs() const noexcept { return static_cast<int>(frequencies.size()); }
  bool operator==(const Rope&) const = default;
};

struct ResolveOptions {
  // Length of the sequence (largest position + 1), for rules that depend on it; without one the rule's shortest regime.
  // The number of positions a table can answer is not a length: it never changes a frequency.
  std::optional<std::int64_t> length;
};

// Equal configs give equal ropes; configs that differ in a field without effect do too.
// Errors: kInvalidArgument, with a text that names the field, its value and what was expected.
Result<Rope> resolve(const RopeConfig& config, const ResolveOptions& options = {}) noexcept;

// The factor of a QueryScale at a position, in double. 1 for Rule::kNone.
double query_scale_at(const QueryScale& scale, std::int64_t position) noexcept;

}  // namespace ropecache
