// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// The format: docs/gguf.md of ggml.
#include "model/gguf_file.h"

#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "model/gguf_cursor.h"
#include "model/json.h"
#include "ropecache/half.h"
#include "text.h"

namespace ropecache::model {
namespace {

constexpr std::uint64_t kMaxKeys = 65536;         // real files have some dozens
constexpr std::uint64_t kMaxKeptNumbers = 16384;  // per-layer lists are short; vocabularies are not ours
constexpr std::uint64_t kMaxKeptInAll = 1 << 20;
constexpr std::uint64_t kMaxKeptText = 256;
constexpr int kMaxArrayDepth = 8;
constexpr std::uint64_t kMaxRopeTensor = 4096;  // more pairs than any head has

enum class Type : std::uint32_t { kU8, kI8, kU16, kI16, kU32, kI32, kF32, kBool, kString, kArray, kU64, kI64, kF64 };

// Bytes of a fixed-size type; 0 for strings and arrays, absent for numbers that are no type.
std::optional<std::uint64_t> size_of(Type type) {
  constexpr std::uint64_t kSizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  const auto index = static_cast<std::uint32_t>(type);
  if (index >= std::size(kSizes)) return std::nullopt;
  return kSizes[index];
}

// The double whose shortest decimal is that of the float: 0.1f is 0.1.
double decimal_of(float value) {
  if (!std::isfinite(value)) return value;
  char digits[32];
  const char* end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  double out = 0;
  std::from_chars(digits, end, out);
  return out;
}

// A name for an error text, which is to stay readable.
std::string short_name(const std::string& name) { return name.size() > 80 ? name.substr(0, 80) + "..." : name; }

template <class T>
GgufValue number_value(T value) {
  GgufValue out;
  out.kind = GgufValue::Kind::kNumber;
  out.integral = std::integral<T>;
  out.text = text(value);
  out.number = static_cast<double>(value);
  if constexpr (std::same_as<T, float>) out.number = decimal_of(value);
  return out;
}

class Parser {
 public:
  Parser(const Bytes& bytes, std::string_view name) : bytes_(bytes), in_(bytes), name_(name) {}

  Result<GgufFile> parse() {
    std::uint64_t tensors = 0, keys = 0;
    Status status = header(tensors, keys);
    if (status.ok()) status = metadata(keys);
    if (status.ok()) status = set_alignment();
    if (status.ok()) status = tensor_infos(tensors);
    if (status.ok()) status = read_rope_tensors();
    if (!status.ok()) return status;
    return std::move(file_);
  }

 private:
  struct RopeTensor {
    std::string name;
    std::uint32_t type = 0;
    std::uint64_t count = 0;
    std::uint64_t offset = 0;
  };

  Status bad(std::string_view what, StatusCode code = StatusCode::kParse) const {
    return Status(code, text(name_, ": ", what));
  }
  Status cut(std::string_view what) const {
    return bad(text("ends within ", what, ", after ", bytes_.size(), " bytes"));
  }

  Status header(std::uint64_t& tensors, std::uint64_t& keys) {
    const std::string magic = in_.bytes(4);
    if (in_.failed()) return cut("the magic \"GGUF\"");
    if (magic != "GGUF") return bad(text("begins with ", json_quote(magic), ", expected \"GGUF\""));
    const auto version = in_.get<std::uint32_t>();
    if (in_.failed()) return cut("the version");
    if (version != 0 && (version & 0xffff) == 0) {
      return bad("is a big-endian GGUF file, expected little-endian", StatusCode::kUnsupported);
    }
    if (version != 2 && version != 3) {
      return bad(text("is GGUF version ", version, ", expected 2 or 3"), StatusCode::kUnsupported);
    }
    tensors = in_.get<std::uint64_t>();
    keys = in_.get<std::uint64_t>();
    if (in_.failed()) return cut("the header");
    if (keys > kMaxKeys) return bad(text("has ", keys, " metadata keys, expected at most ", kMaxKeys));
    return {};
  }

  Status metadata(std::uint64_t keys) {
    for (std::uint64_t n = 0; n < keys; ++n) {
      std::string key;
      Status status = read_key(n, key);
      if (!status.ok()) return status;
      GgufValue value;
      status = read_value(static_cast<Type>(in_.get<std::uint32_t>()), key, value);
      if (!status.ok()) return status;
      if (in_.failed()) return cut(text("the value of ", short_name(key)));
      if (!file_.metadata.emplace(std::move(key), std::move(value)).second) {
        return bad(text("metadata key number ", n, " repeats an earlier key, expected each once"));
      }
    }
    return {};
  }

