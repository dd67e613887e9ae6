// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "one_line.h"

namespace ropecache::cli {
namespace {

template <class Float>
std::string shortest_of(Float value) {
  std::array<char, 64> buffer{};
  const Float size = std::fabs(value);
  const bool plain = value == 0 || (size >= Float(1e-6) && size < Float(1e16));
  const auto format = plain ? std::chars_format::fixed : std::chars_format::scientific;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format).ptr;
  return {buffer.data(), end};
}

}  // namespace

std::string ranges(const std::vector<int>& ascending) {
  std::string out;
  for (std::size_t first = 0; first < ascending.size();) {
    std::size_t last = first;
    while (last + 1 < ascending.size() && ascending[last + 1] == ascending[last] + 1) ++last;
    if (!out.empty()) out += ',';
    out += std::to_string(ascending[first]);
    if (last > first) out += '-' + std::to_string(ascending[last]);
    first = last + 1;
  }
  return out;
}

std::string bytes(std::int64_t count) {
  static constexpr std::array<const char*, 5> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB"};
  if (count < 1024) return fmt::format("{} B", count);
  auto value = static_cast<double>(count);
  std::size_t unit = 0;
  value /= 1024;
  while (value >= 1023.95 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string shortest(double value) { return shortest_of(value); }
std::string shortest(float value) { return shortest_of(value); }

std::string printable(std::string_view text, std::size_t most) {
  return shortened(one_line(shortened(text, most)), most);
}

std::size_t columns(std::string_view text) {
  const auto starts = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; };
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts));
}

}  // namespace ropecache::cli
