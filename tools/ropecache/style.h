// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Emphasis for people: codes only where a terminal reads them, and never with NO_COLOR set (no-color.org).
#pragma once

#include <string>
#include <string_view>

namespace ropecache::cli {

struct Style {
  bool colour = false;

  static Style of_stdout();

  std::string bold(std::string_view text) const { return wrap("1", text); }
  std::string dim(std::string_view text) const { return wrap("2", text); }
  std::string good(std::string_view text) const { return wrap("32", text); }
  std::string bad(std::string_view text) const { return wrap("31", text); }

 private:
  std::string wrap(std::string_view code, std::string_view text) const;
};

}  // namespace ropecache::cli
