// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "ropecache/status.h"

#include <exception>

namespace ropecache {

std::string_view status_code_name(StatusCode code) noexcept {
  switch (code) {
    case StatusCode::kOk: return "ok";
    case StatusCode::kInvalidArgument: return "invalid argument";
    case StatusCode::kOutOfRange: return "out of range";
    case StatusCode::kUnsupported: return "unsupported";
    case StatusCode::kIo: return "input/output error";
    case StatusCode::kParse: return "parse error";
    case StatusCode::kMismatch: return "mismatch";
    case StatusCode::kOutOfMemory: return "out of memory";
    case StatusCode::kInternal: return "internal error";
  }
  return "unknown status";
}

Status::Status(StatusCode code, std::string_view message) noexcept : code_(code) {
  try {
    message_ = std::make_shared<const std::string>(message);
  } catch (const std::exception&) {
    message_.reset();
  }
}

const std::string& Status::message() const noexcept {
  static const std::string kNone;
  return message_ == nullptr ? kNone : *message_;
}

}  // namespace ropecache
