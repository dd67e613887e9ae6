// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Frequencies and magnitudes of real models, from configs written by hand out of tests/data/models-expected.json,
// against the 25 digits of tests/data/golden-tables.json.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "rope/configs.h"

namespace ropecache {
namespace {

using nlohmann::json;

json load(const std::string& name) {
  std::ifstream file(std::string(TEST_DATA "/") + name);
  EXPECT_TRUE(file.good()) << name;
  return json::parse(file);
}

// 0.DIGITS times a power of ten, without zeros at either end: "0.0250" and "2.5e-2" are "25e-1".
std::string canonical_decimal(const std::string& text) {
  const std::size_t e = text.find('e');
  int exponent = e == std::string::npos ? 0 : std::stoi(text.substr(e + 1));
  std::string digits;
  bool point = false;
  for (const char c : text.substr(0, e)) {
    if (c == '.') {
      point = true;
      continue;
    }
    if (!point) ++exponent;
    if (digits.empty() && c == '0') {
      --exponent;
      continue;
    }
    digits += c;
  }
  while (!digits.empty() && digits.back() == '0') digits.pop_back();
  return digits.empty() ? "0" : digits + "e" + std::to_string(exponent);
}

double number(const json& object, const char* key, double otherwise) { return object.value(key, otherwise); }

Scaling scaling_of(const json& rope, const json& lists) {
  const json& s = rope["scaling"];
  if (s.is_null()) return {};
  const std::string type = s["type"];
  const std::int64_t original = s.value("original", std::int64_t{0});
  if (type == "linear") return LinearScaling{s["factor"]};
  if (type == "ntk-alpha") return NtkAlphaScaling{s["alpha"]};
  if (type == "dynamic") return DynamicNtkScaling{s["factor"], s["max"]};
  if (type == "llama3") return Llama3Scaling{s["factor"], s["low_freq_factor"], s["high_freq_factor"], original};
  if (type == "proportional") return ProportionalScaling{s["partial"], 1};
  if (type == "longrope") {
    LongRopeScaling rule;
    rule.short_factor = lists["short_factor"].get<std::vector<double>>();
    rule.long_factor = lists["long_factor"].get<std::vector<double>>();
    rule.original_context = original;
    rule.max_context = 131072;
    return rule;
  }
  EXPECT_EQ(type, "yarn");
  YarnScaling rule = yarn(s["factor"], original, number(s, "beta_fast", 32), number(s, "beta_slow", 1));
  rule.truncate = s.value("truncate", true);
  if (s.contains("attention_factor")) rule.attention_factor = s["attention_factor"].get<double>();
  if (s.contains("mscale")) rule.mscale = s["mscale"].get<double>();
  if (s.contains("mscale_all_dim")) rule.mscale_all_dim = s["mscale_all_dim"].get<double>();
  return rule;
}

RopeConfig config_of(const json& rope, const json& lists) {
  RopeConfig config;
  config.head_dim = rope["head_dim"];
  config.rotary_dim = rope["rotary_dim"];
  // The Hunyuan rows spell their base as 10000 stretched by an alpha.
  config.theta = rope["theta"].is_number() ? rope["theta"].get<double>() : 10000;
  config.scaling = scaling_of(rope, lists);
  return config;
}

TEST(GoldenTables, every_rope_of_every_model_has_the_golden_frequencies) {
  const json golden = load("golden-tables.json");
  const json expected = load("models-expected.json");
  const json phi = load("models/phi-3.5-mini.json");
  const json& lists = phi.contains("rope_scaling") ? phi["rope_scaling"] : phi["rope_parameters"];
  std::map<std::string, json> tables;
  for (const json& table : golden["tables"]) tables[table["id"]] = table;

  std::set<std::string> seen;
  for (const json& model : golden["models"]) {
    const std::string name = model["model"];
    for (const json& group : model["groups"]) {
      std::string id = group["id"];
      ResolveOptions options;
      if (const std::size_t colon = id.rfind(":long"); colon != std::string::npos) options.length = 4097;
      if (const std::size_t colon = id.find(':'); colon != std::string::npos) id = id.substr(0, colon);
      SCOPED_TRACE(name + " " + id);

      const json* row = nullptr;
      for (const json& candidate : expected[name]["ropes"]) {
        if (candidate["id"] == id) row = &candidate;
      }
      ASSERT_NE(row, nullptr);
      const Rope rope = resolved(config_of(*row, lists), options);
      const json& table = tables[group["table"]];
      ASSERT_EQ(rope.frequencies.size(), table["frequency"].size());
      for (std::size_t i = 0; i < rope.frequencies.size(); ++i) {
        EXPECT_EQ(canonical_decimal(rope.frequencies[i].to_decimal(25)),
                  canonical_decimal(table["frequency"][i].get<std::string>()))
            << "pair " << i;
      }
      EXPECT_EQ(canonical_decimal(rope.magnitude.to_decimal(25)),
                canonical_decimal(table["magnitude"].get<std::string>()));
      seen.insert(group["table"].get<std::string>());
    }
  }
  EXPECT_EQ(seen.size(), tables.size());
  EXPECT_EQ(tables.size(), 43u);
}

}  // namespace
}  // namespace ropecache
