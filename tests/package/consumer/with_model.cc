// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Prints the version of the headers; fails unless the model library works.
#include <ropecache/model.h>
#include <ropecache/version.h>

#include <cstdio>

int main() {
  const auto model = ropecache::read_model_json("not JSON", "config.json");
  if (model.status().code() != ropecache::StatusCode::kParse) return 1;
  std::puts(ROPECACHE_VERSION_STRING);
  return 0;
}
