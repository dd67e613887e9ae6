// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// text(a, b, ...): strings and numbers joined, for error texts. Doubles are printed as their shortest decimal.
#pragma once

#include <charconv>
#include <concepts>
#include <string>
#include <string_view>

namespace ropecache {

inline void append_text(std::string& out, std::string_view piece) { out += piece; }
inline void append_text(std::string& out, char piece) { out += piece; }

template <class Number>
  requires(std::integral<Number> || std::floating_point<Number>) && (!std::same_as<Number, char>)
void append_text(std::string& out, Number number) {
  char digits[40];
  if constexpr (std::same_as<Number, bool>) {
    out += number ? "true" : "false";
  } else {
    out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
  }
}

template <class... Pieces>
std::string text(const Pieces&... pieces) {
  std::string out;
  (append_text(out, pieces), ...);
  return out;
}

// "1 byte", "2 bytes"
template <std::integral Number>
std::string counted(Number count, std::string_view noun) {
  return text(count, ' ', noun, count == 1 ? "" : "s");
}

}  // namespace ropecache
