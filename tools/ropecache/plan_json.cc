// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "describe.h"
#include "plan.h"
#include "text.h"

namespace ropecache::cli {
namespace {

// The value of a key as the file has it; text that is not JSON stays text.
Json value_of(const KeyNote& note) {
  Json value = Json::parse(note.value, nullptr, false);
  return value.is_discarded() ? Json(note.value) : value;
}

Json values_of(const std::vector<KeyNote>& notes) {
  Json json = Json::object();
  for (const KeyNote& note : notes) json[note.key] = value_of(note);
  return json;
}

Json reasons_of(const std::vector<KeyNote>& notes) {
  Json json = Json::object();
  for (const KeyNote& note : notes) json[note.key] = note.reason;
  return json;
}

Json decimals(const std::vector<Real>& values) {
  Json json = Json::array();
  for (const Real& value : values) json.push_back(value.to_decimal());
  return json;
}

// A rule that changes by length: what holds beyond.
Result<Json> length_json(const ModelRope& entry) {
  if (!entry.switch_length || !entry.beyond) return Json(nullptr);
  auto key = table_key(*entry.beyond);
  if (!key.ok()) return key.status();
  return Json{{"switch_length", *entry.switch_length},
              {"beyond_key", key->hex()},
              {"beyond_frequencies", decimals(entry.beyond->frequencies)},
              {"beyond_magnitude", entry.beyond->magnitude.to_decimal()}};
}

Result<Json> rope_json(int id, const ModelRope& entry) {
  auto key = table_key(entry.rope);
  if (!key.ok()) return key.status();
  auto length = length_json(entry);
  if (!length.ok()) return length.status();
  const RopeConfig& config = entry.config;
  const Rope& rope = entry.rope;
  Json divisors = Json::array();
  for (double divisor : config.divisors) divisors.push_back(shortest(divisor));
  return Json{{"id", id},
              {"key", key->hex()},
              {"role", role_name(entry.role)},
              {"group", entry.group},
              {"layers", entry.layers},
              {"mtp_layers", entry.mtp_layers},
              {"head_dim", rope.head_dim},
              {"rotary_dim", rope.rotary_dim},
              {"rotary_offset", rope.rotary_offset},
              {"pairing", pairing_name(rope.pairing)},
              {"theta", shortest(config.theta)},
              {"scaling", scaling_json(config)},
              {"divisors", std::move(divisors)},
              {"axes", axes_json(config.axes)},
              {"pair_axes", rope.axes},
              {"frequencies", decimals(rope.frequencies)},
              {"magnitude", rope.magnitude.to_decimal()},
              {"softmax_scale_multiplier", rope.softmax_scale_multiplier.to_decimal()},
              {"query_scale", query_scale_json(rope.query_scale)},
              {"inverse_on_output", rope.inverse_on_output},
              {"length_dependent", std::move(*length)}};
}

}  // namespace

Result<std::string> plan_json(const Plan& plan) {
  const ModelRopes& model = plan.model;
  Json ropes = Json::array();
  for (const ModelRope& entry : model.ropes) {
    auto rope = rope_json(static_cast<int>(ropes.size()), entry);
    if (!rope.ok()) return rope.status();
    ropes.push_back(std::move(*rope));
  }
  // Without a context, or of towers alone, nothing can be said about one table per layer.
  const bool counts = plan.context > 0 && !towers_only(plan);
  const Json per_layer = counts ? Json(plan.memory.per_layer_bytes) : Json(nullptr);
  Json reasons = reasons_of(model.defaults);
  reasons.update(reasons_of(model.ignored));
  return to_line({
      {"schema", "ropecache.plan/1"},
      {"source", {{"path", model.path}, {"format", model_format_name(model.format)}}},
      {"model",
       {{"architecture", model.architecture},
        {"known", model.known_architecture},
        {"layers", model.layers},
        {"mtp", model.mtp},
        {"context", model.context}}},
      {"length", plan.length ? Json(*plan.length) : Json(nullptr)},
      {"ropes", std::move(ropes)},
      {"layers_without_rope", model.layers_without_rope},
      {"query_scale_without_rope", query_scale_json(model.query_scale_without_rope)},
      {"distinct_tables", plan.memory.distinct_tables},
      {"bytes", {{"shared", plan.memory.shared_bytes}, {"per_layer", per_layer}, {"context", plan.context}}},
      {"other_roles", {{"distinct_tables", plan.memory.other_tables}, {"bytes", plan.memory.other_bytes}}},
      {"used", values_of(model.used)},
      {"defaults", values_of(model.defaults)},
      {"ignored", values_of(model.ignored)},
      {"reasons", std::move(reasons)},
      {"warnings", model.warnings},
  });
}

}  // namespace ropecache::cli
