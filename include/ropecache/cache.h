// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// RopeCache: builds each distinct table once and hands out shared references. It belongs to a model and is passed
// explicitly; there is no global one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "ropecache/rope.h"
#include "ropecache/status.h"
#include "ropecache/table.h"

namespace ropecache {

struct CacheCounters {
  std::uint64_t builds = 0;  // tables built
  std::uint64_t hits = 0;    // requests answered with a table that existed or was being built
  std::size_t tables = 0;    // tables alive now
  std::size_t bytes = 0;     // held by them now
};

// The tables themselves. A RopeCache makes one of its own unless it is given one; caches that are given the same store
// (two models in one process, by choice) share tables. Thread-safe.
class TableStore {
 public:
  TableStore();
  ~TableStore();
  TableStore(const TableStore&) = delete;
  TableStore& operator=(const TableStore&) = delete;

  CacheCounters counters() const noexcept;

 private:
  friend class RopeCache;
  struct State;
  std::shared_ptr<State> state_;
};

// Thread-safe. Equal content means the same table; any number of threads asking at once cause one build, the others
// wait for it. The cache holds no table alive: a table is freed when its last TableRef is dropped, and the references
// stay valid after the cache is gone. So a layer keeps the TableRef it was given.
class RopeCache {
 public:
  RopeCache();
  explicit RopeCache(std::shared_ptr<TableStore> store);
  ~RopeCache();
  RopeCache(const RopeCache&) = delete;
  RopeCache& operator=(const RopeCache&) = delete;

  // Errors as build_table(); a failed build is not remembered.
  Result<TableRef> get(const Rope& rope, Profile profile = Profile::kExact, Use use = Use::kRotate) noexcept;

  // builds and hits of this cache alone; tables and bytes of its store.
  CacheCounters counters() const noexcept;

 private:
  struct Counts;
  std::shared_ptr<TableStore> store_;
  std::unique_ptr<Counts> counts_;
};

}  // namespace ropecache
