// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <exception>
#include <new>
#include <utility>

#include "rope/check.h"
#include "rope/rules.h"
#include "text.h"

namespace ropecache {
namespace rope {
namespace {

// rope.h states these bounds. Below the lower one a pair moves by less than 2^-69 in all positions there are.
constexpr int kSlowestTurnLog2 = -100;
constexpr int kFastestTurnLog2 = 20;
constexpr int kMagnitudeLog2 = 20;

bool outside(const Wide& value, int low_log2, int high_log2) {
  return value < scaled(Wide(1), low_log2) || value >= scaled(Wide(1), high_log2);
}

Status check_results(const RopeConfig& config, const std::vector<Wide>& frequencies, const Wide& magnitude) {
  for (std::size_t i = 0; i < frequencies.size(); ++i) {
    if (frequencies[i].is_zero() || !outside(frequencies[i], kSlowestTurnLog2, kFastestTurnLog2)) continue;
    return refuse(text("frequency of pair ", i), frequencies[i].to_real().to_decimal(6),
                  text("2^-100 up to 2^20 radians per position (theta ", config.theta, ", scaling ",
                       scaling_name(config.scaling), ")"));
  }
  if (outside(magnitude, -kMagnitudeLog2, kMagnitudeLog2)) {
    return refuse("magnitude", magnitude.to_real().to_decimal(6),
                  text("2^-20 up to 2^20 (scaling ", scaling_name(config.scaling), ")"));
  }
  return {};
}

Result<Rope> resolve_checked(const RopeConfig& config, Length length) {
  Result<Pairs> pairs = lay_out_pairs(config);
  if (!pairs.ok()) return pairs.status();
  const Result<std::vector<Wide>> frequencies = frequencies_of(config, *pairs, length);
  if (!frequencies.ok()) return frequencies.status();
  const Wide magnitude = magnitude_of(config, length);
  Status status = check_results(config, *frequencies, magnitude);
  if (!status.ok()) return status;

  Rope rope;
  rope.head_dim = config.head_dim;
  rope.rotary_dim = config.rotary_dim;
  rope.rotary_offset = config.rotary_offset;
  rope.pairing = config.pairing;
  for (const Wide& frequency : *frequencies) rope.frequencies.push_back(frequency.to_real());
  rope.magnitude = magnitude.to_real();
  rope.softmax_scale_multiplier = softmax_multiplier_of(config).to_real();
  rope.query_scale = canonical(config.query_scale);
  rope.inverse_on_output = config.inverse_on_output;
  rope.fp32_frequencies = fp32_frequencies_of(config, *pairs, length);
  rope.fp32_magnitude = fp32_magnitude_of(config, length);
  rope.ggml = ggml_recipe_of(config, *pairs, length);
  rope.axes = std::move(pairs->axes);
  rope.axis_count = pairs->axis_count;
  return rope;
}

}  // namespace
}  // namespace rope

std::string_view scaling_name(const Scaling& scaling) noexcept {
  constexpr std::array<std::string_view, std::variant_size_v<Scaling>> kNames = {
      "none", "linear", "dynamic", "ntk-alpha", "ntk", "yarn", "llama3", "longrope", "proportional"};
  return scaling.valueless_by_exception() ? "none" : kNames[scaling.index()];
}

Result<Rope> resolve(const RopeConfig& config, const ResolveOptions& options) noexcept {
  try {
    Status status = rope::check(config, options);
    if (!status.ok()) return status;
    return rope::resolve_checked(config, options.length);
  } catch (const std::bad_alloc&) {
    return Status(StatusCode::kOutOfMemory, "resolving a rope");
  } catch (const std::exception& error) {
    return Status(StatusCode::kInternal, error.what());
  }
}

}  // namespace ropecache
