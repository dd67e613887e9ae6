// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "model/json.h"

#include <string>
#include <unordered_set>
#include <vector>

#include "text.h"

namespace ropecache::model {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kMaxDepth = 64;  // recursion over a parsed document is bounded by this
// Looking a key up takes a step per key before it. The largest of real files are label maps of some 20000 classes.
constexpr std::size_t kMaxKeys = 32768;
// The parser looks through a container's values at the end of each container in it.
constexpr std::size_t kMaxContainers = 16384;

struct TooMany {  // ends parsing
  std::string what;
};

Status bad(std::string_view name, std::string_view what) { return Status(StatusCode::kParse, text(name, ": ", what)); }

// Deepest nesting, counted without parsing: enough to refuse a document before anything recursive sees it.
int depth_of(std::string_view document) {
  int depth = 0, deepest = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < document.size(); ++i) {
    const char c = document[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      deepest = std::max(deepest, ++depth);
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return deepest;
}

// The library's own text holds the place of the error; its prefix names internals only.
std::string reason_of(const std::exception& error) {
  std::string what = error.what();
  const std::size_t start = what.find("] ");
  if (start != std::string::npos) what.erase(0, start + 2);
  std::string line;
  for (const char c : what) line += c >= 0x20 && c < 0x7f ? c : '?';
  return line;
}

}  // namespace

Result<Json> parse_json(std::string_view document, std::string_view name) {
  if (document.size() > kMaxJsonBytes) {
    return bad(name, text("is JSON of ", document.size(), " bytes, expected at most ", kMaxJsonBytes));
  }
  if (document.substr(0, 3) == "\xef\xbb\xbf") document.remove_prefix(3);
  if (depth_of(document) > kMaxDepth) return bad(name, text("is nested deeper than ", kMaxDepth, " levels"));

  std::string repeated;
  std::vector<std::unordered_set<std::string>> keys;
  std::size_t containers = 0;
  const auto watch = [&](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start) {
      if (++containers > kMaxContainers) throw TooMany{text("more than ", kMaxContainers, " objects and lists")};
    }
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end && !keys.empty()) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.empty() && parsed.is_string()) {
      const auto& key = parsed.get_ref<const std::string&>();
      if (!keys.back().insert(key).second && repeated.empty()) repeated = json_quote(key);
      if (keys.back().size() > kMaxKeys) throw TooMany{text("an object of more than ", kMaxKeys, " keys")};
    }
    return true;
  };
  Json value;
  try {
    value = Json::parse(document.begin(), document.end(), watch);
  } catch (const Json::exception& error) {
    return bad(name, text("is not JSON: ", reason_of(error)));
  } catch (const TooMany& too_many) {
    return bad(name, text("has ", too_many.what));
  }
  if (!repeated.empty()) return bad(name, text("key ", repeated, " appears twice in one object, expected once"));
  if (!value.is_object()) return bad(name, text("is a JSON ", value.type_name(), ", expected an object"));
  return value;
}

std::string json_quote(std::string_view bytes) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte >= 0x20 && byte < 0x7f) {
      out += c;
    } else {
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
  return out + "\"";
}

}  // namespace ropecache::model
