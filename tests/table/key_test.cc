// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Identity is content.
#include <gtest/gtest.h>

#include <cstdio>
#include <random>
#include <set>
#include <string>

#include "ropecache/table.h"
#include "ropes.h"
#include "table/sha256.h"

namespace ropecache {
namespace {

using testing_ropes::plain;
using testing_ropes::with_axes;

std::string key(const Rope& rope, Profile profile = Profile::kExact, Use use = Use::kRotate) {
  const auto key = table_key(rope, profile, use);
  EXPECT_TRUE(key.ok()) << key.status().message();
  EXPECT_EQ(build_table(rope, profile, use).value()->key(), *key);
  return key->hex();
}

std::string digest(const std::string& text) {
  std::string out;
  for (std::uint8_t byte : sha256({text.begin(), text.end()})) {
    char hex[3];
    std::snprintf(hex, sizeof hex, "%02x", byte);
    out += hex;
  }
  return out;
}

TEST(Sha256, gives_the_published_digests) {  // FIPS 180-4 examples
  EXPECT_EQ(digest(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(digest("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(digest(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// What two ranks, or two releases, compare in place of sending tables. The digests were computed with another program:
// SHA-256 over version, profile, pairs, axes, magnitude and frequencies (192 bits each) of 10000^(-i/pairs).
TEST(TableKey, B116_is_stable_across_ranks_and_releases) {
  EXPECT_EQ(key(plain(10000, 4)), "99f8e025e469c508ddb76c04fb5334cd");
  EXPECT_EQ(key(plain(10000, 128)), "4f31be3fdf38b5c29ad0eb9d61be4272");
}

TEST(TableKey, fields_without_effect_do_not_enter) {
  const Rope rope = plain(10000, 64);
  Rope other = rope;
  other.pairing = Pairing::kInterleaved;
  other.head_dim = 512;
  other.rotary_offset = 448;
  other.softmax_scale_multiplier = Wide::decimal(1.87).to_real();
  other.query_scale = {QueryScale::Rule::kLogFloor, 0.1, 16384};
  other.inverse_on_output = true;
  other.axis_count = 3;  // declared, but axis 0 turns every pair
  other.fp32_frequencies[3] = 99;
  other.ggml.reset();
  EXPECT_EQ(key(rope), key(other));
}

TEST(TableKey, ggml_fields_without_effect_do_not_enter) {
  const Rope rope = plain(10000, 64);
  Rope other = rope;
  other.ggml->n_ctx_orig = 12345;
  other.ggml->beta_fast = 7;
  other.ggml->freq_factors.assign(32, 1.0f);
  EXPECT_EQ(key(rope, Profile::kGgml), key(other, Profile::kGgml));
  other.ggml->ext_factor = 1;  // now they have
  EXPECT_NE(key(rope, Profile::kGgml), key(other, Profile::kGgml));
}

// U2: a table built with factors must not serve an operation without them.
TEST(TableKey, U2_factors_betas_and_context_enter_where_they_act) {
  Rope rope = plain(10000, 8);
  rope.ggml->ext_factor = 1;
  rope.ggml->freq_scale = 0.25f;
  std::set<std::string> keys{key(rope, Profile::kGgml)};
  Rope other = rope;
  other.ggml->n_ctx_orig = 8192;
  keys.insert(key(other, Profile::kGgml));
  other = rope;
  other.ggml->beta_fast = 16;
  keys.insert(key(other, Profile::kGgml));
  other = rope;
  other.ggml->freq_factors = {1, 1, 1, 2};
  keys.insert(key(other, Profile::kGgml));
  other = rope;
  other.ggml->attn_factor = 2;
  keys.insert(key(other, Profile::kGgml));
  EXPECT_EQ(keys.size(), 5u);
}

TEST(TableKey, everything_that_turns_enters) {
  const Rope rope = plain(10000, 64);
  std::set<std::string> keys{key(rope), key(rope, Profile::kFp32), key(rope, Profile::kGgml)};
  EXPECT_EQ(keys.size(), 3u);
  for (std::size_t i = 0; i < rope.frequencies.size(); ++i) {
    Rope other = rope;
    other.frequencies[i].significand[0] ^= 1;  // the last of 192 bits
    EXPECT_TRUE(keys.insert(key(other)).second);
  }
  Rope other = rope;
  other.magnitude.significand[0] ^= 1;
  EXPECT_TRUE(keys.insert(key(other)).second);
  EXPECT_TRUE(keys.insert(key(with_axes(rope, 2))).second);
  EXPECT_TRUE(keys.insert(key(with_axes(rope, 3))).second);
}

TEST(TableKey, different_frequencies_never_share) {
  std::mt19937_64 random(9);
  std::set<std::string> keys;
  int ropes = 0;
  for (int i = 0; i < 300; ++i, ++ropes) {
    const double theta = 1000.0 + static_cast<double>(i);
    EXPECT_TRUE(keys.insert(table_key(plain(theta, 8 + 2 * static_cast<int>(random() % 16))).value().hex()).second);
  }
}

TEST(TableKey, B86_half_the_width_is_another_table) {
  EXPECT_NE(key(plain(10000, 128)), key(plain(10000, 64)));
}

TEST(TableKey, uses_share_a_table_when_the_magnitude_is_one) {
  const Rope unit = plain(10000, 32);
  EXPECT_EQ(key(unit), key(unit, Profile::kExact, Use::kInverse));
  EXPECT_EQ(key(unit), key(unit, Profile::kExact, Use::kShift));
  const Rope scaled_rope = plain(10000, 32, 1.25);
  EXPECT_NE(key(scaled_rope), key(scaled_rope, Profile::kExact, Use::kInverse));
  EXPECT_EQ(key(unit), key(scaled_rope, Profile::kExact, Use::kShift));
}

TEST(TableKey, B95_changed_content_at_the_same_address_is_another_table) {
  Rope rope = plain(10000, 8);
  const std::string before = key(rope);
  rope.frequencies[2] = Wide::decimal(0.125).to_real();
  EXPECT_NE(key(rope), before);
}

}  // namespace
}  // namespace ropecache
