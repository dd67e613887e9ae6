// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "model/hf_geometry.h"

#include <array>
#include <span>

#include "text.h"

namespace ropecache::model {

namespace {

constexpr std::array<std::string_view, 6> kHeadsKeys = {
    "num_attention_heads", "n_head", "num_heads", "n_heads", "encoder_attention_heads", "decoder_num_attention_heads"};
// embed_dim first: in Qwen2-VL's vision tower hidden_size is the width of the decoder.
constexpr std::array<std::string_view, 5> kHiddenKeys = {"embed_dim", "hidden_size", "n_embd", "d_model", "dim"};
constexpr std::array<std::string_view, 4> kHeadKeys = {"head_dim", "kv_channels", "attention_head_dim", "d_kv"};
constexpr std::array<std::string_view, 5> kPartialKeys = {"partial_rotary_factor", "rotary_pct", "rope_pct",
                                                          "rotary_emb_fraction", "rotary_percentage"};

// The first of some keys that the file has; `key` becomes it.
std::optional<int> first_size(const Section& config, std::span<const std::string_view> keys, std::string_view& key) {
  for (const std::string_view candidate : keys) {
    const auto size = config.integer(candidate, 1, kMaxWidth);
    if (!size) continue;
    key = candidate;
    return static_cast<int>(*size);
  }
  return std::nullopt;
}

int derived_head_dim(const Section& config, const Sizes* sizes) {
  std::string_view heads_key = kHeadsKeys[0];
  std::string_view hidden_key = "hidden_size";
  std::optional<int> heads = first_size(config, kHeadsKeys, heads_key);
  std::optional<int> hidden = first_size(config, kHiddenKeys, hidden_key);
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
Geometry read_mla(const Section& config, const Family* family) {
  Geometry geometry;
  geometry.rotary_offset = split_size(config, "qk_nope_head_dim", family == nullptr ? 0 : family->split[0]);
  geometry.rotary_dim = split_size(config, "qk_rope_head_dim", family == nullptr ? 0 : family->split[1]);
  geometry.head_dim = geometry.rotary_dim + geometry.rotary_offset;
  config.ignore_if_present("head_dim", "qk_nope_head_dim and qk_rope_head_dim give the head");
  config.ignore_if_present("partial_rotary_factor", "qk_rope_head_dim turns as a whole");
  return geometry;
}

// The factor as the file's flat keys give it.
std::optional<double> flat_partial(const Section& config, const Family* family) {
  if (family != nullptr) {
    if (const auto factor = config.number("partial_rotary_factor")) return factor;
    return family->partial_key.empty() ? std::nullopt : config.number(family->partial_key);
  }
  for (const std::string_view key : kPartialKeys) {
    if (const auto factor = config.number(key)) return factor;
  }
  return std::nullopt;
}

int rotary_width(const Section& config, const Family* family, int head_dim, std::optional<double> partial) {
  if (family != nullptr && family->partial == 0 && family->width_key.empty()) {
    // The type's code turns the whole head and does not look.
    if (const auto factor = partial ? partial : config.number("partial_rotary_factor"); factor && *factor != 1) {
      config.audit().warn(
          text("partial_rotary_factor ", *factor, " has no effect: ", family->type, " turns whole heads"));
    }
    return head_dim;
  }
  if (family != nullptr && family->partial_fixed) {
    config.ignore_if_present("partial_rotary_factor", "the model type has its own");
    return partial_width(config, head_dim, family->partial);
  }
  if (!partial) partial = flat_partial(config, family);
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
    if (const auto size = first_size(config, kHeadKeys, key)) return *size;
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
                       std::optional<double> partial, bool proportional) {
  const bool split_keys = config.has("qk_rope_head_dim") && config.has("qk_nope_head_dim");
  if (family != nullptr ? family->head == HeadRule::kMla : split_keys) return read_mla(config, family);

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
    if (width) config.ignore_if_present("partial_rotary_factor", "qk_rope_head_dim says the same");
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
