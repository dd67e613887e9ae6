// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the bytes of a model file come from: memory, or a regular file that is read piece by piece. Nothing is mapped
// and nothing is loaded whole, so a file of many gigabytes costs the few pages that hold its metadata.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "ropecache/status.h"

namespace ropecache::model {

class Bytes {
 public:
  virtual ~Bytes() = default;
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  std::uint64_t size() const { return size_; }
  // Fills `out` from `offset` on. False if that range is not all there, or cannot be read.
  virtual bool read(std::uint64_t offset, void* out, std::size_t count) const = 0;

 protected:
  Bytes() = default;
  std::uint64_t size_ = 0;
};

class MemoryBytes final : public Bytes {
 public:
  explicit MemoryBytes(std::string_view bytes) : bytes_(bytes) { size_ = bytes.size(); }
  bool read(std::uint64_t offset, void* out, std::size_t count) const override;

 private:
  std::string_view bytes_;
};

// Only regular files are opened: a pipe or a device could block, or never end.
class FileBytes final : public Bytes {
 public:
  FileBytes() = default;
  ~FileBytes() override;

  enum class Kind { kFile, kDirectory, kMissing, kError };
  // kFile: open. kDirectory, kMissing: not opened, no error text. kError: `status` says why.
  Kind open(const std::string& path, Status& status);
  bool read(std::uint64_t offset, void* out, std::size_t count) const override;

 private:
  int descriptor_ = -1;
};

}  // namespace ropecache::model
