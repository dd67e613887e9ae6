// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "describe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "rope/pairs.h"
#include "text.h"

namespace ropecache::cli {
namespace {

// One overload per rule, for std::visit: JSON fields, and the words after "name".
struct Fields {
  const RopeConfig& config;

  Json operator()(const std::monostate&) const { return Json::object(); }
  Json operator()(const LinearScaling& s) const { return {{"factor", s.factor}}; }
  Json operator()(const DynamicNtkScaling& s) const { return {{"factor", s.factor}, {"max", s.original_context}}; }
  Json operator()(const NtkAlphaScaling& s) const { return {{"alpha", s.alpha}}; }
  Json operator()(const NtkScaling& s) const {
    Json json = {{"factor", s.factor}};
    set(json, "mixed_b", s.mixed_b);
    return json;
  }
  Json operator()(const YarnScaling& s) const {
    Json json = {{"factor", s.factor},       {"original", s.original_context}, {"beta_fast", s.beta_fast},
                 {"beta_slow", s.beta_slow}, {"truncate", s.truncate}};
    set(json, "mscale", s.mscale);
    set(json, "mscale_all_dim", s.mscale_all_dim);
    set(json, "attention_factor", s.attention_factor);
    if (s.extrapolation_factor != 1) json["extrapolation_factor"] = s.extrapolation_factor;
    if (s.attention_multiplier != 1) json["attention_multiplier"] = s.attention_multiplier;
    if (s.slope != 0.1) json["slope"] = s.slope;
    return json;
  }
  Json operator()(const Llama3Scaling& s) const {
    return {{"factor", s.factor},
            {"low_freq_factor", s.low_freq_factor},
            {"high_freq_factor", s.high_freq_factor},
            {"original", s.original_context}};
  }
  Json operator()(const LongRopeScaling& s) const {
    Json json = {{"n", s.short_factor.size()}, {"original", s.original_context}};
    if (s.max_context != 0) json["max"] = s.max_context;
    set(json, "factor", s.factor);
    set(json, "attention_factor", s.attention_factor);
    set(json, "short_mscale", s.short_mscale);
    set(json, "long_mscale", s.long_mscale);
    return json;
  }
  Json operator()(const ProportionalScaling& s) const {
    Json json = {{"partial", s.partial}, {"real_pairs", std::floor(s.partial * config.rotary_dim / 2)}};
    json["real_pairs"] = json["real_pairs"].get<std::int64_t>();
    json["factor"] = s.factor;
    return json;
  }

  static void set(Json& json, const char* key, const std::optional<double>& value) {
    if (value) json[key] = *value;
  }
};

struct Words {
  const RopeConfig& config;

  std::string operator()(const std::monostate&) const { return ""; }
  std::string operator()(const LinearScaling& s) const { return fmt::format(" /{}", shortest(s.factor)); }
  std::string operator()(const DynamicNtkScaling& s) const {
    return fmt::format(" x{} beyond {}", shortest(s.factor), s.original_context);
  }
  std::string operator()(const NtkAlphaScaling& s) const { return fmt::format(" {}", shortest(s.alpha)); }
  std::string operator()(const NtkScaling& s) const {
    return fmt::format(" x{}{}", shortest(s.factor), s.mixed_b ? " mixed_b " + shortest(*s.mixed_b) : "");
  }
  std::string operator()(const YarnScaling& s) const {
    return fmt::format(" x{} of {}, betas {} {}{}", shortest(s.factor), s.original_context, shortest(s.beta_fast),
                       shortest(s.beta_slow), s.truncate ? "" : ", no truncation");
  }
  std::string operator()(const Llama3Scaling& s) const {
    return fmt::format(" x{} of {}, bands {} {}", shortest(s.factor), s.original_context, shortest(s.low_freq_factor),
                       shortest(s.high_freq_factor));
  }
  std::string operator()(const LongRopeScaling& s) const { return fmt::format(" beyond {}", s.original_context); }
  std::string operator()(const ProportionalScaling& s) const {
    return fmt::format(" {} of the head{}", shortest(s.partial), s.factor == 1 ? "" : ", /" + shortest(s.factor));
  }
};

}  // namespace

std::string_view pairing_name(Pairing pairing) { return pairing == Pairing::kHalf ? "half" : "interleaved"; }

std::string_view layout_name(AxisLayout layout) { return rope::axis_layout_name(layout); }

std::string layers_text(const std::map<Role, std::size_t>& layers) {
  std::string out;
  for (const auto& [role, count] : layers) {
    if (!out.empty()) out += " and ";
    out += counted(count, role == Role::kAttention ? "layer" : std::string(role_name(role)) + " layer");
  }
  return out;
}

std::string architecture_text(const ModelRopes& model) {
  return model.architecture.empty() ? "no model_type" : printable(model.architecture, kMaxWord);
}

std::string scaling_text(const RopeConfig& config) {
  if (std::holds_alternative<std::monostate>(config.scaling)) {
    return config.divisors.empty() ? "" : "divisors from the file";
  }
  return std::string(scaling_name(config.scaling)) + std::visit(Words{config}, config.scaling) +
         (config.divisors.empty() ? "" : ", divisors from the file");
}

std::string regime_text(const RopeConfig& config, std::optional<std::int64_t> length) {
  if (!length) return "";
  if (const auto* longrope = std::get_if<LongRopeScaling>(&config.scaling)) {
    return *length > longrope->original_context ? ": long_factor" : ": short_factor";
  }
  if (const auto* dynamic = std::get_if<DynamicNtkScaling>(&config.scaling)) {
    return *length > dynamic->original_context ? fmt::format(": as for {}", *length) : ": not reached";
  }
  return "";
}

std::string axes_text(const Axes& axes) {
  if (axes.layout == AxisLayout::kSingle) return "";
  return fmt::format("{} {}", layout_name(axes.layout), fmt::join(axes.sections, ","));
}

std::string query_scale_text(const QueryScale& scale) {
  if (scale.rule == QueryScale::Rule::kNone) return "";
  const char* position = scale.rule == QueryScale::Rule::kLogFloor ? "p" : "(p + 1)";
  return fmt::format("1 + {} ln(1 + floor({} / {}))", shortest(scale.beta), position, shortest(scale.context));
}

Json scaling_json(const RopeConfig& config) {
  Json json = {{"type", scaling_name(config.scaling)}};
  json.update(std::visit(Fields{config}, config.scaling));
  return json;
}

Json axes_json(const Axes& axes) { return {{"layout", layout_name(axes.layout)}, {"sections", axes.sections}}; }

Json query_scale_json(const QueryScale& scale) {
  if (scale.rule == QueryScale::Rule::kNone) return nullptr;
  const char* rule = scale.rule == QueryScale::Rule::kLogFloor ? "log-floor" : "log-floor-plus-one";
  return {{"rule", rule}, {"beta", scale.beta}, {"context", scale.context}};
}

std::string warning_lines(const ModelRopes& model, std::string_view prefix, const Style& style) {
  std::string out;
  for (const std::string& warning : model.warnings) {
    out += fmt::format("{}{}{}\n", style.bad("warning: "), prefix, printable(warning));
  }
  return out;
}

std::string to_line(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n'; }

}  // namespace ropecache::cli
