// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "describe.h"
#include "first_position.h"
#include "text.h"

namespace ropecache::cli {
namespace {

// GGUF architectures whose converter permutes the rows of Q and K, so that weights trained for pairs (i, i + n) are
// stored for pairs (2i, 2i + 1). Source: llama.cpp, conversion/*.py, the callers of permute().
constexpr std::array<std::string_view, 19> kPermuted = {
    "arcee",       "arctic",        "baichuan",  "bailingmoe", "deci",        "deepseek", "granite", "granitehybrid",
    "granitemoe",  "graniteswitch", "internlm2", "llada",      "llama",       "llama-embed", "minicpm", "mistral3",
    "olmo",        "smollm3",       "xverse"};

// Original weights of Meta and Mistral pair neighbours; their Hugging Face form is permuted.
bool stores_permuted(const ModelRopes& model) {
  if (model.format == ModelFormat::kMistralParams || model.format == ModelFormat::kMetaParams) return true;
  return model.format == ModelFormat::kGguf &&
         std::find(kPermuted.begin(), kPermuted.end(), model.architecture) != kPermuted.end();
}

struct Found {
  Comparison& out;
  const ModelRopes& a;
  const ModelRopes& b;
  bool length_fixed;
  Role role;
  std::vector<int> layers;

  void note(NoteKind kind, std::string text) const { out.notes.push_back({role, layers, kind, std::move(text)}); }
};

std::string numbers(const std::vector<double>& values) {
  constexpr std::size_t kWidth = 60;
  std::string out;
  for (double value : values) {
    if (!out.empty()) out += ',';
    out += shortest(value);
  }
  if (out.size() > kWidth) out = out.substr(0, kWidth - 3) + "...";
  return out.empty() ? "none" : out;
}

// Long lists can differ behind what is shown of them: there the first such pair stands for the list.
std::pair<std::string, std::string> unequal(const std::vector<double>& a, const std::vector<double>& b) {
  std::pair<std::string, std::string> out{numbers(a), numbers(b)};
  if (a == b || out.first != out.second) return out;
  const auto pair = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
  const auto at = [pair](const std::vector<double>& list) {
    return pair < std::ssize(list) ? fmt::format("pair {}: {}", pair, shortest(*(list.begin() + pair)))
                                   : counted(list.size(), "pair");
  };
  return {at(a), at(b)};
}

// The elements of two lists that differ: the first few of them, then how many more.
void add_lists(const char* name, const std::vector<double>& a, const std::vector<double>& b,
               std::vector<FieldDifference>& out) {
  constexpr std::size_t kMost = 3;
  std::size_t differing = 0;
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const auto at = [i](const std::vector<double>& list) { return i < list.size() ? shortest(list[i]) : std::string("none"); };
    if (at(a) == at(b)) continue;
    if (++differing <= kMost) out.push_back({fmt::format("{}[{}]", name, i), at(a), at(b)});
  }
  if (differing > kMost) {
    const std::string more = fmt::format("{} more differ", differing - kMost);
    out.push_back({name, more, more});
  }
}

std::string or_none(std::string text) { return text.empty() ? "none" : text; }

// What the files say, word for word, where they say different things.
std::vector<FieldDifference> fields(const ModelRope& a, const ModelRope& b) {
  std::vector<FieldDifference> out;
  const auto add = [&](const char* name, std::string left, std::string right) {
    if (left != right) out.push_back({name, std::move(left), std::move(right)});
  };
  const auto scaling = [](const ModelRope& entry) { return entry.config.scaling; };
  const auto threshold = [](const ModelRope& entry) {
    return entry.switch_length ? std::to_string(*entry.switch_length) : std::string("none");
  };
  add("head_dim", std::to_string(a.rope.head_dim), std::to_string(b.rope.head_dim));
  add("rotary_dim", std::to_string(a.rope.rotary_dim), std::to_string(b.rope.rotary_dim));
  add("rotary_offset", std::to_string(a.rope.rotary_offset), std::to_string(b.rope.rotary_offset));
  add("pairing", std::string(pairing_name(a.rope.pairing)), std::string(pairing_name(b.rope.pairing)));
  add("theta", shortest(a.config.theta), shortest(b.config.theta));
  if (scaling(a) != scaling(b)) {
    std::string left = or_none(scaling_text(a.config));
    std::string right = or_none(scaling_text(b.config));
    if (left == right) {  // differs in what the short words leave out
      left = to_line(scaling_json(a.config));
      right = to_line(scaling_json(b.config));
      left.pop_back();
      right.pop_back();
    }
    add("scaling", std::move(left), std::move(right));
  }
  if (const auto* left = std::get_if<LongRopeScaling>(&a.config.scaling)) {
    if (const auto* right = std::get_if<LongRopeScaling>(&b.config.scaling)) {
      add_lists("short_factor", left->short_factor, right->short_factor, out);
      add_lists("long_factor", left->long_factor, right->long_factor, out);
    }
  }
  add("exponent_dim", std::to_string(a.config.exponent_dim), std::to_string(b.config.exponent_dim));
  auto [left_divisors, right_divisors] = unequal(a.config.divisors, b.config.divisors);
  add("divisors", std::move(left_divisors), std::move(right_divisors));
  if (a.rope.axes != b.rope.axes) add("axes", or_none(axes_text(a.config.axes)), or_none(axes_text(b.config.axes)));
  constexpr int kDigits = 10;  // as plan shows it, where that tells them apart
  const auto magnitude = [&](const ModelRope& entry, int digits) { return entry.rope.magnitude.to_decimal(digits); };
  const bool short_tells = magnitude(a, kDigits) != magnitude(b, kDigits);
  add("magnitude", short_tells ? magnitude(a, kDigits) : a.rope.magnitude.to_decimal(),
      short_tells ? magnitude(b, kDigits) : b.rope.magnitude.to_decimal());
  add("switch_length", threshold(a), threshold(b));
  add("inverse_on_output", a.rope.inverse_on_output ? "true" : "false", b.rope.inverse_on_output ? "true" : "false");
  return out;
}

// Where what the files say is the same and the rule's result is not: the first pair that differs.
FieldDifference frequency_field(const Rope& a, const Rope& b) {
  const auto at = std::mismatch(a.frequencies.begin(), a.frequencies.end(), b.frequencies.begin(), b.frequencies.end());
  if (at.first == a.frequencies.end() || at.second == b.frequencies.end()) {
    return {"pairs", std::to_string(a.pairs()), std::to_string(b.pairs())};
  }
  return {fmt::format("frequency of pair {}", at.first - a.frequencies.begin()), at.first->to_decimal(),
          at.second->to_decimal()};
}

bool same_place(const Rope& a, const Rope& b) {
  return a.head_dim == b.head_dim && a.rotary_dim == b.rotary_dim && a.rotary_offset == b.rotary_offset &&
         a.inverse_on_output == b.inverse_on_output;
}

bool same_table(const Rope& a, const Rope& b) {
  return a.frequencies == b.frequencies && a.magnitude == b.magnitude && a.axes == b.axes;
}

// Equal as far as a converter's fp32 arithmetic can say it: a few roundings of 2^-24 each. Whether it matters is decided
// by the first position that shows it.
bool close(const Real& a, const Real& b) {
  const double x = a.to_double();
  const double y = b.to_double();
  return x == y || std::fabs(x - y) <= std::ldexp(std::max(x, y), -20);
}

bool close_tables(const Rope& a, const Rope& b) {
  return a.axes == b.axes && close(a.magnitude, b.magnitude) &&
         std::equal(a.frequencies.begin(), a.frequencies.end(), b.frequencies.begin(), b.frequencies.end(), close);
}

std::optional<std::int64_t> smaller(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

// What is the same up to the precision of a file format, in all regimes of length.
struct Tables {
  bool same = false;
  bool close = false;
  std::optional<std::int64_t> first;
  std::optional<std::int64_t> beyond;  // the same up to this length
};

// A rule that has another rope for each length beyond `original_context`; nothing where it has none.
std::optional<DynamicNtkScaling> by_length(const ModelRope& entry) {
  const auto* dynamic = std::get_if<DynamicNtkScaling>(&entry.config.scaling);
  if (dynamic == nullptr || dynamic->factor == 1) return std::nullopt;
  return *dynamic;
}

Tables compare_tables(const ModelRope& a, const ModelRope& b, bool length_fixed) {
  Tables out{same_table(a.rope, b.rope), close_tables(a.rope, b.rope), first_visible_position(a.rope, b.rope), {}};
  if (!length_fixed && by_length(a) != by_length(b)) {
    const auto start = [](const ModelRope& entry) {
      const auto rule = by_length(entry);
      return rule ? std::optional(rule->original_context) : std::nullopt;
    };
    if (out.same) out.beyond = smaller(start(a), start(b));
    out.same = out.close = false;
    return out;
  }
  if (a.switch_length != b.switch_length) {
    // Position P is the first of a sequence longer than P.
    if (!out.same) return {false, false, smaller(out.first, smaller(a.switch_length, b.switch_length)), {}};
    out.beyond = smaller(a.switch_length, b.switch_length);
    const bool a_switched = a.switch_length == out.beyond;
    out.first = first_visible_position(a_switched ? *a.beyond : a.rope, a_switched ? b.rope : *b.beyond);
    out.same = out.close = false;
    return out;
  }
  if (a.beyond && b.beyond) {
    const auto first = first_visible_position(*a.beyond, *b.beyond);
    if (out.same && !same_table(*a.beyond, *b.beyond)) {
      out.beyond = a.switch_length;
      out.first = first;
    } else {
      out.first = smaller(out.first, first);
    }
    out.same = out.same && same_table(*a.beyond, *b.beyond);
    out.close = out.close && close_tables(*a.beyond, *b.beyond);
  }
  return out;
}

void compare_beside(const Found& found, const Rope& a, const Rope& b) {
  if (!close(a.softmax_scale_multiplier, b.softmax_scale_multiplier)) {
    found.note(NoteKind::kBeside, fmt::format("softmax scale multiplier {} and {}",
                                              a.softmax_scale_multiplier.to_decimal(10),
                                              b.softmax_scale_multiplier.to_decimal(10)));
  }
  if (a.query_scale != b.query_scale) {
    found.note(NoteKind::kBeside, fmt::format("query scale {} and {}", or_none(query_scale_text(a.query_scale)),
                                              or_none(query_scale_text(b.query_scale))));
  }
}

void compare_ropes(const Found& found, const ModelRope& a, const ModelRope& b) {
  const bool formats_differ = found.a.format != found.b.format;
  const Tables tables = compare_tables(a, b, found.length_fixed);
  compare_beside(found, a.rope, b.rope);

  bool pairing_counts = a.rope.pairing != b.rope.pairing;
  if (pairing_counts && formats_differ && stores_permuted(found.a) != stores_permuted(found.b)) {
    const ModelRopes& permuted = stores_permuted(found.a) ? found.a : found.b;
    found.note(NoteKind::kPairing,
               fmt::format("pairing {} and {}: as expected, {} weights of {} are stored in the other order",
                           pairing_name(a.rope.pairing), pairing_name(b.rope.pairing),
                           model_format_name(permuted.format), printable(permuted.architecture, kMaxWord)));
    pairing_counts = false;
  }

  bool tables_differ = !tables.same;
  const std::int64_t context = std::max(found.a.context, found.b.context);
  if (tables_differ && formats_differ && tables.close && (!tables.first || (context > 0 && *tables.first >= context))) {
    const std::string when = tables.first ? fmt::format("from position {}", *tables.first) : "at no position";
    found.note(NoteKind::kRounding, fmt::format("frequencies or magnitude rounded to fp32 by one of the formats: "
                                                "shows {}, beyond both contexts", when));
    tables_differ = false;
  }

  if (same_place(a.rope, b.rope) && !pairing_counts && !tables_differ) return;
  Difference difference{found.role, found.layers, fields(a, b), tables.first, tables.beyond};
  if (!pairing_counts) std::erase_if(difference.fields, [](const auto& field) { return field.field == "pairing"; });
  // Another place or pairing turns other elements as soon as anything turns.
  if (!same_place(a.rope, b.rope) || pairing_counts) {
    difference.first_position = smaller(tables.first, 1);
    difference.beyond.reset();
  }
  if (difference.fields.empty()) difference.fields.push_back(frequency_field(a.rope, b.rope));
  found.out.differences.push_back(std::move(difference));
}

std::string words(const ModelRope* entry) {
  if (entry == nullptr) return "none";
  const std::string scaling = scaling_text(entry->config);
  return fmt::format("theta {}{}", shortest(entry->config.theta), scaling.empty() ? "" : ", " + scaling);
}

using LayerMap = std::map<std::pair<Role, int>, const ModelRope*>;

LayerMap by_layer(const ModelRopes& model) {
  LayerMap out;
  for (const ModelRope& entry : model.ropes) {
    for (int layer : entry.layers) out[{entry.role, layer}] = &entry;
  }
  return out;
}

}  // namespace

std::string_view note_kind_name(NoteKind kind) {
  switch (kind) {
    case NoteKind::kPairing: return "pairing";
    case NoteKind::kRounding: return "rounding";
    case NoteKind::kBeside: return "beside";
  }
  return "unknown";
}

Comparison compare(const ModelRopes& a, const ModelRopes& b, bool length_fixed) {
  const LayerMap left = by_layer(a);
  const LayerMap right = by_layer(b);
  // Layers with the same pair of ropes are one case.
  std::map<std::tuple<Role, const ModelRope*, const ModelRope*>, std::vector<int>> cases;
  std::set<std::pair<Role, int>> layers;
  for (const auto& [at, entry] : left) layers.insert(at);
  for (const auto& [at, entry] : right) layers.insert(at);
  for (const auto& at : layers) {
    const auto x = left.find(at);
    const auto y = right.find(at);
    cases[{at.first, x == left.end() ? nullptr : x->second, y == right.end() ? nullptr : y->second}].push_back(at.second);
  }

  Comparison out;
  if (a.layers != b.layers) {
    out.differences.push_back({Role::kAttention, {}, {{"layers", std::to_string(a.layers), std::to_string(b.layers)}}, {}, {}});
  }
  for (const auto& [key, numbers_of_layers] : cases) {
    const auto& [role, x, y] = key;
    if (x != nullptr && y != nullptr) {
      compare_ropes({out, a, b, length_fixed, role, numbers_of_layers}, *x, *y);
    } else {
      out.differences.push_back({role, numbers_of_layers, {{"rope", words(x), words(y)}}, 1, {}});
    }
  }
  // In the order of layers, whatever the addresses in the map say.
  const auto first_layer = [](const auto& x, const auto& y) {
    return std::tie(x.role, x.layers) < std::tie(y.role, y.layers);
  };
  std::stable_sort(out.differences.begin(), out.differences.end(), first_layer);
  std::stable_sort(out.notes.begin(), out.notes.end(), first_layer);
  return out;
}

}  // namespace ropecache::cli
