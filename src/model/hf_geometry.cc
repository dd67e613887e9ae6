// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "model/hf_geometry.h"

#include <array>
#include <initializer_list>
#include <span>

#include "text.h"

namespace ropecache::model {

namespace {

// Keys of one line mean the same; the lines are tried in turn.
constexpr std::array<std::string_view, 4> kHeadsKeys = {"num_attention_heads", "n_head", "num_heads", "n_heads"};
constexpr std::array<std::string_view, 1> kEncoderHeadsKeys = {"encoder_attention_heads"};
constexpr std::array<std::string_view, 1> kDecoderHeadsKeys = {"decoder_num_attention_heads"};
// embed_dim first: in Qwen2-VL's vision tower hidden_size is the width of the decoder.
constexpr std::array<std::string_view, 1> kEmbedKeys = {"embed_dim"};
constexpr std::array<std::string_view, 3> kHiddenKeys = {"hidden_size", "n_embd", "d_model"};
constexpr std::array<std::string_view, 1> kDimKeys = {"dim"};
constexpr std::array<std::string_view, 4> kHeadKeys = {"head_dim", "kv_channels", "attention_head_dim", "d_kv"};
constexpr std::array<std::string_view, 5> kPartialKeys = {"partial_rotary_factor", "rotary_pct", "rope_pct",
                                                          "rotary_emb_fraction", "rotary_percentage"};

using Keys = std::span<const std::string_view>;

// The size by the first group of keys that the file has; `key` becomes the key.
std::optional<int> first_size(const Section& config, std::initializer_list<Keys> groups, std::string_view& key) {
  for (const Keys keys : groups) {
    const std::string_view found = config.one_of(keys);
    if (found.empty()) continue;
    key = found;
    return static_cast<int>(*config.integer(found, 1, kMaxWidth));
  }
  return std::nullopt;
}

int derived_head_dim(const Section& config, const Sizes* sizes) {
  std::string_view heads_key = kHeadsKeys[0];
  std::string_view hidden_key = "hidden_size";
  std::optional<int> heads = first_size(config, {kHeadsKeys, kEncoderHeadsKeys, kDecoderHeadsKeys}, heads_key);
  std::optional<int> hidden = first_size(config, {kEmbedKeys, kHiddenKeys, kDimKeys}, hidden_key);
  if (!heads && sizes != nullptr && sizes->heads != 0) {
    heads = sizes->heads;
    config.defaulted(heads_key, *heads, text("class default of ", sizes->type));
  }
  if (!hidden && sizes != nullptr && sizes->hidden != 0) {
    hidden = sizes->hidden;
    config.defaulted(hidden_key, *hidden, text("class default of ", sizes->type));
  }
  if (!heads) config.refuse(heads_key, "the number of heads, or head_dim");
  if (!hidden) config.refuse(hidden_key, "the width of the model, or head_dim");
  if (*hidden % *heads != 0)
    config.refuse(hidden_key, text("a multiple of ", *heads, ", the number of heads, or head_dim"));
  return *hidden / *heads;
}

int global_head_dim(const Section& config, const Family& family) {
  // Files that transformers 5 saves give full layers a head_dim in per_layer_config instead.
  if (config.overridden("head_dim")) return static_cast<int>(config.integer("head_dim", 1, kMaxWidth).value_or(0));
  if (const auto size = config.integer("global_head_dim", 1, kMaxWidth)) return static_cast<int>(*size);
  config.defaulted("global_head_dim", family.global_head_dim, "of the model type");
  return family.global_head_dim;
}

int split_size(const Section& config, std::string_view key, int fallback) {
  if (const auto size = config.integer(key, 0, kMaxWidth)) return static_cast<int>(*size);
  if (fallback == 0) config.refuse(key, "a number of elements");
  config.defaulted(key, fallback, "of the model type");
  return fallback;
}

// DeepSeek's split heads. head_dim in such files is something else (GLM-5: 192, others: 64), partial_rotary_factor
// describes the split and is not applied once more.
Geometry read_mla(const Section& config, const Family* family, const Section& block) {
  Geometry geometry;
  geometry.rotary_dim = split_size(config, "qk_rope_head_dim", family == nullptr ? 0 : family->split[1]);
  geometry.rotary_offset = split_size(config, "qk_nope_head_dim", family == nullptr ? 0 : family->split[0]);
  geometry.head_dim = geometry.rotary_dim + geometry.rotary_offset;
  config.ignore_if_present("head_dim", "qk_nope_head_dim and qk_rope_head_dim give the head");
  for (const Section* section : {&config, &block}) {
    section->ignore_if_present("partial_rotary_factor", "qk_rope_head_dim turns as a whole");
  }
  return geometry;
}

// The flat key of the factor that the file has; empty where it has none.
std::string_view flat_partial_key(const Section& config, const Family* family) {
  if (family == nullptr) return config.one_of(kPartialKeys);
  const std::array<std::string_view, 2> keys = {kPartialKeys[0], family->partial_key};
  return config.one_of(std::span(keys).first(family->partial_key.empty() ? 1 : 2));
}

std::optional<double> read_partial(const Section& config, const Family* family, const PartialSource& source) {
  const std::optional<double> before = source.own ? source.own : source.block.number("partial_rotary_factor");
  const std::string_view key = flat_partial_key(config, family);
  const std::optional<double> flat = key.empty() ? std::nullopt : config.number(key);
  if (before && flat && *before != *flat && !source.block.is_preset()) {
    config.audit().warn(
        text(source.own ? "the layer's own partial_rotary_factor" : source.block.path("partial_rotary_factor"), " is ",
             *before, " but ", config.path(key), " is ", *flat, "; the first is taken"));
  }
  return before ? before : flat;
}

// The type's code turns the whole head, or a part of its own, and does not look.
void leave_partial(const Section& config, const Family& family, const PartialSource& source) {
  const bool fixed = family.partial_fixed;
  for (const Section* section : {&source.block, &config}) {
    if (const auto factor = section->glance("partial_rotary_factor");
        factor && *factor != (fixed ? family.partial : 1) && !section->is_preset()) {
      config.audit().warn(text(section->path("partial_rotary_factor"), " ", *factor, " has no effect: ", family.type,
                               fixed ? " has its own" : " turns whole heads"));
    }
    section->ignore_if_present("partial_rotary_factor",
                               fixed ? "the model type has its own" : "the model type turns whole heads");
  }
}

int rotary_width(const Section& config, const Family* family, int head_dim, const PartialSource& source) {
  if (family != nullptr && (family->partial_fixed || (family->partial == 0 && family->width_key.empty()))) {
    leave_partial(config, *family, source);
    return family->partial_fixed ? partial_width(config, head_dim, family->partial) : head_dim;
  }
  const std::optional<double> partial = read_partial(config, family, source);
  const std::string_view width_key = family == nullptr ? "rotary_dim" : family->width_key;
  const auto width = width_key.empty() ? std::nullopt : config.integer(width_key, 0, kMaxWidth);
  if (partial) {
    const int turned = partial_width(config, head_dim, *partial);
    if (width && *width != turned) {
      config.audit().warn(text(config.path(width_key), " is ", *width, " but partial_rotary_factor gives ", turned,
                               "; the factor is taken"));
    }
    return turned;
  }
  if (width) return static_cast<int>(*width);
  if (family != nullptr && family->width != 0 && !config.contains(width_key)) {
    config.defaulted(width_key, family->width, "of the model type");
    return family->width;
  }
  const double factor = family == nullptr || family->partial == 0 ? 1.0 : family->partial;
  config.defaulted("partial_rotary_factor", factor, "of the model type");
  return partial_width(config, head_dim, factor);
}

}  // namespace

int partial_width(const Section& config, int head_dim, double partial) {
  const double width = static_cast<double>(head_dim) * partial;
  if (!(width >= 0 && width <= static_cast<double>(kMaxWidth))) {
    config.audit().refuse(text(config.path("partial_rotary_factor"), ": ", partial, ", expected a number from 0 to 1"));
  }
  return static_cast<int>(width);
}

int read_head_dim(const Section& config, const Family* family, const Sizes* sizes) {
  if (family != nullptr && family->head == HeadRule::kDerived) {
    config.ignore_if_present("head_dim", "the model type takes hidden_size / num_attention_heads");
    return derived_head_dim(config, sizes);
  }
  if (family != nullptr && family->head == HeadRule::kDoubled) return 2 * derived_head_dim(config, sizes);
  if (family == nullptr) {
    std::string_view key;
    if (const auto size = first_size(config, {kHeadKeys}, key)) return *size;
  } else if (const auto size = config.integer(family->head_key, 1, kMaxWidth)) {
    return static_cast<int>(*size);
  }
  if (sizes != nullptr && sizes->head_dim != 0) {
    config.defaulted("head_dim", sizes->head_dim, text("class default of ", sizes->type));
    return sizes->head_dim;
  }
  return derived_head_dim(config, sizes);
}

Geometry read_geometry(const Section& config, const Family* family, const Sizes* sizes, bool global,
                       const PartialSource& partial, bool proportional) {
  const bool split_keys = config.has("qk_rope_head_dim") && config.has("qk_nope_head_dim");
  if (family != nullptr ? family->head == HeadRule::kMla : split_keys) return read_mla(config, family, partial.block);

  Geometry geometry;
  geometry.head_dim = global && family != nullptr && family->global_head_dim != 0
                          ? global_head_dim(config, *family)
                          : read_head_dim(config, family, sizes);
  if (proportional) {  // the factor counts turning pairs; the rotary part is the whole head
    geometry.rotary_dim = geometry.head_dim;
    return geometry;
  }
  if (family != nullptr && family->head == HeadRule::kTail) {
    const auto width = config.integer("qk_rope_head_dim", 0, geometry.head_dim);
    geometry.rotary_dim = width ? static_cast<int>(*width) : rotary_width(config, family, geometry.head_dim, partial);
    for (const Section* section : {&config, &partial.block}) {
      if (width) section->ignore_if_present("partial_rotary_factor", "qk_rope_head_dim says the same");
    }
    geometry.rotary_offset = geometry.head_dim - geometry.rotary_dim;
    return geometry;
  }
  geometry.rotary_dim = rotary_width(config, family, geometry.head_dim, partial);
  if (geometry.rotary_dim > geometry.head_dim) {
    config.audit().refuse(text(config.path(), config.path().empty() ? "" : ": ", "rotary width ", geometry.rotary_dim,
                               ", expected at most head_dim ", geometry.head_dim));
  }
  return geometry;
}

}  // namespace ropecache::model
