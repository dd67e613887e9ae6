// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "model/gguf_geometry.h"

#include <algorithm>
#include <string>

#include "text.h"

namespace ropecache::model {
namespace {

constexpr double kStandardBase = 10000;  // llama.cpp's where a file has none

class GeometryReader {
 public:
  GeometryReader(const GgufArchitecture& row, const GgufKeys& keys, const GgufLayers& layers)
      : row_(row), keys_(keys), layers_(layers) {}

  GgufGeometry read() {
    read_heads();
    read_bases();
    return out_;
  }

 private:
  // ---- Heads and widths ------------------------------------------------------------------------------------------

  void read_heads() {
    const auto key_length = keys_.integer("attention.key_length", 1, kMaxWidth);
    if (row_.has(kMla)) {
      const auto mla = keys_.integer("attention.key_length_mla", 1, kMaxWidth);
      out_.head = static_cast<int>(mla ? *mla : key_length ? *key_length : 0);
      if (out_.head == 0) keys_.refuse("attention.key_length_mla", "the size of a head, or attention.key_length");
    } else {
      out_.head = key_length ? static_cast<int>(*key_length) : head_by_division();
    }
    out_.head_sliding = out_.head;
    if (layers_.windowed) {
      const std::string_view key = row_.has(kMla) ? "attention.key_length_mla_swa" : "attention.key_length_swa";
      if (const auto given = keys_.integer(key, 1, kMaxWidth)) out_.head_sliding = static_cast<int>(*given);
    }
    read_widths();
  }

  int head_by_division() {
    const auto width = keys_.integer("embedding_length", 1, std::int64_t{1} << 31);
    const auto heads = keys_.integers("attention.head_count", 1);
    if (!width || !heads) {
      keys_.refuse("attention.key_length", "the size of a head, or embedding_length and attention.head_count");
    }
    const auto some = std::find_if(heads->begin(), heads->end(), [](int count) { return count > 0; });
    if (some == heads->end()) keys_.refuse("attention.head_count", "a positive number of heads");
    if (*width % *some != 0 || *width / *some > kMaxWidth) {
      keys_.refuse("embedding_length", text("a multiple of attention.head_count ", *some, ", or attention.key_length"));
    }
    keys_.defaulted("attention.key_length", text(*width / *some), "embedding_length / attention.head_count");
    return static_cast<int>(*width / *some);
  }

  void read_widths() {
    constexpr std::string_view kKey = "rope.dimension_count";
    out_.width = out_.width_sliding = out_.head;
    if (row_.has(kWholeHead)) {
      keys_.ignore(kKey, "llama.cpp turns the whole head of this architecture");
    } else if (const auto given = keys_.integer(kKey, 1, kMaxWidth)) {
      out_.width = out_.width_sliding = static_cast<int>(*given);
    } else if (row_.has(kMla)) {
      keys_.refuse(kKey, "the size of the part of a head that turns");
    } else {
      out_.width_sliding = out_.head_sliding;
      keys_.defaulted(kKey, text(out_.width), "the size of a head");
    }
    if (row_.has(kMustBeWholeHead) && out_.width != out_.head) {
      keys_.refuse(kKey, text("the size of a head, ", out_.head));
    }
    if (layers_.windowed) {
      if (const auto given = keys_.integer("rope.dimension_count_swa", 1, kMaxWidth)) {
        out_.width_sliding = static_cast<int>(*given);
      }
    }
    if (row_.has(kFullHalf)) out_.width /= 2;
  }

  // ---- Bases ---------------------------------------------------------------------------------------------------

  void read_bases() {
    constexpr std::string_view kKey = "rope.freq_base";
    out_.base = kStandardBase;
    if (row_.has(kFixedBase)) {
      keys_.ignore(kKey, "llama.cpp turns this architecture by 10000");
    } else if (const auto given = keys_.number(kKey)) {
      out_.base = checked_gguf_base(keys_, kKey, *given);
    } else if (!keys_.has("rope.freq_base_per_layer")) {
      keys_.defaulted(kKey, text(out_.base), "what llama.cpp takes for files without it");
      if (!row_.has(kOmitsBase)) {
        keys_.audit().warn(text(keys_.full_name(kKey),
                                " is missing: 10000 is assumed; many models of this family were"
                                " trained with another base"));
      }
    }
    out_.base_sliding = out_.base;
    if (!layers_.windowed || row_.sliding_base == SlidingBase::kAlwaysMain) return;
    read_sliding_base();
  }

  void read_sliding_base() {
    constexpr std::string_view kKey = "rope.freq_base_swa";
    if (const auto given = keys_.number(kKey)) {
      out_.base_sliding = checked_gguf_base(keys_, kKey, *given);
    } else if (row_.sliding_base == SlidingBase::kTenThousand) {
      out_.base_sliding = kStandardBase;
      keys_.defaulted(kKey, text(out_.base_sliding), "of this architecture");
    } else if (row_.sliding_base == SlidingBase::kRequired && !keys_.has("rope.freq_base_per_layer")) {
      keys_.refuse(kKey, "the base of sliding layers, or rope.freq_base_per_layer");
    } else {
      keys_.defaulted(kKey, text(out_.base_sliding), "rope.freq_base");
    }
  }

  const GgufArchitecture& row_;
  const GgufKeys& keys_;
  const GgufLayers& layers_;
  GgufGeometry out_;
};

}  // namespace

GgufGeometry read_gguf_geometry(const GgufArchitecture& row, const GgufKeys& keys, const GgufLayers& layers) {
  return GeometryReader(row, keys, layers).read();
}

double checked_gguf_base(const GgufKeys& keys, std::string_view key, double base) {
  if (!(base > 1 && base <= 1e30)) keys.refuse(key, "a number above 1, at most 1e30");
  return base;
}

}  // namespace ropecache::model
