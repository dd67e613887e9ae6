// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "style.h"

#include <unistd.h>

#include <cstdlib>

namespace ropecache::cli {

Style Style::of_stdout() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  const bool wanted = no_color == nullptr || *no_color == '\0';
  const bool able = term == nullptr || std::string_view(term) != "dumb";
  return {wanted && able && isatty(STDOUT_FILENO) == 1};
}

std::string Style::wrap(std::string_view code, std::string_view text) const {
  if (!colour) return std::string(text);
  std::string out = "\x1b[";
  out.append(code).append("m").append(text).append("\x1b[0m");
  return out;
}

}  // namespace ropecache::cli
