// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Which axis turns which pair, layout by layout.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "rope/configs.h"

namespace ropecache {
namespace {

Rope axes_rope(AxisLayout layout, std::vector<int> sections, int pairs = 0) {
  int sum = 0;
  for (const int section : sections) sum += section;
  return resolved(with_axes(plain(2 * (pairs != 0 ? pairs : sum), 5e6), layout, std::move(sections)));
}

// One letter a pair.
std::string map_of(const Rope& rope) {
  std::string map;
  for (const std::uint8_t axis : rope.axes) map += "thwe"[axis];
  return map;
}
std::string map_of(AxisLayout layout, std::vector<int> sections, int pairs = 0) {
  return map_of(axes_rope(layout, std::move(sections), pairs));
}

std::string repeated(const std::string& piece, int times) {
  std::string text;
  for (int n = 0; n < times; ++n) text += piece;
  return text;
}

int differences(const std::string& a, const std::string& b) {
  EXPECT_EQ(a.size(), b.size());
  int count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += a[i] != b[i];
  return count;
}

std::string sectioned(const std::vector<int>& s) {
  return repeated("t", s[0]) + repeated("h", s[1]) + repeated("w", s[2]);
}

TEST(Axes, single) {
  const Rope rope = resolved(plain(64, 1e4));
  EXPECT_EQ(map_of(rope), repeated("t", 32));
  EXPECT_EQ(rope.axis_count, 1);
}

TEST(Axes, sectioned) {
  for (const std::vector<int>& s : {std::vector<int>{16, 24, 24}, {24, 20, 20}, {11, 11, 10}, {8, 12, 12}}) {
    const Rope rope = axes_rope(AxisLayout::kSectioned, s);
    EXPECT_EQ(map_of(rope), sectioned(s));
    EXPECT_EQ(rope.axis_count, 3);
    EXPECT_EQ(map_of(AxisLayout::kSectionedGgml, {s[0], s[1], s[2], 0}), sectioned(s));
  }
  EXPECT_EQ(map_of(AxisLayout::kSectioned, {16, 16, 16, 16}),
            repeated("t", 16) + repeated("h", 16) + repeated("w", 16) + repeated("e", 16));
}

// alibaba/MNN#4133
TEST(Axes, B68_interleaved_24_20_20) {
  const std::string map = map_of(AxisLayout::kInterleaved, {24, 20, 20});
  EXPECT_EQ(map, repeated("thw", 20) + "tttt");
  EXPECT_EQ(differences(map, sectioned({24, 20, 20})), 43);
}

TEST(Axes, B68_interleaved_11_11_10) {
  const std::string map = map_of(AxisLayout::kInterleaved, {11, 11, 10});
  EXPECT_EQ(map, repeated("thw", 10) + "th");
  EXPECT_EQ(differences(map, sectioned({11, 11, 10})), 22);
}

TEST(Axes, interleaved_16_24_24) {
  // Beyond 3 * 21 the heights and widths go on, the times stop being claimed but fall back to axis 0.
  EXPECT_EQ(map_of(AxisLayout::kInterleaved, {16, 24, 24}), repeated("thw", 21) + "t");
  EXPECT_EQ(map_of(AxisLayout::kInterleavedGgml, {16, 24, 24, 0}), repeated("thw", 16) + repeated("ehw", 5) + "e");
}

TEST(Axes, U3_ggml_gives_pairs_61_and_62_to_the_fourth_axis) {
  const Rope ggml = axes_rope(AxisLayout::kInterleavedGgml, {24, 20, 20, 0});
  EXPECT_EQ(map_of(ggml), repeated("thw", 20) + "teet");
  EXPECT_EQ(ggml.axis_count, 4);
  EXPECT_EQ(map_of(AxisLayout::kInterleavedGgml, {24, 20, 20}), map_of(ggml));
  // What the two pairs miss at position 262144 when the fourth position is 0.
  expect_digits(frequency(ggml, 61) * 262144, 0.1080, 3.5);
  expect_digits(frequency(ggml, 62) * 262144, 0.0849, 3);
}

TEST(Axes, U3_without_a_rest_both_conventions_are_one_rope) {
  EXPECT_EQ(axes_rope(AxisLayout::kInterleavedGgml, {11, 11, 10, 0}),
            axes_rope(AxisLayout::kInterleaved, {11, 11, 10}));
}

TEST(Axes, ggml_layouts_repeat_their_sections) {
  EXPECT_EQ(map_of(AxisLayout::kSectionedGgml, {2, 1, 1, 0}, 10), "tthwtthwtt");
  EXPECT_EQ(map_of(AxisLayout::kInterleavedGgml, {1, 1, 1, 1}, 10), "thwethweth");
  EXPECT_EQ(map_of(AxisLayout::kSectionedGgml, {32, 32, 32, 32}, 40), repeated("t", 32) + repeated("h", 8));
}

TEST(Axes, trailing_empty_sections_make_no_axis) {
  EXPECT_EQ(axes_rope(AxisLayout::kSectionedGgml, {16, 24, 24, 0}), axes_rope(AxisLayout::kSectioned, {16, 24, 24}));
  EXPECT_EQ(axes_rope(AxisLayout::kSectioned, {32}), resolved(plain(64, 5e6)));
  EXPECT_EQ(axes_rope(AxisLayout::kSectioned, {32, 0}).axis_count, 1);
}

TEST(Axes, ernie_alternates_height_and_width_first) {
  const Rope rope = axes_rope(AxisLayout::kErnie, {22, 22, 20});
  EXPECT_EQ(map_of(rope), repeated("hw", 22) + repeated("t", 20));
  EXPECT_EQ(rope.frequencies, resolved(plain(128, 5e6)).frequencies);
}

TEST(Axes, layouts_of_one_index_leave_frequencies_alone) {
  const Rope plain_rope = resolved(plain(128, 5e6));
  for (const AxisLayout layout : {AxisLayout::kSectioned, AxisLayout::kInterleaved, AxisLayout::kInterleavedGgml,
                                  AxisLayout::kSectionedGgml}) {
    const Rope rope = axes_rope(layout, {24, 20, 20});
    EXPECT_EQ(rope.frequencies, plain_rope.frequencies);
    EXPECT_EQ(rope.fp32_frequencies, plain_rope.fp32_frequencies);
    EXPECT_EQ(rope.ggml, plain_rope.ggml);
  }
}

// Qwen's vision towers: head 80, two blocks of 20 pairs, each a rope of width 40.
TEST(Axes, axial_restarts_in_each_block) {
  const Rope rope = resolved(with_axes(plain(80, 1e4), AxisLayout::kAxial, {20, 20}));
  EXPECT_EQ(map_of(rope), repeated("t", 20) + repeated("h", 20));
  const Rope block = resolved(plain(40, 1e4));
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(rope.frequencies[i], block.frequencies[i]);
    EXPECT_EQ(rope.frequencies[20 + i], block.frequencies[i]);
    EXPECT_EQ(rope.fp32_frequencies[20 + i], block.fp32_frequencies[i]);
  }
  ASSERT_TRUE(rope.ggml.has_value());
  EXPECT_EQ(rope.ggml->n_dims, 40);
  for (std::size_t i = 0; i < 40; ++i) EXPECT_EQ(rope.ggml->restarts[i], i == 20 ? 1 : 0);
}

// Video: blocks of different widths, each with its own exponent.
TEST(Axes, axial_blocks_have_their_own_widths) {
  const Rope rope = resolved(with_axes(plain(128, 1e4), AxisLayout::kAxial, {16, 24, 24}));
  EXPECT_EQ(rope.axis_count, 3);
  EXPECT_EQ(rope.frequencies[17], resolved(plain(48, 1e4)).frequencies[1]);
  EXPECT_EQ(rope.frequencies[1], resolved(plain(32, 1e4)).frequencies[1]);
  EXPECT_FALSE(rope.ggml.has_value());
  RopeConfig same_exponent = with_axes(plain(128, 1e4), AxisLayout::kAxial, {16, 24, 24});
  same_exponent.exponent_dim = 128;
  EXPECT_EQ(resolved(same_exponent).frequencies[17], resolved(plain(128, 1e4)).frequencies[1]);
}

// Pixtral: head 64; rows take the frequencies of even index, columns those of odd index.
TEST(Axes, axial_alternating_shares_the_frequencies_out) {
  const Rope rope = resolved(with_axes(plain(64, 1e4), AxisLayout::kAxialAlternating, {16, 16}));
  const Rope text = resolved(plain(64, 1e4));
  EXPECT_EQ(map_of(rope), repeated("t", 16) + repeated("h", 16));
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(rope.frequencies[i], text.frequencies[2 * i]);
    EXPECT_EQ(rope.frequencies[16 + i], text.frequencies[2 * i + 1]);
    EXPECT_EQ(rope.fp32_frequencies[16 + i], text.fp32_frequencies[2 * i + 1]);
  }
  EXPECT_FALSE(rope.ggml.has_value());
}

TEST(Axes, axial_layouts_take_linear_scaling) {
  const RopeConfig config = with_axes(plain(80, 1e4), AxisLayout::kAxial, {20, 20});
  const Rope rope = resolved(with(config, LinearScaling{4}));
  expect_digits(frequency(rope, 21), frequency(resolved(config), 21) / 4, 15);
}

}  // namespace
}  // namespace ropecache
