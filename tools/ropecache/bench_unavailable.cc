// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "commands.h"

namespace ropecache::cli {

// In place of bench.cc where Google Benchmark was not found.
Result<Outcome> bench(const BenchOptions&) {
  return Status(StatusCode::kInternal, "bench: built without Google Benchmark (libbenchmark-dev, ROPECACHE_CLI_BENCH=ON)");
}

}  // namespace ropecache::cli
