// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "position_list.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "ropecache/positions.h"
#include "text.h"

namespace ropecache::cli {
namespace {

std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (value > kMaxPosition || value < -kMaxPosition) return std::nullopt;
  return value;
}

Status bad(std::string_view item) {
  return {StatusCode::kInvalidArgument,
          fmt::format("--positions: '{}': expected whole numbers from {} to {} or ranges A-B of them",
                      printable(item, 40), -kMaxPosition, kMaxPosition)};
}

}  // namespace

Result<std::vector<std::int64_t>> parse_positions(std::string_view text) {
  std::vector<std::int64_t> out;
  while (true) {
    const std::string_view item = text.substr(0, text.find(','));
    // The dash of a range stands after at least one digit; one before it is a sign.
    const std::size_t dash = item.size() < 2 ? std::string_view::npos : item.find('-', 1);
    const auto first = whole(item.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : whole(item.substr(dash + 1));
    if (!first || !last || *last < *first) return bad(item);
    if (static_cast<std::uint64_t>(*last - *first) >= kMaxRows - out.size()) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("--positions: '{}': expected {} rows at most", printable(item, 40), kMaxRows));
    }
    for (std::int64_t p = *first; p <= *last; ++p) out.push_back(p);
    if (item.size() == text.size()) return out;
    text.remove_prefix(item.size() + 1);
  }
}

}  // namespace ropecache::cli
