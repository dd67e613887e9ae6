// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "ropecache/model.h"

#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <string>

#include "model/bytes.h"
#include "model/gguf_model.h"
#include "model/json.h"
#include "model/readers.h"
#include "one_line.h"
#include "text.h"

namespace ropecache {
namespace {

using model::Bytes;
using model::FileBytes;

constexpr std::array<std::string_view, 6> kRoleNames = {"attention", "indexer",          "vision",
                                                        "audio",     "linear_attention", "draft"};
constexpr std::array<std::string_view, 4> kFormatNames = {"hf-config", "gguf", "mistral-params", "meta-params"};

Result<ModelRopes> read_json_text(std::string_view document, std::string_view name, const ReadOptions& options) {
  const auto json = model::parse_json(document, name);
  if (!json.ok()) return json.status();
  Result<ModelRopes> ropes = model::looks_like_params(*json) ? model::read_params(*json, name, options)
                                                             : model::read_hf_config(*json, name, options);
  if (ropes.ok()) ropes->path = name;
  return ropes;
}

Status unreadable(std::string_view name) {
  return Status(StatusCode::kIo, text(name, ": cannot be read, or became shorter while it was read"));
}

// What a file is, its first bytes say: "GGUF", or the brace of a JSON object behind white space and a byte order mark.
Result<ModelRopes> read_by_contents(const Bytes& bytes, const std::string& name, const ReadOptions& options,
                                    const std::string& sibling_base) {
  std::array<char, 4> magic{};
  if (bytes.size() >= magic.size() && !bytes.read(0, magic.data(), magic.size())) return unreadable(name);
  if (std::string_view(magic.data(), magic.size()) == "GGUF") {
    return model::read_gguf(bytes, name, sibling_base, options);
  }
  std::string head(static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), 64)), '\0');
  if (!bytes.read(0, head.data(), head.size())) return unreadable(name);
  std::string_view rest = head;
  if (rest.substr(0, 3) == "\xef\xbb\xbf") rest.remove_prefix(3);
  const std::size_t start = rest.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos || rest[start] != '{') {
    return Status(StatusCode::kParse,
                  text(name, ": ", bytes.size() == 0 ? "is empty" : "is neither GGUF nor a JSON object",
                       ", expected a config.json, params.json or GGUF file"));
  }
  if (bytes.size() > model::kMaxJsonBytes) {
    return Status(StatusCode::kParse,
                  text(name, ": is JSON of ", bytes.size(), " bytes, expected at most ", model::kMaxJsonBytes));
  }
  std::string document(static_cast<std::size_t>(bytes.size()), '\0');
  if (!bytes.read(0, document.data(), document.size())) return unreadable(name);
  return read_json_text(document, name, options);
}

Result<ModelRopes> read_directory(const std::string& path, const ReadOptions& options) {
  for (const std::string_view file : {"config.json", "params.json"}) {
    const std::string name = path + (path.ends_with('/') ? "" : "/") + std::string(file);
    FileBytes bytes;
    Status status;
    switch (bytes.open(name, status)) {
      case FileBytes::Kind::kFile:
        return read_by_contents(bytes, name, options, name);
      case FileBytes::Kind::kDirectory:
        return Status(StatusCode::kIo, text(name, ": is a directory, expected a file"));
      case FileBytes::Kind::kError:
        return status;
      case FileBytes::Kind::kMissing:
        break;
    }
  }
  return Status(StatusCode::kIo, text(path, ": is a directory without config.json or params.json"));
}

Result<ModelRopes> read_path(const std::string& path, const ReadOptions& options) {
  FileBytes bytes;
  Status status;
  switch (bytes.open(path, status)) {
    case FileBytes::Kind::kFile:
      return read_by_contents(bytes, path, options, path);
    case FileBytes::Kind::kDirectory:
      return read_directory(path, options);
    case FileBytes::Kind::kError:
      return status;
    case FileBytes::Kind::kMissing:
      break;
  }
  if (path == "-") return Status(StatusCode::kIo, "-: standard input is not read, expected a file: save it to one first");
  return Status(StatusCode::kIo, text(path.empty() ? "\"\"" : path, ": there is no such file"));
}

// Beyond the name of the file, of which a path can have 4096 bytes.
constexpr std::size_t kMaxLine = 540;
constexpr std::size_t kMaxNameInLine = 4096;

// Errors and warnings hold names and values out of files, of any length and content.
std::string tidy(std::string_view message, std::string_view name) {
  const std::size_t most = std::min(name.size(), kMaxNameInLine) + kMaxLine;
  return shortened(one_line(shortened(message, most)), most);
}

// The one place where what the standard library throws becomes a Status.
template <class Read>
Result<ModelRopes> guarded(std::string_view name, const Read& read) noexcept {
  try {
    Result<ModelRopes> ropes = read();
    if (!ropes.ok()) return Status(ropes.status().code(), tidy(ropes.status().message(), name));
    for (std::string& warning : ropes->warnings) warning = tidy(warning, name);
    return ropes;
  } catch (const std::bad_alloc&) {
    return Status(StatusCode::kOutOfMemory, "reading a model file");
  } catch (const std::exception& error) {
    try {
      return Status(StatusCode::kInternal, tidy(text(name, ": ", error.what()), name));
    } catch (const std::exception&) {
      return Status(StatusCode::kInternal, "reading a model file");
    }
  }
}

}  // namespace

std::string_view role_name(Role role) noexcept {
  const auto index = static_cast<std::size_t>(role);
  return index < kRoleNames.size() ? kRoleNames[index] : "unknown";
}

std::optional<Role> role_from_name(std::string_view name) noexcept {
  for (std::size_t i = 0; i < kRoleNames.size(); ++i) {
    if (kRoleNames[i] == name) return static_cast<Role>(i);
  }
  return std::nullopt;
}

std::string_view model_format_name(ModelFormat format) noexcept {
  const auto index = static_cast<std::size_t>(format);
  return index < kFormatNames.size() ? kFormatNames[index] : "unknown";
}

Result<ModelRopes> read_model(const std::string& path, const ReadOptions& options) noexcept {
  return guarded(path, [&] { return read_path(path, options); });
}

Result<ModelRopes> read_model_json(std::string_view document, std::string_view name,
                                   const ReadOptions& options) noexcept {
  return guarded(name, [&] { return read_json_text(document, name, options); });
}

Result<ModelRopes> read_model_gguf(std::string_view bytes, std::string_view name, const ReadOptions& options) noexcept {
  return guarded(name, [&] { return model::read_gguf(model::MemoryBytes(bytes), name, {}, options); });
}

}  // namespace ropecache
