// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Step: the rows of one forward pass, gathered once per distinct table and read by every layer.
#pragma once

#include <cstdint>
#include <vector>

#include "ropecache/aligned.h"
#include "ropecache/positions.h"
#include "ropecache/status.h"
#include "ropecache/table.h"

namespace ropecache {

enum class Device : std::uint8_t { kCpu = 1 };

// cos and sin of some tokens, [tokens, pairs], contiguous, fp32, with the header that rotate() checks: rows that are
// blank, from another table, too short or for another use are refused, never taken for identity. Non-owning.
struct Rows {
  static constexpr std::uint32_t kMagic = 0x52437731;  // "RCw1"

  std::uint32_t magic = 0;
  Device device = Device::kCpu;
  Profile profile = Profile::kExact;
  std::uint8_t uses = 0;  // bit n set: may be used for Use n
  int pairs = 0;
  std::int64_t tokens = 0;
  TableKey key;
  const float* cos = nullptr;
  const float* sin = nullptr;

  bool serves(Use use) const noexcept { return ((uses >> static_cast<int>(use)) & 1) != 0; }
};

// One Step belongs to one forward pass at a time. add() the distinct tables once; then per pass call begin() with the
// pass's positions, and rows() from every layer. begin() and rows() allocate nothing as long as no pass has more tokens
// than max_tokens and every table was added. begin() and add() need exclusive use; rows() of tables that were gathered
// may be called from any number of threads.
class Step {
 public:
  explicit Step(std::int64_t max_tokens) noexcept : max_tokens_(max_tokens) {}

  // Makes room for a table's rows; adding a table twice is harmless. kOutOfMemory, kInvalidArgument.
  Status add(const TableRef& table) noexcept;

  // Checks `positions` against every added table, then gathers each table's rows once. On error nothing is gathered and
  // rows() fails until a begin() succeeds. The positions are read during the call only.
  Status begin(const Positions& positions) noexcept;

  // The rows of a table in the current pass; valid until the next begin() or add().
  // kMismatch: the table was not added, or no pass has begun.
  Result<Rows> rows(const Table& table) const noexcept;

  // Times a table's rows were gathered since construction: one per distinct table and pass.
  std::uint64_t gathers() const noexcept { return gathers_; }

 private:
  struct Entry {
    TableRef table;
    AlignedVector<float> cos;
    AlignedVector<float> sin;
    Rows header;  // but for the tokens of the pass
  };
  std::int64_t max_tokens_;
  std::int64_t tokens_ = -1;  // of the current pass; -1: none
  std::uint64_t gathers_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace ropecache