  Status read_key(std::uint64_t n, std::string& key) {
    const auto length = in_.get<std::uint64_t>();
    if (in_.failed()) return cut(text("the name of metadata key number ", n));
    if (length == 0 || length > 65535) {
      return bad(text("metadata key number ", n, " has a name of ", length, " bytes, expected 1 to 65535"));
    }
    key = in_.bytes(length);
    if (in_.failed()) return cut(text("the name of metadata key number ", n));
    for (const char c : key) {
      if (c <= 0x20 || c >= 0x7f) {
        return bad(text("metadata key ", json_quote(short_name(key)), ", expected a name of printable ASCII"));
      }
    }
    return {};
  }

  Status bad_type(const std::string& key, Type type) const {
    return bad(text(short_name(key), ": value type ", static_cast<std::uint32_t>(type), ", expected 0 to 12"));
  }

  Status read_value(Type type, const std::string& key, GgufValue& value) {
    switch (type) {
      case Type::kU8:
        value = number_value(in_.get<std::uint8_t>());
        return {};
      case Type::kI8:
        value = number_value(in_.get<std::int8_t>());
        return {};
      case Type::kU16:
        value = number_value(in_.get<std::uint16_t>());
        return {};
      case Type::kI16:
        value = number_value(in_.get<std::int16_t>());
        return {};
      case Type::kU32:
        value = number_value(in_.get<std::uint32_t>());
        return {};
      case Type::kI32:
        value = number_value(in_.get<std::int32_t>());
        return {};
      case Type::kU64:
        value = number_value(in_.get<std::uint64_t>());
        return {};
      case Type::kI64:
        value = number_value(in_.get<std::int64_t>());
        return {};
      case Type::kF32:
        value = number_value(in_.get<float>());
        return {};
      case Type::kF64:
        value = number_value(in_.get<double>());
        return {};
      case Type::kBool:
        value.kind = GgufValue::Kind::kBool;
        value.number = in_.get<std::uint8_t>() != 0;
        return {};
      case Type::kString: {
        const auto length = in_.get<std::uint64_t>();
        value.kind = GgufValue::Kind::kText;
        value.text = in_.bytes(std::min(length, kMaxKeptText));
        if (length > kMaxKeptText) in_.skip(length - kMaxKeptText);
        return {};
      }
      case Type::kArray:
        return read_array(key, value, 1);
    }
    return in_.failed() ? cut(text("the value of ", short_name(key))) : bad_type(key, type);
  }

  // A number of an array; the switch above with the notes left out.
  double read_number(Type type) {
    switch (type) {
      case Type::kU8:
        return in_.get<std::uint8_t>();
      case Type::kI8:
        return in_.get<std::int8_t>();
      case Type::kU16:
        return in_.get<std::uint16_t>();
      case Type::kI16:
        return in_.get<std::int16_t>();
      case Type::kU32:
        return in_.get<std::uint32_t>();
      case Type::kI32:
        return in_.get<std::int32_t>();
      case Type::kU64:
        return static_cast<double>(in_.get<std::uint64_t>());
      case Type::kI64:
        return static_cast<double>(in_.get<std::int64_t>());
      case Type::kF32:
        return decimal_of(in_.get<float>());
      case Type::kF64:
        return in_.get<double>();
      case Type::kBool:
        return in_.get<std::uint8_t>() != 0 ? 1 : 0;
      case Type::kString:
      case Type::kArray:
        break;
    }
    return 0;
  }

  Status read_array(const std::string& key, GgufValue& value, int depth) {
    const auto type = static_cast<Type>(in_.get<std::uint32_t>());
    const auto count = in_.get<std::uint64_t>();
    if (in_.failed()) return cut(text("the value of ", short_name(key)));
    const std::optional<std::uint64_t> size = size_of(type);
    if (!size) return bad_type(key, type);
    // Strings take at least their length field, arrays theirs and a type.
    const std::uint64_t least = *size != 0 ? *size : type == Type::kString ? 8 : 12;
    if (count > in_.left() / least) {
      return bad(text(short_name(key), ": an array of ", count, " elements, more than the ", in_.left(),
                      " bytes left can hold"));
    }
    value.count = count;
    if (type == Type::kString) return skip_strings(key, count);
    if (type == Type::kArray) {
      if (depth == kMaxArrayDepth) return bad(text(short_name(key), ": arrays nested deeper than ", kMaxArrayDepth));
      for (std::uint64_t n = 0; n < count; ++n) {
        GgufValue inner;
        Status status = read_array(key, inner, depth + 1);
        if (!status.ok()) return status;
      }
      return {};
    }
    if (count > kMaxKeptNumbers || count > kMaxKeptInAll - kept_ || depth > 1) {
      in_.skip(count * *size);
      return {};
    }
    kept_ += count;
    value.kind = GgufValue::Kind::kNumbers;
    value.integral = type != Type::kF32 && type != Type::kF64;
    value.numbers.reserve(static_cast<std::size_t>(count));
    for (std::uint64_t n = 0; n < count; ++n) value.numbers.push_back(read_number(type));
    return {};
  }

