// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// From a model file to the table of every layer. The marked part may stand in README.md.

// [begin model]
#include "ropecache/model.h"

#include <cstdio>
#include <map>

#include "ropecache/cache.h"

using namespace ropecache;

int main(int argc, char** argv) {
  const Result<ModelRopes> model = read_model(argc > 1 ? argv[1] : "config.json");
  if (!model.ok()) return std::fprintf(stderr, "%s\n", model.status().message().c_str()), 1;

  RopeCache cache;
  std::map<int, TableRef> tables;  // of each layer that has a rope
  for (const ModelRope& part : model->ropes) {
    if (part.role != Role::kAttention) continue;
    for (const int layer : part.layers) {
      const Result<TableRef> table = cache.get(part.rope);
      if (!table.ok()) return std::fprintf(stderr, "%s\n", table.status().message().c_str()), 1;
      tables[layer] = *table;
    }
  }
  const std::size_t distinct = cache.counters().tables;
  std::printf("%zu layer%s with a rope, %zu table%s\n", tables.size(), tables.size() == 1 ? "" : "s", distinct,
              distinct == 1 ? "" : "s");
  return 0;
}
// [end model]
