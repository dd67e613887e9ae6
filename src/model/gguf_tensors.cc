// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "model/gguf_tensors.h"

#include <bit>
#include <cstring>
#include <utility>

#include "ropecache/half.h"
#include "text.h"

namespace ropecache::model {
namespace {

constexpr std::uint64_t kMaxKeptName = 256;
constexpr std::uint64_t kMaxRopeTensor = 4096;  // more pairs than any head has

struct RopeTensor {
  std::string name;
  std::uint32_t type = 0;
  std::uint64_t count = 0;
  std::uint64_t offset = 0;
};

class Reader {
 public:
  Reader(GgufCursor& in, std::uint64_t alignment, std::string_view name, GgufTensors& out)
      : in_(in), alignment_(alignment), name_(name), out_(out) {}

  Status read_descriptions(std::uint64_t tensors) {
    // A name's length, the count of dimensions, a type and an offset: 24 bytes at least.
    if (tensors > in_.left() / 24) {
      return bad(text("has ", counted(tensors, "tensor"), ", more than the ", counted(in_.left(), "byte"),
                      " left can describe"));
    }
    for (std::uint64_t n = 0; n < tensors; ++n) {
      Status status = tensor_info(n);
      if (!status.ok()) return status;
    }
    return {};
  }

  Status read_data() {
    if (rope_tensors_.empty()) return {};
    const std::uint64_t padding = (alignment_ - in_.position() % alignment_) % alignment_;
    for (const RopeTensor& tensor : rope_tensors_) {
      // The three element types that rope tensors were ever written in; ggml's numbers for them.
      const std::uint64_t size = tensor.type == 0 ? 4 : tensor.type == 1 || tensor.type == 30 ? 2 : 0;
      if (size == 0) {
        return bad(text("tensor ", tensor.name, ": type ", tensor.type, ", expected 0 (F32), 1 (F16) or 30 (BF16)"),
                   StatusCode::kUnsupported);
      }
      if (tensor.count == 0 || tensor.count > kMaxRopeTensor) {
        return bad(text("tensor ", tensor.name, ": ", counted(tensor.count, "element"), ", expected 1 to ",
                        kMaxRopeTensor));
      }
      const std::uint64_t bytes = tensor.count * size;
      if (padding > in_.left() || tensor.offset > in_.left() - padding ||
          bytes > in_.left() - padding - tensor.offset) {
        return bad(text("tensor ", tensor.name, ": ", counted(bytes, "byte"), " at offset ", tensor.offset,
                        " lie past the end of the file"));
      }
      Status status = check_overlap(tensor, bytes);
      if (!status.ok()) return status;
      std::string data(static_cast<std::size_t>(bytes), '\0');
      if (!in_.source().read(in_.position() + padding + tensor.offset, data.data(), data.size())) {
        return bad(text("tensor ", tensor.name, ": cannot be read"), StatusCode::kIo);
      }
      out_.emplace(tensor.name, widen(data, tensor.type, size));
    }
    return {};
  }

 private:
  Status tensor_info(std::uint64_t n) {
    const std::string place = text("the description of tensor number ", n);
    const auto length = in_.get<std::uint64_t>();
    RopeTensor tensor;
    tensor.name = in_.bytes(std::min(length, kMaxKeptName));
    if (length > kMaxKeptName) in_.skip(length - kMaxKeptName);
    const auto dimensions = in_.get<std::uint32_t>();
    if (in_.failed()) return cut(place);
    if (dimensions > 4) return bad(text(place, ": ", counted(dimensions, "dimension"), ", expected at most 4"));
    tensor.count = 1;
    for (std::uint32_t d = 0; d < dimensions; ++d) {
      const auto extent = in_.get<std::uint64_t>();
      if (extent != 0 && tensor.count > (std::uint64_t{1} << 63) / extent) {
        return bad(text(place, ": more than 2^63 elements"));
      }
      tensor.count *= extent;
    }
    tensor.type = in_.get<std::uint32_t>();
    tensor.offset = in_.get<std::uint64_t>();
    if (in_.failed()) return cut(place);
    if (tensor.offset % alignment_ != 0) {
      return bad(text(place, ": offset ", tensor.offset, ", expected a multiple of the alignment ", alignment_));
    }
    if (tensor.name == kGgufRopeFreqs || tensor.name == kGgufFactorsLong || tensor.name == kGgufFactorsShort) {
      for (const RopeTensor& other : rope_tensors_) {
        if (other.name == tensor.name) return bad(text("tensor ", tensor.name, " appears twice, expected once"));
      }
      rope_tensors_.push_back(std::move(tensor));
    }
    return {};
  }

  Status check_overlap(const RopeTensor& tensor, std::uint64_t bytes) const {
    for (const RopeTensor& other : rope_tensors_) {
      if (&other != &tensor && other.offset >= tensor.offset && other.offset - tensor.offset < bytes) {
        return bad(text("tensors ", tensor.name, " and ", other.name, " overlap at offset ", other.offset));
      }
    }
    return {};
  }

  static std::vector<double> widen(const std::string& data, std::uint32_t type, std::uint64_t size) {
    std::vector<double> out;
    for (std::size_t at = 0; at < data.size(); at += size) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, data.data() + at, size);
      const auto half = static_cast<std::uint16_t>(bits);
      const float value = type == 0 ? std::bit_cast<float>(bits) : type == 1 ? f16_to_f32(half) : bf16_to_f32(half);
      out.push_back(static_cast<double>(value));
    }
    return out;
  }

  Status bad(std::string_view what, StatusCode code = StatusCode::kParse) const {
    return Status(code, text(name_, ": ", what));
  }
  Status cut(std::string_view what) const {
    return bad(text("ends within ", what, ", after ", counted(in_.size(), "byte")));
  }

  GgufCursor& in_;
  std::uint64_t alignment_;
  std::string_view name_;
  GgufTensors& out_;
  std::vector<RopeTensor> rope_tensors_;
};

}  // namespace

Status read_gguf_tensors(GgufCursor& in, std::uint64_t tensors, std::uint64_t alignment, std::string_view name,
                         GgufTensors& out) {
  Reader reader(in, alignment, name, out);
  Status status = reader.read_descriptions(tensors);
  return status.ok() ? reader.read_data() : status;
}

}  // namespace ropecache::model
