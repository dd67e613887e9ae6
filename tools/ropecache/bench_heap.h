// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// What this process holds on the heap, counted by its operator new (bench_heap.cc replaces it).
#pragma once

#include <cstddef>
#include <cstdint>

namespace ropecache::cli {

struct Heap {
  std::int64_t bytes = 0;          // held now
  std::int64_t peak = 0;           // most since reset_peak()
  std::uint64_t allocations = 0;   // so far
};
Heap heap();
void reset_peak();

}  // namespace ropecache::cli
