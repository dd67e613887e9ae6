// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// The format: docs/gguf.md of ggml.
#include "model/gguf_file.h"

#include <bit>
#include <string>
#include <utility>

#include "model/gguf_cursor.h"
#include "model/json.h"
#include "text.h"

namespace ropecache::model {
namespace {

class Parser {
 public:
  Parser(const Bytes& bytes, std::string_view name) : in_(bytes), name_(name) {}

  Result<GgufFile> parse() {
    std::uint64_t keys = 0;
    Status status = header(file_.tensors, keys);
    if (status.ok()) status = read_gguf_metadata(in_, keys, name_, file_.metadata);
    if (status.ok()) status = set_alignment();
    if (status.ok()) status = read_gguf_tensors(in_, file_.tensors, alignment_, name_, file_.rope_tensors);
    if (!status.ok()) return status;
    return std::move(file_);
  }

 private:
  Status bad(std::string_view what, StatusCode code = StatusCode::kParse) const {
    return Status(code, text(name_, ": ", what));
  }
  Status cut(std::string_view what) const {
    return bad(text("ends within ", what, ", after ", counted(in_.size(), "byte")));
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

  GgufCursor in_;
  std::string_view name_;
  GgufFile file_;
  std::uint64_t alignment_ = 32;
};

}  // namespace

Result<GgufFile> parse_gguf(const Bytes& bytes, std::string_view name) { return Parser(bytes, name).parse(); }

}  // namespace ropecache::model
