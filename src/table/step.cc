// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "ropecache/step.h"

#include <algorithm>
#include <exception>

#include "text.h"

namespace ropecache {

namespace {

Rows header_of(const Table& table) noexcept {
  Rows rows;
  rows.magic = Rows::kMagic;
  rows.profile = table.profile();
  for (Use use : {Use::kRotate, Use::kInverse, Use::kShift}) {
    if (table.serves(use)) rows.uses = static_cast<std::uint8_t>(rows.uses | (1u << static_cast<int>(use)));
  }
  rows.pairs = table.pairs();
  rows.key = table.key();
  return rows;
}

}  // namespace

Status Step::add(const TableRef& table) noexcept {
  if (table == nullptr) return Status(StatusCode::kInvalidArgument, "step: null table");
  if (max_tokens_ < 0) {
    return Status(StatusCode::kInvalidArgument, text("step: max_tokens ", max_tokens_, "; expected 0 or more"));
  }
  for (const Entry& entry : entries_) {
    if (entry.table->key() == table->key()) return Status();
  }
  try {
    Entry entry;
    entry.table = table;
    std::size_t size = 0;
    if (__builtin_mul_overflow(static_cast<std::size_t>(max_tokens_), static_cast<std::size_t>(table->pairs()), &size)) {
      return Status(StatusCode::kOutOfMemory, text("step: no memory for rows of ", max_tokens_, " tokens"));
    }
    entry.cos.resize(size);
    entry.sin.resize(size);
    entry.header = header_of(*table);
    entry.header.cos = entry.cos.data();
    entry.header.sin = entry.sin.data();
    entries_.push_back(std::move(entry));
    tokens_ = -1;  // the new table has no rows of the current pass
    return Status();
  } catch (const std::exception&) {
    return Status(StatusCode::kOutOfMemory, text("step: no memory for rows of ", max_tokens_, " tokens"));
  }
}

Status Step::begin(const Positions& positions) noexcept {
  tokens_ = -1;
  int axes = 1;
  for (const Entry& entry : entries_) axes = std::max(axes, entry.table->axis_count());
  if (positions.tokens > max_tokens_) {  // before they are read, one by one
    return Status(StatusCode::kOutOfRange, text("step: ", positions.tokens, " tokens; expected at most ", max_tokens_,
                                                ", the max_tokens it was made for"));
  }
  if (Status status = check_positions(positions, axes); !status.ok()) return status;
  for (Entry& entry : entries_) {
    entry.table->fill(positions, entry.cos.data(), entry.sin.data());
    ++gathers_;
  }
  tokens_ = positions.tokens;
  return Status();
}

Result<Rows> Step::rows(const Table& table) const noexcept {
  if (tokens_ < 0) return Status(StatusCode::kMismatch, "step: no pass has begun; call begin() first");
  for (const Entry& entry : entries_) {
    if (entry.table.get() != &table && entry.table->key() != table.key()) continue;
    Rows rows = entry.header;
    rows.tokens = tokens_;
    return rows;
  }
  return Status(StatusCode::kMismatch, text("step: table ", table.key().hex(), " was not added"));
}

}  // namespace ropecache
