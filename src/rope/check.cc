// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "rope/check.h"

#include <cstddef>
#include <cstdint>
#include <variant>

#include "rope/pairs.h"
#include "text.h"

namespace ropecache::rope {
namespace {

// Bounds of every factor, multiplier and beta: far beyond anything a model was trained with (the largest known is an
// alpha of 1e5), and narrow enough that no fp32 recipe overflows by them.
constexpr double kSmallest = 1e-12;
constexpr double kLargest = 1e12;
constexpr double kLargestTheta = 1e30;
constexpr std::int64_t kLargestContext = std::int64_t{1} << 31;  // positions end at 2^31 - 1

// Collects the first thing that is wrong.
class Checker {
 public:
  explicit Checker(const RopeConfig& config) : config_(config) {}

  Status run(const ResolveOptions& options) {
    shape();
    if (!status_.ok()) return status_;
    if (!(config_.theta > 1 && config_.theta <= kLargestTheta)) {
      fail("theta", text(config_.theta), "a number above 1, at most 1e+30");
    }
    divisors("divisors", config_.divisors, true);
    if (options.length) context("length", *options.length);
    query_scale();
    std::visit([this](const auto& rule) { check_rule(rule); }, config_.scaling);
    // The other rules speak of one running index over all pairs, which axial layouts do not have.
    if (is_axial(config_.axes.layout) && !std::holds_alternative<std::monostate>(config_.scaling) &&
        !std::holds_alternative<LinearScaling>(config_.scaling)) {
      fail("scaling", scaling_name(config_.scaling),
           text("none or linear with axes ", axis_layout_name(config_.axes.layout)));
    }
    return status_;
  }

 private:
  void fail(std::string_view field, std::string_view value, std::string_view expected) {
    if (status_.ok()) status_ = refuse(field, value, expected);
  }
  void integer(std::string_view field, std::int64_t value, std::int64_t low, std::int64_t high) {
    if (value < low || value > high) {
      fail(field, text(value), text("an integer from ", low, " to ", high));
    }
  }
  void context(std::string_view field, std::int64_t value, std::int64_t low = 1) {
    integer(field, value, low, kLargestContext);
  }
  // False for NaN too.
  void within(std::string_view field, double value, double low, double high) {
    if (!(value >= low && value <= high)) {
      fail(field, text(value), text("a number from ", low, " to ", high));
    }
  }
  void positive(std::string_view field, double value) { within(field, value, kSmallest, kLargest); }
  void positive(std::string_view field, const std::optional<double>& value) {
    if (value) positive(field, *value);
  }
  void enumerator(std::string_view field, int value, int last) {
    if (value < 0 || value > last) fail(field, text(value), text("0 to ", last));
  }

  void shape() {
    integer("head_dim", config_.head_dim, 2, kMaxRotaryDim);
    if (config_.rotary_dim == 0) {
      fail("rotary_dim", "0", text("an even number from 2 to head_dim, ", config_.head_dim, ", which turns the whole head"));
    }
    integer("rotary_dim", config_.rotary_dim, 2, kMaxRotaryDim);
    if (config_.rotary_dim % 2 != 0) fail("rotary_dim", text(config_.rotary_dim), "an even number");
    integer("rotary_offset", config_.rotary_offset, 0, kMaxRotaryDim);
    const std::int64_t room = std::int64_t{config_.head_dim} - config_.rotary_offset;
    if (config_.rotary_dim > room) {
      fail("rotary_dim", text(config_.rotary_dim),
           text("at most ", room, ", head_dim ", config_.head_dim, " less rotary_offset ", config_.rotary_offset));
    }
    if (config_.exponent_dim != 0) integer("exponent_dim", config_.exponent_dim, 1, kMaxRotaryDim);
    enumerator("pairing", static_cast<int>(config_.pairing), 1);
    enumerator("axes.layout", static_cast<int>(config_.axes.layout), 9);
  }

  void divisors(std::string_view field, const std::vector<double>& list, bool optional) {
    if (list.empty() && optional) return;
    const auto pairs = static_cast<std::size_t>(config_.rotary_dim / 2);
    if (list.size() != pairs) {
      fail(field, text("a list of ", list.size()), text("one number for each of the ", pairs, " pairs"));
      return;
    }
    for (std::size_t n = 0; n < list.size(); ++n) {
      if (!(list[n] >= kSmallest)) {
        fail(text(field, "[", n, "]"), text(list[n]), text("a number from ", kSmallest, " up"));
        return;
      }
    }
  }

