// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "model/gguf_metadata.h"

#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "model/json.h"
#include "text.h"

namespace ropecache::model {
namespace {

constexpr std::uint64_t kMaxKeys = 65536;         // real files have some dozens
constexpr std::uint64_t kMaxKeptNumbers = 16384;  // per-layer lists are short; vocabularies are not ours
constexpr std::uint64_t kMaxKeptInAll = 1 << 20;
constexpr std::uint64_t kMaxKeptText = 256;
constexpr int kMaxArrayDepth = 8;

enum class Type : std::uint32_t { kU8, kI8, kU16, kI16, kU32, kI32, kF32, kBool, kString, kArray, kU64, kI64, kF64 };

// Bytes of a fixed-size type; 0 for strings and arrays, absent for numbers that are no type.
std::optional<std::uint64_t> size_of(Type type) {
  constexpr std::uint64_t kSizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  const auto index = static_cast<std::uint32_t>(type);
  if (index >= std::size(kSizes)) return std::nullopt;
  return kSizes[index];
}

// A float stands for the double of its shortest decimal: 0.1f is 0.1.
template <class T>
double as_double(T value) {
  if constexpr (std::same_as<T, float>) {
    if (!std::isfinite(value)) return value;
    char digits[32];
    const char* end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    double out = 0;
    std::from_chars(digits, end, out);
    return out;
  } else {
    return static_cast<double>(value);
  }
}

// A name for an error text, which is to stay readable.
std::string short_name(const std::string& name) { return name.size() > 80 ? name.substr(0, 80) + "..." : name; }

template <class T>
GgufValue number_value(T value) {
  GgufValue out;
  out.kind = GgufValue::Kind::kNumber;
  out.integral = std::integral<T>;
  out.text = text(value);
  out.number = as_double(value);
  return out;
}

class Reader {
 public:
  Reader(GgufCursor& in, std::string_view name, GgufMetadata& out) : in_(in), name_(name), out_(out) {}

  Status read(std::uint64_t keys) {
    if (keys > kMaxKeys) return bad(text("has ", keys, " metadata keys, expected at most ", kMaxKeys));
    for (std::uint64_t n = 0; n < keys; ++n) {
      std::string key;
      Status status = read_key(n, key);
      if (!status.ok()) return status;
      GgufValue value;
      status = read_value(static_cast<Type>(in_.get<std::uint32_t>()), key, value);
      if (!status.ok()) return status;
      if (in_.failed()) return cut(text("the value of ", short_name(key)));
      if (!out_.emplace(std::move(key), std::move(value)).second) {
        return bad(text("metadata key number ", n, " repeats an earlier key, expected each once"));
      }
    }
    return {};
  }

 private:
  Status read_key(std::uint64_t n, std::string& key) {
    const auto length = in_.get<std::uint64_t>();
    if (in_.failed()) return cut(text("the name of metadata key number ", n));
    if (length == 0 || length > 65535) {
      return bad(text("metadata key number ", n, " has a name of ", counted(length, "byte"), ", expected 1 to 65535"));
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

  // Hands the next number of the file to `use`, in its own type; false where the type is not a number's.
  template <class Use>
  bool with_number(Type type, const Use& use) {
    switch (type) {
      case Type::kU8: return use(in_.get<std::uint8_t>()), true;
      case Type::kI8: return use(in_.get<std::int8_t>()), true;
      case Type::kU16: return use(in_.get<std::uint16_t>()), true;
      case Type::kI16: return use(in_.get<std::int16_t>()), true;
      case Type::kU32: return use(in_.get<std::uint32_t>()), true;
      case Type::kI32: return use(in_.get<std::int32_t>()), true;
      case Type::kU64: return use(in_.get<std::uint64_t>()), true;
      case Type::kI64: return use(in_.get<std::int64_t>()), true;
      case Type::kF32: return use(in_.get<float>()), true;
      case Type::kF64: return use(in_.get<double>()), true;
      case Type::kBool:
      case Type::kString:
      case Type::kArray: break;
    }
    return false;
  }

  Status read_value(Type type, const std::string& key, GgufValue& value) {
    if (with_number(type, [&](auto number) { value = number_value(number); })) return {};
    switch (type) {
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
      default:
        return in_.failed() ? cut(text("the value of ", short_name(key))) : bad_type(key, type);
    }
  }

  // A number of an array.
  double read_number(Type type) {
    double out = 0;
    const auto keep = [&out](auto number) { out = as_double(number); };
    if (!with_number(type, keep)) out = in_.get<std::uint8_t>() != 0 ? 1 : 0;  // booleans
    return out;
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
      return bad(text(short_name(key), ": an array of ", counted(count, "element"), ", more than the ",
                      counted(in_.left(), "byte"), " left can hold"));
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

  Status bad(std::string_view what) const { return Status(StatusCode::kParse, text(name_, ": ", what)); }
  Status cut(std::string_view what) const {
    return bad(text("ends within ", what, ", after ", counted(in_.size(), "byte")));
  }

  GgufCursor& in_;
  std::string_view name_;
  GgufMetadata& out_;
  std::uint64_t kept_ = 0;  // array elements stored so far
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

Status read_gguf_metadata(GgufCursor& in, std::uint64_t keys, std::string_view name, GgufMetadata& out) {
  return Reader(in, name, out).read(keys);
}

}  // namespace ropecache::model
