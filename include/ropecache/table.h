// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Table: immutable, shared, answers "cos and sin of these positions" for one Rope in one profile. Its identity is its
// content. Made by build_table() or, once and shared, by a RopeCache.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "ropecache/positions.h"
#include "ropecache/rope.h"
#include "ropecache/status.h"

namespace ropecache {

// The arithmetic recipe of a table.
enum class Profile : std::uint8_t {
  kExact = 0,  // the fp32 nearest to magnitude * cos(p * frequency) in real arithmetic; every position
  kFp32 = 1,   // angle = fl(p * fp32 frequency): HF, torchtitan, Megatron, vLLM; then rounded correctly
  kGgml = 2,   // angle by ggml's running product; then rounded correctly
};
std::string_view profile_name(Profile profile) noexcept;  // "exact", "fp32", "ggml"

// What the rows of a table may be used for. Only the magnitude differs, so a rope of magnitude 1 has one table for
// all three and any other rope has one each.
enum class Use : std::uint8_t {
  kRotate = 0,   // forward and backward: magnitude m
  kInverse = 1,  // true inverse: magnitude 1/m
  kShift = 2,    // moving cached keys by a delta: magnitude 1
};

// Content identity: canonical bytes of frequencies, axes, magnitude and profile, hashed (SHA-256, first 16 bytes).
// Stable across processes, machines and releases of the same major version. All zeros is no key.
struct TableKey {
  std::array<std::uint8_t, 16> bytes{};
  bool operator==(const TableKey&) const noexcept = default;
  bool empty() const noexcept { return std::bit_cast<std::array<std::uint64_t, 2>>(bytes) == std::array<std::uint64_t, 2>{}; }
  std::string hex() const;  // 32 digits
};

// Without building the table. Fails only where build_table() would refuse (profile `ggml` for a rope without a recipe).
Result<TableKey> table_key(const Rope& rope, Profile profile = Profile::kExact, Use use = Use::kRotate) noexcept;

class Table {
 public:
  virtual ~Table() = default;
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  const TableKey& key() const noexcept { return key_; }
  Profile profile() const noexcept { return profile_; }
  int pairs() const noexcept { return pairs_; }
  int axis_count() const noexcept { return axis_count_; }
  bool unit_magnitude() const noexcept { return unit_magnitude_; }
  // True where rows of this table may be used so; see Use.
  bool serves(Use use) const noexcept { return unit_magnitude_ || use == use_; }

  // Bytes held now. Profile `exact`: constant, whatever positions are asked.
  virtual std::size_t bytes() const noexcept = 0;

  // Profiles `fp32` and `ggml` compute a row when it is asked for (microseconds a value), unless it is stored: reserve()
  // stores the rows of |p| < positions, in blocks appended without moving what exists, while readers go on. It changes
  // speed, never a value. Profile `exact`: does nothing. Thread-safe. kOutOfMemory, kInvalidArgument.
  virtual Status reserve(std::int64_t positions) const noexcept = 0;

  // Writes cos[token * pairs() + pair] and sin likewise, fp32, for any positions from -kMaxPosition to kMaxPosition.
  // Checks every position before the first write. kOutOfRange: a position beyond that. kInvalidArgument: null, or fewer
  // axes or elements than needed. Thread-safe; allocates nothing, takes no lock.
  Status rows(const Positions& positions, float* cos, float* sin) const noexcept;

 protected:
  Table(const Rope& rope, Profile profile, Use use, const TableKey& key);
  // Positions are checked already; axis of pair i is axes_[i].
  virtual void fill(const Positions& positions, float* cos, float* sin) const noexcept = 0;

  std::vector<std::uint8_t> axes_;

 private:
  friend class Step;  // checks positions once for all its tables

  TableKey key_;
  Profile profile_;
  Use use_;
  int pairs_;
  int axis_count_;
  bool unit_magnitude_;
};

using TableRef = std::shared_ptr<const Table>;

// Most axes a rope can have.
inline constexpr int kMaxAxes = 8;

// Checks a view: shape, count, and that each position of the first `axis_count` axes is in range. Reads nothing else.
Status check_positions(const Positions& positions, int axis_count) noexcept;

// Builds a table of its own, not shared. kOutOfMemory, kUnsupported (no ggml recipe), kInvalidArgument.
Result<TableRef> build_table(const Rope& rope, Profile profile = Profile::kExact, Use use = Use::kRotate) noexcept;

}  // namespace ropecache
