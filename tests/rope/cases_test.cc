// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Bugs that people met in other engines, as figures. The names carry the numbers of the survey they come from; the
// comments cite the public reports.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "rope/configs.h"

namespace ropecache {
namespace {

// ---- Bases ------------------------------------------------------------------------------------------------------

// sgl-project/SpecForge#651: scaling classes that forgot theta.
TEST(BaseCases, B28_theta_counts_under_every_rule) {
  LongRopeScaling longrope;
  longrope.short_factor = longrope.long_factor = std::vector<double>(32, 1.5);
  longrope.original_context = 4096;
  longrope.factor = 4;
  for (const Scaling& scaling : std::vector<Scaling>{
           std::monostate(), LinearScaling{4}, DynamicNtkScaling{4, 4096}, NtkAlphaScaling{1000},
           NtkScaling{4, std::nullopt}, NtkScaling{4, 0.5}, yarn(4, 4096), Llama3Scaling(), longrope,
           ProportionalScaling{0.5, 1}}) {
    const Rope a = resolved(with(plain(64, 1e4), scaling));
    const Rope b = resolved(with(plain(64, 1e6), scaling));
    EXPECT_NE(a.frequencies, b.frequencies) << scaling_name(scaling);
    EXPECT_NE(a.fp32_frequencies, b.fp32_frequencies) << scaling_name(scaling);
    EXPECT_LT(frequency(b, 1), frequency(a, 1)) << scaling_name(scaling);
  }
}

// huggingface/transformers#45902: a table of memory that nobody wrote began with 6.93e-18.
TEST(BaseCases, B115_first_frequency_is_one) {
  for (const double theta : {10000.0, 500000.0, 1e6, 1e7}) {
    const Rope rope = resolved(plain(128, theta));
    EXPECT_EQ(rope.frequencies[0], Real::one());
    EXPECT_EQ(rope.fp32_frequencies[0], 1.0f);
  }
}

// deepspeedai/DeepSpeed#4442
TEST(BaseCases, B38_theta_of_code_llama) {
  expect_digits(frequency(resolved(plain(128, 1e6)), 1), 0.8058421878, 10);
  expect_digits(frequency(resolved(plain(128, 1e4)), 1), 0.8659643234, 10);
}

// huggingface/transformers: HF semantics, not the static base of vllm-project/vllm#5093.
TEST(BaseCases, B50_dynamic_leaves_short_sequences_alone) {
  const RopeConfig config = with(plain(128, 10000), DynamicNtkScaling{2, 4096});
  EXPECT_EQ(resolved(config, 100).frequencies, resolved(plain(128, 10000)).frequencies);
  EXPECT_EQ(resolved(config, 4096).frequencies, resolved(plain(128, 10000)).frequencies);
  EXPECT_EQ(resolved(config).frequencies, resolved(plain(128, 10000)).frequencies);
  // vLLM's static form is the length P * factor.
  expect_digits(std::pow(frequency(resolved(config, 8192), 1), -64), 30527.7, 6);
}

// ml-explore/mlx-lm#1545
TEST(BaseCases, B53_dynamic_base_of_internlm3) {
  const RopeConfig config = with(plain(128, 5e7), DynamicNtkScaling{6, 32768});
  expect_digits(std::pow(frequency(resolved(config, 65536), 1), -64), 360979300.43, 11);
  EXPECT_EQ(resolved(config, 32767).frequencies, resolved(plain(128, 5e7)).frequencies);
}

// ---- llama3 -----------------------------------------------------------------------------------------------------

void expect_llama3(const RopeConfig& unscaled, double factor, int first, const std::vector<double>& blended) {
  const Rope plain_rope = resolved(unscaled);
  const Rope rope = resolved(with(unscaled, Llama3Scaling{factor, 1, 4, 8192}));
  const int last = first + static_cast<int>(blended.size());
  for (int i = 0; i < rope.pairs(); ++i) {
    if (i < first) {
      EXPECT_EQ(frequency(rope, i), frequency(plain_rope, i)) << i;
    } else if (i < last) {
      expect_digits(frequency(rope, i), blended[static_cast<std::size_t>(i - first)], 12);
    } else {
      expect_digits(frequency(rope, i), frequency(plain_rope, i) / factor, 14);
    }
  }
}

// ikawrakow/ik_llama.cpp#2291: perplexity 2916 in place of 5.5.
TEST(Llama3Cases, B31_bands_of_llama_3_2_1b) {
  expect_llama3(plain(64, 5e5), 32, 15, {1.29054792821e-3, 4.29556796559e-4, 9.70828780263e-5});
}

TEST(Llama3Cases, B31_bands_of_llama_3_1_8b) {
  expect_llama3(plain(128, 5e5), 8, 29,
                {2.1665707635e-3, 1.37189356776e-3, 8.5675141292e-4, 5.24846160993e-4, 3.12693750384e-4,
                 1.78507812768e-4});
}

// ikawrakow/ik_llama.cpp#402: the tensor that GGUF files hold for this rope.
TEST(Llama3Cases, B32_ggml_freq_factors) {
  const Rope rope = resolved(with(plain(128, 5e5), Llama3Scaling{8, 1, 4, 8192}));
  ASSERT_TRUE(rope.ggml.has_value());
  const std::vector<float>& factors = rope.ggml->freq_factors;
  ASSERT_EQ(factors.size(), 64u);
  const std::vector<double> blended = {1.20748387, 1.55341463, 2.02631321, 2.69452969, 3.68425253, 5.25732659};
  for (std::size_t i = 0; i < factors.size(); ++i) {
    if (i < 29) {
      EXPECT_EQ(factors[i], 1.0f);
    } else if (i < 35) {
      EXPECT_NEAR(static_cast<double>(factors[i]), blended[i - 29], 3e-7);
    } else {
      EXPECT_EQ(factors[i], 8.0f);
    }
  }
  EXPECT_EQ(rope.ggml->freq_base, 5e5f);
  EXPECT_EQ(rope.ggml->freq_scale, 1.0f);
}

// The same rope told by a GGUF file's divisors is the same to the fp32 they are stored in.
TEST(Llama3Cases, B32_divisors_of_a_gguf_tell_the_same_rope) {
  const Rope rule = resolved(with(plain(128, 5e5), Llama3Scaling{8, 1, 4, 8192}));
  RopeConfig config = plain(128, 5e5);
  config.divisors.assign(rule.ggml->freq_factors.begin(), rule.ggml->freq_factors.end());
  const Rope divided = resolved(config);
  for (int i = 0; i < 64; ++i) {
    EXPECT_NEAR(frequency(divided, i) / frequency(rule, i), 1, 6e-8) << i;
  }
  EXPECT_EQ(divided.ggml, rule.ggml);
}

// ggml-org/llama.cpp#12889: no 0/0.
TEST(Llama3Cases, B41_equal_low_and_high_is_a_hard_step) {
  const Rope unscaled = resolved(plain(128, 5e5));
  const Rope rope = resolved(with(plain(128, 5e5), Llama3Scaling{16, 1, 1, 8192}));
  for (int i = 0; i < 64; ++i) {
    const double want = i <= 34 ? frequency(unscaled, i) : frequency(unscaled, i) / 16;
    EXPECT_EQ(frequency(rope, i), want) << i;
    EXPECT_TRUE(std::isfinite(rope.fp32_frequencies[static_cast<std::size_t>(i)]));
  }
}

// ---- longrope ---------------------------------------------------------------------------------------------------

LongRopeScaling phi(double short_value, double long_value) {
  LongRopeScaling rule;
  rule.short_factor.assign(48, short_value);
  rule.long_factor.assign(48, long_value);
  rule.original_context = 4096;
  rule.max_context = 131072;
  return rule;
}

// vllm-project/vllm#27414: the position of a token never chooses; ggml-org/llama.cpp#24823: where the border is.
TEST(LongRopeCases, B43_B44_the_length_of_the_sequence_chooses_the_list) {
  const RopeConfig config = with(plain(96, 10000), phi(1.25, 4));
  const Rope unscaled = resolved(plain(96, 10000));
  expect_digits(frequency(resolved(config), 7), frequency(unscaled, 7) / 1.25, 14);
  EXPECT_EQ(resolved(config, 1), resolved(config));
  EXPECT_EQ(resolved(config, 4096), resolved(config));
  expect_digits(frequency(resolved(config, 4097), 7), frequency(unscaled, 7) / 4, 14);
  EXPECT_EQ(resolved(config, 131072), resolved(config, 4097));
  EXPECT_EQ(resolved(config, 4097).magnitude, resolved(config).magnitude);
}

// ml-explore/mlx-lm#660
TEST(LongRopeCases, B47_short_list_is_used_and_magnitude_follows_the_ratio) {
  LongRopeScaling rule = phi(1.5, 4);
  rule.max_context = 4096;
  EXPECT_EQ(resolved(with(plain(96, 10000), rule)).magnitude, Real::one());
  expect_digits(frequency(resolved(with(plain(96, 10000), rule)), 0), 1 / 1.5, 14);
  rule.factor = 32;
  EXPECT_EQ(resolved(with(plain(96, 10000), rule)).magnitude.to_decimal(11), "1.1902380714");
  rule.short_mscale = 1.1;
  rule.long_mscale = 1.3;
  EXPECT_EQ(resolved(with(plain(96, 10000), rule)).magnitude.to_decimal(50), "1.1");
  EXPECT_EQ(resolved(with(plain(96, 10000), rule), 4097).magnitude.to_decimal(50), "1.3");
  rule.attention_factor = 1.7;
  EXPECT_EQ(resolved(with(plain(96, 10000), rule), 4097).magnitude.to_decimal(50), "1.7");
}

// ---- Partial and proportional -----------------------------------------------------------------------------------

// pie-project/pie#602: the exponent runs over the rotated width, not the head.
TEST(PartialCases, B58_exponent_runs_over_the_rotated_width) {
  RopeConfig config = plain(64, 1e7);
  config.head_dim = 256;
  const Rope rope = resolved(config);
  EXPECT_EQ(rope.pairs(), 32);
  expect_digits(frequency(rope, 1), 0.6042963902, 10);
  expect_digits(frequency(rope, 16), 3.16227766e-4, 9);
  config.exponent_dim = 256;  // for a model that was trained so
  expect_digits(frequency(resolved(config), 1), 0.8816830668, 10);
}

// NVIDIA-NeMo/Megatron-Bridge#4195: Gemma 4.
TEST(PartialCases, B59_proportional_keeps_the_exponent_of_the_head) {
  const Rope rope = resolved(with(plain(512, 1e6), ProportionalScaling{0.25, 1}));
  EXPECT_EQ(rope.pairs(), 256);
  expect_digits(frequency(rope, 1), 0.9474635257, 10);
  expect_digits(frequency(rope, 63), 0.03337624694, 10);
  for (std::size_t i = 64; i < 256; ++i) {
    EXPECT_TRUE(rope.frequencies[i].is_zero());
    EXPECT_EQ(rope.fp32_frequencies[i], 0.0f);
    EXPECT_EQ(rope.ggml->freq_factors[i], 1e30f);
  }
  EXPECT_EQ(rope.ggml->freq_factors[63], 1.0f);
  EXPECT_EQ(rope.rotary_dim, 512);
  // An ordinary partial rope of the same width is another one.
  expect_digits(frequency(resolved(plain(128, 1e6)), 1), 0.8058421878, 10);
  expect_digits(frequency(resolved(plain(128, 1e6)), 63), 1.240937761e-6, 10);
}

// Gemma 3 in ggml-org/llama.cpp#14367: full layers are scaled, sliding layers are not.
TEST(PartialCases, B76_gemma_3_angles) {
  EXPECT_EQ(frequency(resolved(with(plain(256, 1e6), LinearScaling{8})), 0) * 800, 100);
  EXPECT_EQ(frequency(resolved(plain(256, 1e4)), 0) * 800, 800);
}

}  // namespace
}  // namespace ropecache
