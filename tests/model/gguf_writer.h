// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes small GGUF files into a string, right ones and wrong ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ropecache::test {

template <class T>
void append(std::string& out, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}

inline void append_string(std::string& out, std::string_view text) {
  append<std::uint64_t>(out, text.size());
  out += text;
}

// Keys are given without the architecture, which leads every name but those of general.* and split.*.
class GgufWriter {
 public:
  explicit GgufWriter(std::string_view architecture) : architecture_(architecture) {
    text("general.architecture", architecture);
  }

  GgufWriter& u32(std::string_view key, std::uint32_t value) { return scalar(key, 4, value); }
  GgufWriter& i32(std::string_view key, std::int32_t value) { return scalar(key, 5, value); }
  GgufWriter& u64(std::string_view key, std::uint64_t value) { return scalar(key, 10, value); }
  GgufWriter& u16(std::string_view key, std::uint16_t value) { return scalar(key, 2, value); }
  GgufWriter& f32(std::string_view key, float value) { return scalar(key, 6, value); }
  GgufWriter& f64(std::string_view key, double value) { return scalar(key, 12, value); }
  GgufWriter& flag(std::string_view key, bool value) { return scalar<std::uint8_t>(key, 7, value ? 1 : 0); }
  GgufWriter& text(std::string_view key, std::string_view value) {
    begin(key, 8);
    append_string(metadata_, value);
    return *this;
  }
  GgufWriter& ints(std::string_view key, const std::vector<int>& values) { return list<std::int32_t>(key, 5, values); }
  GgufWriter& floats(std::string_view key, const std::vector<float>& values) { return list<float>(key, 6, values); }
  GgufWriter& flags(std::string_view key, const std::vector<int>& values) { return list<std::uint8_t>(key, 7, values); }
  // Any value, given as the bytes that follow the type.
  GgufWriter& raw(std::string_view key, std::uint32_t type, std::string_view bytes) {
    begin(key, type);
    metadata_ += bytes;
    return *this;
  }

  GgufWriter& tensor(std::string_view name, const std::vector<float>& values) {
    std::string data;
    for (const float value : values) append(data, value);
    return tensor_bytes(name, 0, values.size(), data);
  }
  // `type`: ggml's number of the element type.
  GgufWriter& tensor_bytes(std::string_view name, std::uint32_t type, std::uint64_t count, std::string_view data) {
    pad(data_);
    append_string(infos_, name);
    append<std::uint32_t>(infos_, 1);
    append<std::uint64_t>(infos_, count);
    append<std::uint32_t>(infos_, type);
    append<std::uint64_t>(infos_, data_.size());
    data_ += data;
    ++tensors_;
    return *this;
  }
  // A description alone, as raw bytes behind the name.
  GgufWriter& tensor_info(std::string_view name, std::string_view bytes) {
    append_string(infos_, name);
    infos_ += bytes;
    ++tensors_;
    return *this;
  }
  GgufWriter& alignment(std::uint32_t value) {
    alignment_ = value;
    return u32("general.alignment", value);
  }

  std::string bytes(std::uint32_t version = 3) const {
    std::string out = "GGUF";
    append(out, version);
    append(out, tensors_);
    append(out, keys_);
    out += metadata_;
    out += infos_;
    if (tensors_ != 0) pad(out);
    return out + data_;
  }

 private:
  void begin(std::string_view key, std::uint32_t type) {
    const bool whole = key.starts_with("general.") || key.starts_with("split.") || key.starts_with("tokenizer.");
    append_string(metadata_, whole ? std::string(key) : architecture_ + "." + std::string(key));
    append(metadata_, type);
    ++keys_;
  }
  template <class T>
  GgufWriter& scalar(std::string_view key, std::uint32_t type, T value) {
    begin(key, type);
    append(metadata_, value);
    return *this;
  }
  template <class T, class V>
  GgufWriter& list(std::string_view key, std::uint32_t type, const std::vector<V>& values) {
    begin(key, 9);
    append(metadata_, type);
    append<std::uint64_t>(metadata_, values.size());
    for (const V value : values) append(metadata_, static_cast<T>(value));
    return *this;
  }
  void pad(std::string& out) const {
    if (alignment_ != 0) out.append((alignment_ - out.size() % alignment_) % alignment_, '\0');
  }

  std::string architecture_;
  std::string metadata_, infos_, data_;
  std::uint64_t keys_ = 0, tensors_ = 0;
  std::uint32_t alignment_ = 32;
};

// The keys that every language model has.
inline GgufWriter gguf_model(std::string_view architecture, int layers, int width, int heads, int context) {
  GgufWriter file(architecture);
  file.u32("block_count", static_cast<std::uint32_t>(layers))
      .u32("embedding_length", static_cast<std::uint32_t>(width))
      .u32("attention.head_count", static_cast<std::uint32_t>(heads))
      .u32("context_length", static_cast<std::uint32_t>(context));
  return file;
}

}  // namespace ropecache::test
