// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "ropecache/cache.h"

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace ropecache {
namespace {

struct KeyHash {
  std::size_t operator()(const TableKey& key) const noexcept {  // a digest: any eight bytes are a hash
    std::size_t hash = 0;
    std::memcpy(&hash, key.bytes.data(), sizeof hash);
    return hash;
  }
};

}  // namespace

struct TableStore::State {
  struct Entry {
    std::weak_ptr<const Table> table;
    bool building = false;
  };
  mutable std::mutex mutex;
  std::condition_variable built;
  std::unordered_map<TableKey, Entry, KeyHash> entries;
  std::uint64_t builds = 0;
  std::uint64_t hits = 0;
};

struct RopeCache::Counts {
  std::atomic<std::uint64_t> builds{0};
  std::atomic<std::uint64_t> hits{0};
};

TableStore::TableStore() : state_(std::make_shared<State>()) {}
TableStore::~TableStore() = default;

CacheCounters TableStore::counters() const noexcept {
  CacheCounters counters;
  try {
    // References are dropped after the lock: the last one's deleter takes it.
    std::vector<TableRef> alive;
    {
      const std::lock_guard lock(state_->mutex);
      counters.builds = state_->builds;
      counters.hits = state_->hits;
      alive.reserve(state_->entries.size());
      for (const auto& [key, entry] : state_->entries) {
        if (auto table = entry.table.lock()) alive.push_back(std::move(table));
      }
    }
    counters.tables = alive.size();
    for (const TableRef& table : alive) counters.bytes += table->bytes();
  } catch (const std::exception&) {
    // No memory to list the tables: the counts that need none stand.
  }
  return counters;
}

RopeCache::RopeCache() : RopeCache(std::make_shared<TableStore>()) {}

RopeCache::RopeCache(std::shared_ptr<TableStore> store)
    : store_(store ? std::move(store) : std::make_shared<TableStore>()), counts_(std::make_unique<Counts>()) {}

RopeCache::~RopeCache() = default;

CacheCounters RopeCache::counters() const noexcept {
  CacheCounters counters = store_->counters();
  counters.builds = counts_->builds.load(std::memory_order_relaxed);
  counters.hits = counts_->hits.load(std::memory_order_relaxed);
  return counters;
}

Result<TableRef> RopeCache::get(const Rope& rope, Profile profile, Use use) noexcept {
  const auto key = table_key(rope, profile, use);
  if (!key.ok()) return key.status();
  try {
    const std::shared_ptr<TableStore::State> state = store_->state_;
    {
      std::unique_lock lock(state->mutex);
      for (;;) {
        TableStore::State::Entry& entry = state->entries[*key];
        if (TableRef table = entry.table.lock()) {
          ++state->hits;
          counts_->hits.fetch_add(1, std::memory_order_relaxed);
          return table;
        }
        if (!entry.building) {
          entry.building = true;
          break;
        }
        state->built.wait(lock);
      }
    }

    // This thread builds; the others wait above. Whatever happens, `building` is taken back and they are woken.
    auto built = build_table(rope, profile, use);
    TableRef shared;
    if (built.ok()) {
      try {
        // The owner of the last reference also removes the entry, unless a new build has begun there.
        shared = TableRef(built->get(), [state, key = *key, owner = *built](const Table*) mutable {
          {
            const std::lock_guard lock(state->mutex);
            const auto entry = state->entries.find(key);
            if (entry != state->entries.end() && !entry->second.building && entry->second.table.expired()) {
              state->entries.erase(entry);
            }
          }
          owner.reset();
        });
      } catch (const std::exception&) {
        built = Status(StatusCode::kOutOfMemory, "no memory to share a table");
      }
    }
    {
      const std::lock_guard lock(state->mutex);
      const auto entry = state->entries.find(*key);
      if (built.ok()) {
        entry->second.table = shared;
        entry->second.building = false;
        ++state->builds;
        counts_->builds.fetch_add(1, std::memory_order_relaxed);
      } else {
        state->entries.erase(entry);
      }
    }
    state->built.notify_all();
    if (!built.ok()) return built.status();
    return shared;
  } catch (const std::exception&) {
    return Status(StatusCode::kOutOfMemory, "no memory to look up a table");
  }
}

}  // namespace ropecache
