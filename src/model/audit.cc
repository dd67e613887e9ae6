// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "model/audit.h"

namespace ropecache::model {

std::string one_line(std::string text) {
  for (char& c : text) {
    if (c < 0x20 || c >= 0x7f) c = '?';
  }
  return text;
}

}  // namespace ropecache::model