  void query_scale() {
    const QueryScale& scale = config_.query_scale;
    enumerator("query_scale.rule", static_cast<int>(scale.rule), 2);
    if (scale.rule == QueryScale::Rule::kNone) return;
    within("query_scale.beta", scale.beta, 0, kLargest);
    within("query_scale.context", scale.context, 1, kLargest);
  }

  void needs_room(std::string_view rule) {
    if (exponent_dim(config_) <= 2) {
      fail(config_.exponent_dim != 0 ? "exponent_dim" : "rotary_dim", text(exponent_dim(config_)),
           text("more than 2 for scaling ", rule));
    }
  }

  void check_rule(const std::monostate&) {}
  void check_rule(const LinearScaling& rule) { positive("scaling.factor", rule.factor); }
  void check_rule(const DynamicNtkScaling& rule) {
    needs_room("dynamic");
    positive("scaling.factor", rule.factor);
    context("scaling.original_context", rule.original_context);
  }
  void check_rule(const NtkAlphaScaling& rule) {
    needs_room("ntk-alpha");
    positive("scaling.alpha", rule.alpha);
  }
  void check_rule(const NtkScaling& rule) {
    positive("scaling.factor", rule.factor);
    if (rule.mixed_b) within("scaling.mixed_b", *rule.mixed_b, 0, 16);
  }
  void check_rule(const YarnScaling& rule) {
    positive("scaling.factor", rule.factor);
    context("scaling.original_context", rule.original_context);
    positive("scaling.beta_fast", rule.beta_fast);
    positive("scaling.beta_slow", rule.beta_slow);
    if (rule.beta_fast < rule.beta_slow) {
      fail("scaling.beta_fast", text(rule.beta_fast), text("at least beta_slow, ", rule.beta_slow));
    }
    within("scaling.extrapolation_factor", rule.extrapolation_factor, 0, 1);
    positive("scaling.attention_factor", rule.attention_factor);
    within("scaling.mscale", rule.mscale.value_or(0), 0, kLargest);
    within("scaling.mscale_all_dim", rule.mscale_all_dim.value_or(0), 0, kLargest);
    positive("scaling.attention_multiplier", rule.attention_multiplier);
    within("scaling.slope", rule.slope, 0, 1);
    enumerator("scaling.magnitude", static_cast<int>(rule.magnitude), 2);
  }
  void check_rule(const Llama3Scaling& rule) {
    positive("scaling.factor", rule.factor);
    positive("scaling.low_freq_factor", rule.low_freq_factor);
    positive("scaling.high_freq_factor", rule.high_freq_factor);
    if (rule.high_freq_factor < rule.low_freq_factor) {
      fail("scaling.high_freq_factor", text(rule.high_freq_factor),
           text("at least low_freq_factor, ", rule.low_freq_factor));
    }
    context("scaling.original_context", rule.original_context);
  }
  void check_rule(const LongRopeScaling& rule) {
    divisors("scaling.short_factor", rule.short_factor, false);
    divisors("scaling.long_factor", rule.long_factor, false);
    context("scaling.original_context", rule.original_context, 2);  // its logarithm is divided by
    positive("scaling.factor", rule.factor);
    positive("scaling.attention_factor", rule.attention_factor);
    positive("scaling.short_mscale", rule.short_mscale);
    positive("scaling.long_mscale", rule.long_mscale);
    const bool given = rule.attention_factor || rule.factor || (rule.short_mscale && rule.long_mscale);
    if (!given || rule.max_context != 0) context("scaling.max_context", rule.max_context);
  }
  void check_rule(const ProportionalScaling& rule) {
    within("scaling.partial", rule.partial, 0, 1);
    positive("scaling.factor", rule.factor);
  }

  const RopeConfig& config_;
  Status status_;
};

}  // namespace

Status refuse(std::string_view field, std::string_view value, std::string_view expected) {
  return {StatusCode::kInvalidArgument, text(field, " is ", value, ", expected ", expected)};
}

Status check(const RopeConfig& config, const ResolveOptions& options) { return Checker(config).run(options); }

}  // namespace ropecache::rope
