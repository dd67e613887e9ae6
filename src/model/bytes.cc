// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "model/bytes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "text.h"

namespace ropecache::model {
namespace {

bool holds(std::uint64_t size, std::uint64_t offset, std::size_t count) {
  return offset <= size && count <= size - offset;
}

Status cannot_read(const std::string& path, int error) {
  return Status(StatusCode::kIo, text(path, ": cannot be read: ", std::generic_category().message(error)));
}

}  // namespace

bool MemoryBytes::read(std::uint64_t offset, void* out, std::size_t count) const {
  if (!holds(size_, offset, count)) return false;
  if (count != 0) std::memcpy(out, bytes_.data() + offset, count);
  return true;
}

FileBytes::~FileBytes() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

FileBytes::Kind FileBytes::open(const std::string& path, Status& status) {
  // O_NONBLOCK: opening a pipe without a writer returns at once; regular files do not care.
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (descriptor_ < 0) {
    if (errno == ENOENT) return Kind::kMissing;
    status = cannot_read(path, errno);
    return Kind::kError;
  }
  struct stat info {};
  if (::fstat(descriptor_, &info) != 0) {
    status = cannot_read(path, errno);
    return Kind::kError;
  }
  if (S_ISDIR(info.st_mode)) return Kind::kDirectory;
  if (!S_ISREG(info.st_mode)) {
    status = Status(StatusCode::kIo, text(path, ": is a pipe, socket or device, expected a regular file: save it to one first"));
    return Kind::kError;
  }
  size_ = static_cast<std::uint64_t>(info.st_size);
  return Kind::kFile;
}

bool FileBytes::read(std::uint64_t offset, void* out, std::size_t count) const {
  if (!holds(size_, offset, count)) return false;
  auto* next = static_cast<char*>(out);
  while (count > 0) {
    const ssize_t got = ::pread(descriptor_, next, count, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;  // an error, or the file became shorter meanwhile
    next += got;
    offset += static_cast<std::uint64_t>(got);
    count -= static_cast<std::size_t>(got);
  }
  return true;
}

}  // namespace ropecache::model
