// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Text of files, names of files, and what is made of them, as one line that can be shown on a terminal.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

namespace ropecache {
namespace line_detail {

// Code points that act on a terminal or are not seen: controls, breaks of lines, overrides of direction, spaces without
// width, fillers, tags. The joiners U+200C and U+200D are left, since scripts need them.
struct Range {
  std::uint32_t first, last;
};
inline constexpr Range kHidden[] = {
    {0x0000, 0x001f}, {0x007f, 0x009f}, {0x00ad, 0x00ad}, {0x061c, 0x061c},   {0x115f, 0x1160},
    {0x180e, 0x180e}, {0x200b, 0x200b}, {0x200e, 0x200f}, {0x2028, 0x202e},   {0x2060, 0x206f},
    {0x3164, 0x3164}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe0fff},
};

inline bool is_hidden(std::uint32_t code) {
  return std::any_of(std::begin(kHidden), std::end(kHidden),
                     [code](const Range& range) { return range.first <= code && code <= range.last; });
}

struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;  // 0: not UTF-8
};

// The character that `text`, which is not empty, begins with. Overlong forms, surrogates and noncharacters are none.
inline Character first_character(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::uint32_t lead = byte(0);
  const std::size_t bytes = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (bytes == 0 || bytes > text.size()) return {};
  std::uint32_t code = bytes == 1 ? lead : lead & (0x7fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3fu);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  const bool noncharacter = (code & 0xfffe) == 0xfffe || (code >= 0xfdd0 && code <= 0xfdef);
  if (code < kLeast[bytes] || code > 0x10ffff || surrogate || noncharacter) return {};
  return {code, bytes};
}

inline void append_hex(std::string& out, std::uint32_t value, int digits) {
  for (int digit = digits - 1; digit >= 0; --digit) out += "0123456789abcdef"[value >> (4 * digit) & 15];
}

}  // namespace line_detail

// What can be seen stays as it is; what cannot is spelled out: "\x1b" for a byte that is a control or no UTF-8, "\u202e"
// for a hidden character.
inline std::string one_line(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const line_detail::Character c = line_detail::first_character(text);
    const bool hidden = line_detail::is_hidden(c.code);
    const std::size_t bytes = std::max<std::size_t>(c.bytes, 1);
    if (bytes == 1 && (c.bytes == 0 || hidden)) {
      out += "\\x";
      line_detail::append_hex(out, static_cast<unsigned char>(text.front()), 2);
    } else if (hidden) {
      out += "\\u";
      line_detail::append_hex(out, c.code, c.code > 0xffff ? 5 : 4);
    } else {
      out += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
  }
  return out;
}

// At most `most` bytes, at least 16: of a longer text "..." stands for the middle. No character is cut in two.
inline std::string shortened(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  const auto inside = [text](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80; };
  std::size_t head = (most - 3) * 2 / 3;
  std::size_t tail = text.size() - (most - 3 - head);
  for (int n = 0; n < 3 && head > 0 && inside(head); ++n) --head;
  for (int n = 0; n < 3 && tail < text.size() && inside(tail); ++n) ++tail;
  return std::string(text.substr(0, head)) + "..." + std::string(text.substr(tail));
}

}  // namespace ropecache