  Status skip_strings(const std::string& key, std::uint64_t count) {
    for (std::uint64_t n = 0; n < count; ++n) {
      in_.skip(in_.get<std::uint64_t>());
      if (in_.failed()) return cut(text("the value of ", short_name(key)));
    }
    return {};
  }

  Status set_alignment() {
    const auto found = file_.metadata.find("general.alignment");
    if (found == file_.metadata.end()) return {};
    const GgufValue& value = found->second;
    const bool usable =
        value.kind == GgufValue::Kind::kNumber && value.integral && value.number >= 1 && value.number <= 1u << 30;
    if (usable) alignment_ = static_cast<std::uint64_t>(value.number);
    if (!usable || !std::has_single_bit(alignment_)) {
      return bad(text("general.alignment: ", value.json(), ", expected a power of two up to 2^30"));
    }
    return {};
  }

  Status tensor_infos(std::uint64_t tensors) {
    // A name's length, the count of dimensions, a type and an offset: 24 bytes at least.
    if (tensors > in_.left() / 24) {
      return bad(text("has ", tensors, " tensors, more than the ", in_.left(), " bytes left can describe"));
    }
    for (std::uint64_t n = 0; n < tensors; ++n) {
      Status status = tensor_info(n);
      if (!status.ok()) return status;
    }
    return {};
  }

  Status tensor_info(std::uint64_t n) {
    const std::string place = text("the description of tensor number ", n);
    const auto length = in_.get<std::uint64_t>();
    RopeTensor tensor;
    tensor.name = in_.bytes(std::min(length, kMaxKeptText));
    if (length > kMaxKeptText) in_.skip(length - kMaxKeptText);
    const auto dimensions = in_.get<std::uint32_t>();
    if (in_.failed()) return cut(place);
    if (dimensions > 4) return bad(text(place, ": ", dimensions, " dimensions, expected at most 4"));
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

  Status read_rope_tensors() {
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
        return bad(text("tensor ", tensor.name, ": ", tensor.count, " elements, expected 1 to ", kMaxRopeTensor));
      }
      const std::uint64_t bytes = tensor.count * size;
      if (padding > in_.left() || tensor.offset > in_.left() - padding ||
          bytes > in_.left() - padding - tensor.offset) {
        return bad(text("tensor ", tensor.name, ": ", bytes, " bytes at offset ", tensor.offset,
                        " lie past the end of the file"));
      }
      Status status = check_overlap(tensor, bytes);
      if (!status.ok()) return status;
      std::string data(static_cast<std::size_t>(bytes), '\0');
      if (!bytes_.read(in_.position() + padding + tensor.offset, data.data(), data.size())) {
        return bad(text("tensor ", tensor.name, ": cannot be read"), StatusCode::kIo);
      }
      file_.rope_tensors.emplace(tensor.name, widen(data, tensor.type, size));
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

  const Bytes& bytes_;
  GgufCursor in_;
  std::string_view name_;
  GgufFile file_;
  std::uint64_t alignment_ = 32;
  std::uint64_t kept_ = 0;  // array elements stored so far
  std::vector<RopeTensor> rope_tensors_;
};

}  // namespace

std::string GgufValue::json() const {
  switch (kind) {
    case Kind::kNumber:
      return std::isfinite(number) ? text : json_quote(text);
    case Kind::kBool:
      return number != 0 ? "true" : "false";
    case Kind::kText:
      return json_quote(text);
    case Kind::kNumbers: {
      std::string out = "[";
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (i != 0) out += ", ";
        out += std::isfinite(numbers[i]) ? ropecache::text(numbers[i]) : json_quote(ropecache::text(numbers[i]));
      }
      return out + "]";
    }
    case Kind::kOther:
      break;
  }
  return json_quote(ropecache::text("array of ", count));
}

Result<GgufFile> parse_gguf(const Bytes& bytes, std::string_view name) { return Parser(bytes, name).parse(); }

}  // namespace ropecache::model
