// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Errors are values: every call that can fail returns a Status or a Result<T>. Nothing throws through
// this API, nothing aborts, nothing prints. An ok Status costs no allocation.
#pragma once

#if __cplusplus < 202002L
#error "ropecache needs C++20: -std=c++20"
#endif

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace ropecache {

// Numbers are part of the interface: append only.
enum class StatusCode : std::int32_t {
  kOk = 0,
  kInvalidArgument = 1,  // a value that no rope, table or tensor can have
  kOutOfRange = 2,       // a position outside the table, a size outside its bounds
  kUnsupported = 3,      // well formed, but not something this library does
  kIo = 4,               // a file that cannot be opened or read
  kParse = 5,            // a file whose bytes are not what its format promises
  kMismatch = 6,         // data whose header is missing, or belongs to another table
  kOutOfMemory = 7,
  kInternal = 8,
};

// "invalid argument", "out of range", ...
std::string_view status_code_name(StatusCode code) noexcept;

class [[nodiscard]] Status {
 public:
  Status() noexcept = default;
  // If memory for the text runs out the code is kept and the text is lost.
  Status(StatusCode code, std::string_view message) noexcept;

  bool ok() const noexcept { return code_ == StatusCode::kOk; }
  StatusCode code() const noexcept { return code_; }
  // One line for the person who has the problem: what, where, which value, what was expected.
  const std::string& message() const noexcept;

 private:
  StatusCode code_ = StatusCode::kOk;
  std::shared_ptr<const std::string> message_;  // shared, so that copies cannot fail; none where there is no text
};

// A T, or the Status that says why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) noexcept : value_(std::move(value)) {}
  Result(Status status) noexcept : status_(std::move(status)) {}

  bool ok() const noexcept { return status_.ok(); }
  const Status& status() const noexcept { return status_; }

  // Only when ok(); otherwise a default-constructed T.
  T& value() & noexcept { return value_; }
  const T& value() const& noexcept { return value_; }
  T&& value() && noexcept { return std::move(value_); }
  T& operator*() & noexcept { return value_; }
  const T& operator*() const& noexcept { return value_; }
  T* operator->() noexcept { return &value_; }
  const T* operator->() const noexcept { return &value_; }

 private:
  T value_{};
  Status status_;
};

}  // namespace ropecache
