// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// A buffered walk over Bytes that never passes the end: reads and skips that would do so set failed() and give zeros.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>

#include "model/bytes.h"

namespace ropecache::model {

static_assert(std::endian::native == std::endian::little, "GGUF is read as little-endian memory");

class GgufCursor {
 public:
  explicit GgufCursor(const Bytes& bytes) : bytes_(bytes) {}

  const Bytes& source() const { return bytes_; }
  std::uint64_t size() const { return bytes_.size(); }
  std::uint64_t position() const { return position_; }
  std::uint64_t left() const { return bytes_.size() - position_; }
  bool failed() const { return failed_; }

  template <class T>
  requires std::integral<T> || std::floating_point<T> T get() {
    T value{};
    copy(&value, sizeof value);
    return value;
  }
  // `count` is at most left(), or the read fails before anything is allocated.
  std::string bytes(std::uint64_t count) {
    if (!can_take(count)) return {};
    std::string out(static_cast<std::size_t>(count), '\0');
    copy(out.data(), out.size());
    return failed_ ? std::string() : out;
  }
  void skip(std::uint64_t count) {
    if (can_take(count)) position_ += count;
  }

 private:
  bool can_take(std::uint64_t count) {
    if (count > left()) failed_ = true;
    return !failed_;
  }
  void copy(void* out, std::size_t count) {
    if (!can_take(count)) return;
    if (count > buffer_.size()) {
      failed_ = !bytes_.read(position_, out, count);
    } else {
      if (position_ < start_ || position_ + count > start_ + filled_) refill();
      if (failed_) return;
      std::memcpy(out, buffer_.data() + (position_ - start_), count);
    }
    position_ += count;
  }
  void refill() {
    start_ = position_;
    filled_ = static_cast<std::size_t>(std::min<std::uint64_t>(buffer_.size(), left()));
    failed_ = !bytes_.read(start_, buffer_.data(), filled_);
  }

  const Bytes& bytes_;
  std::uint64_t position_ = 0;
  std::uint64_t start_ = 0;
  std::size_t filled_ = 0;
  bool failed_ = false;
  std::array<char, 65536> buffer_;
};

}  // namespace ropecache::model
