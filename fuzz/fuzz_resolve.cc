// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Any RopeConfig at all, built from the bytes: resolve() answers or refuses, and answers the same twice.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "check.h"

namespace ropecache {
namespace {

// Takes values off the front of the input; zeros when it is used up.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : data_(data), left_(size) {}

  template <class T>
  T take() {
    T value{};
    const std::size_t count = sizeof value < left_ ? sizeof value : left_;
    if (count != 0) std::memcpy(&value, data_, count);
    data_ += count;
    left_ -= count;
    return value;
  }
  // Half the time a number that a config could hold, else any bits.
  double number() {
    const auto kind = take<std::uint8_t>();
    if (kind % 2 == 1) return take<double>();
    constexpr double kScales[] = {1e-3, 0.1, 1, 10, 1e4, 1e6};
    return take<std::uint8_t>() * kScales[kind / 2 % 6];
  }
  std::int64_t context() {
    return take<std::uint8_t>() % 2 == 1 ? take<std::int64_t>() : std::int64_t{take<std::uint16_t>()};
  }
  std::optional<double> maybe() { return take<std::uint8_t>() % 2 == 1 ? std::optional(number()) : std::nullopt; }
  std::vector<double> numbers(std::size_t usual) {
    std::vector<double> out(take<std::uint8_t>() % 8 == 0 ? take<std::uint8_t>() : usual, number());
    if (!out.empty()) out.back() = number();
    return out;
  }

 private:
  const std::uint8_t* data_;
  std::size_t left_;
};

Scaling scaling(Input& in, std::size_t pairs) {
  switch (in.take<std::uint8_t>() % 9) {
    case 1:
      return LinearScaling{in.number()};
    case 2: {
      DynamicNtkScaling rule;
      rule.factor = in.number();
      rule.original_context = in.context();
      return rule;
    }
    case 3:
      return NtkAlphaScaling{in.number()};
    case 4:
      return NtkScaling{in.number(), in.maybe()};
    case 5: {
      YarnScaling rule;
      rule.factor = in.number();
      rule.original_context = in.context();
      rule.beta_fast = in.number();
      rule.beta_slow = in.number();
      rule.truncate = in.take<std::uint8_t>() % 2 == 1;
      rule.extrapolation_factor = in.number();
      rule.attention_factor = in.maybe();
      rule.mscale = in.maybe();
      rule.mscale_all_dim = in.maybe();
      rule.attention_multiplier = in.number();
      rule.slope = in.number();
      rule.magnitude = static_cast<YarnMagnitude>(in.take<std::uint8_t>() % 4);
      rule.softmax_scale = in.take<std::uint8_t>() % 2 == 1;
      return rule;
    }
    case 6: {
      Llama3Scaling rule;
      rule.factor = in.number();
      rule.low_freq_factor = in.number();
      rule.high_freq_factor = in.number();
      rule.original_context = in.context();
      return rule;
    }
    case 7: {
      LongRopeScaling rule;
      rule.short_factor = in.numbers(pairs);
      rule.long_factor = in.numbers(pairs);
      rule.original_context = in.context();
      rule.max_context = in.context();
      rule.factor = in.maybe();
      rule.attention_factor = in.maybe();
      rule.short_mscale = in.maybe();
      rule.long_mscale = in.maybe();
      return rule;
    }
    case 8:
      return ProportionalScaling{in.number(), in.number()};
    default:
      return {};
  }
}

// Widths stay small most of the time: a wide head only takes longer.
int width(Input& in) {
  return in.take<std::uint8_t>() % 8 == 0 ? in.take<std::int16_t>() / 16 : 2 * (in.take<std::uint8_t>() % 33);
}

RopeConfig config(Input& in) {
  RopeConfig out;
  out.rotary_dim = width(in);
  out.head_dim = in.take<std::uint8_t>() % 4 == 0 ? width(in) : out.rotary_dim;
  if (in.take<std::uint8_t>() % 4 == 0) out.rotary_offset = width(in);
  if (in.take<std::uint8_t>() % 4 == 0) out.exponent_dim = width(in);
  out.pairing = static_cast<Pairing>(in.take<std::uint8_t>() % 3);
  out.theta = in.number();
  const auto pairs = static_cast<std::size_t>(out.rotary_dim > 0 ? out.rotary_dim / 2 : 0);
  out.scaling = scaling(in, pairs);
  if (in.take<std::uint8_t>() % 4 == 0) out.divisors = in.numbers(pairs);
  out.axes.layout = static_cast<AxisLayout>(in.take<std::uint8_t>() % 11);
  const int sections = in.take<std::uint8_t>() % 10;
  for (int n = 0; n < sections; ++n) out.axes.sections.push_back(in.take<std::int8_t>());
  out.query_scale.rule = static_cast<QueryScale::Rule>(in.take<std::uint8_t>() % 4);
  out.query_scale.beta = in.number();
  out.query_scale.context = in.number();
  out.inverse_on_output = in.take<std::uint8_t>() % 2 == 1;
  return out;
}

void check_resolve(Input in) {
  const RopeConfig rope = config(in);
  ResolveOptions options;
  if (in.take<std::uint8_t>() % 2 == 1) options.length = in.context();
  const Result<Rope> first = resolve(rope, options);
  if (!first.ok()) return fuzz::check_error(first.status());
  fuzz::check_rope(*first);
  fuzz::require(*resolve(rope, options) == *first, "the same config gives the same rope");
  for (const Profile profile : {Profile::kExact, Profile::kFp32, Profile::kGgml}) {
    for (const Use use : {Use::kRotate, Use::kInverse, Use::kShift}) {
      const Result<TableKey> key = table_key(*first, profile, use);
      fuzz::require(key.ok() || (profile == Profile::kGgml && !first->ggml), "only a missing recipe has no key");
    }
  }
  const double scale = query_scale_at(first->query_scale, in.take<std::int64_t>());
  fuzz::require(scale == scale, "a query scale is a number");
}

}  // namespace
}  // namespace ropecache

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ropecache::check_resolve(ropecache::Input(data, size));
  return 0;
}
