// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// The tables of families in docs/models.md are those of the code, row by row.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "model/hf_family.h"
#include "model/hf_test.h"
#include "text.h"

namespace ropecache {
namespace {

using model::AxesRule;
using model::Family;
using model::HeadRule;
using model::IndexerRule;
using model::NopeRule;
using model::QueryRule;
using model::ScalingRule;

void add(std::string& list, const std::string& item) { list += (list.empty() ? "" : "; ") + item; }

std::string quoted(std::string_view word) { return text("`", word, "`"); }

std::string turning(const Family& family) {
  std::string out;
  if (family.head == HeadRule::kMla) add(out, "split head, the rope part");
  if (family.head == HeadRule::kTail) add(out, "the end of the head");
  if (family.head == HeadRule::kDerived) add(out, "head is hidden / heads");
  if (family.head == HeadRule::kDoubled) add(out, "head is 2 hidden / heads");
  if (family.partial != 0 && family.head != HeadRule::kTail && family.head != HeadRule::kMla) {
    add(out, text("partial ", family.partial, family.partial_fixed ? ", fixed" : ""));
  }
  if (!family.partial_key.empty()) add(out, quoted(family.partial_key));
  if (!family.width_key.empty())
    add(out, text(quoted(family.width_key), family.width != 0 ? " " : "",
                  family.width != 0 ? std::to_string(family.width) : ""));
  if (family.global_head_dim != 0) add(out, text("full layers: head ", family.global_head_dim));
  return out.empty() ? "whole head" : out;
}

std::string layers(const Family& family) {
  std::string out;
  if (!family.cycle.empty()) add(out, text(family.prefix, family.prefix.empty() ? "" : "+", family.cycle));
  if (!family.period_key.empty()) add(out, quoted(family.period_key));
  if (!family.list_key.empty()) add(out, quoted(family.list_key));
  if (family.nope == NopeRule::kFull || family.nope == NopeRule::kFullButDense) add(out, "F without rope");
  if (family.nope == NopeRule::kFullWhereWindow) add(out, "F without rope where there is a window");
  if (family.nope == NopeRule::kNoRopeLayers) add(out, "`no_rope_layers`, else each 4th without");
  if (family.nope == NopeRule::kZeroTheta || family.nope == NopeRule::kThetaList) add(out, "`layer_rope_theta`");
  if (family.nope == NopeRule::kCrossAttention) add(out, "`cross_attention_layers` without rope");
  if (!family.only_if_key.empty()) add(out, text("only if ", quoted(family.only_if_key), " is ", family.only_if_value));
  if (family.linear_rotates) add(out, "L rotates too");
  return out.empty() ? "all alike" : out;
}

std::string more(const Family& family) {
  static constexpr std::string_view kAxes[] = {"",       "sectioned", "interleaved", "Ernie",
                                               "vision", "vision-alternating", "halves",
                                               "vision, thirds", "vision-pairs"};
  static constexpr std::string_view kIndexers[] = {"", "half", "interleaved", "half, at the end",
                                                   "interleaved, at the end"};
  std::string out;
  if (family.local_theta != 0) add(out, text("second base ", family.local_theta, " ", family.local_theta_key));
  if (family.scaling == ScalingRule::kOnFullOnly) add(out, "a flat block scales F only");
  if (family.scaling == ScalingRule::kOnCompressed) add(out, "a flat block scales compressed layers only");
  if (family.scaling == ScalingRule::kPhi3) add(out, "`su`, `yarn` mean longrope");
  if (family.scaling == ScalingRule::kPhiMoe) add(out, "`short_mscale`, `long_mscale`");
  if (!family.preset.empty()) add(out, "rope parameters of its own");
  if (family.axes != AxesRule::kSingle) add(out, text("axes ", kAxes[static_cast<std::size_t>(family.axes)]));
  if (family.indexer != IndexerRule::kNone)
    add(out, text("indexer ", kIndexers[static_cast<std::size_t>(family.indexer)]));
  if (family.softmax_scale) add(out, "mscale to softmax");
  if (family.query == QueryRule::kScalingBeta) add(out, "query scale");
  if (family.query == QueryRule::kTemperatureOfNope) add(out, "query scale of layers without rope");
  if (family.inverse_on_output) add(out, "inverse on output");
  if (family.mtp != 0) add(out, text(family.mtp, " MTP"));
  if (family.mtp_apart) add(out, "MTP layers are not counted");
  if (!family.note.empty()) add(out, std::string(family.note));
  return out;
}

std::string row(const Family& family) {
  const std::string name =
      family.architecture.empty() ? quoted(family.type) : text(quoted(family.type), " ", family.architecture);
  std::string pairing = family.pairing == Pairing::kHalf ? "half" : "interleaved";
  if (!family.pairing_key.empty()) pairing += text(", ", quoted(family.pairing_key));
  std::string base = text(family.theta);
  if (!family.theta_key.empty()) base += text(", ", quoted(family.theta_key));
  if (!family.theta_factor_key.empty()) base += text(" x ", quoted(family.theta_factor_key));
  if (family.no_rope) return text("| ", name, " | - | - | - | - | ", more(family), " |\n");
  return text("| ", name, " | ", pairing, " | ", base, " | ", turning(family), " | ", layers(family), " | ",
              more(family), " |\n");
}

bool is_plain(const Family& family) {
  const Family plain = {.type = family.type};
  return row(family) == row(plain);
}

std::string tables() {
  std::string plain;
  std::string rows;
  for (const Family& family : model::text_families()) {
    if (is_plain(family)) {
      plain += (plain.empty() ? "" : ", ") + quoted(family.type);
    } else {
      rows += row(family);
    }
  }
  std::string vision;
  for (const Family& family : model::vision_families()) vision += row(family);
  const std::string head =
      "| model_type | pairing | base | turns | layers | more |\n| --- | --- | --- | --- | --- | --- |\n";
  return "Plain: " + plain + ".\n\n" + head + rows + "\nVision towers:\n\n" + head + vision;
}

TEST(HfDocs, TablesAreThoseOfTheCode) {
  const std::string begin = "<!-- families, printed by hf_docs_test -->\n\n";
  const std::string page = hf_test::file_text("../../docs/models.md");
  const std::size_t from = page.find(begin);
  ASSERT_NE(from, std::string::npos);
  const std::size_t start = from + begin.size();
  const std::size_t end = page.find("\n<!-- families: end -->", start);
  ASSERT_NE(end, std::string::npos);
  const std::string expected = tables();
  EXPECT_TRUE(page.substr(start, end - start) == expected) << "docs/models.md should hold:\n\n" << expected;
}

}  // namespace
}  // namespace ropecache
