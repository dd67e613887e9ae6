// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// llama.cpp: llama_model_base::load_hparams for the keys, the constructor of llama_context for the magnitude,
// llama_model::get_rope_factors for the tensors.
#include "model/gguf_scaling.h"

#include <charconv>
#include <cmath>
#include <string>

#include "text.h"

namespace ropecache::model {
namespace {

constexpr std::int64_t kMaxContext = std::int64_t{1} << 31;

// 0.0707 is 0.707 tenths: shifting the decimal, not dividing the binary fraction.
double tenfold(double value) {
  const std::string digits = text(value);
  const std::size_t e = digits.find('e');
  const std::string shifted =
      e == std::string::npos ? digits + "e1" : digits.substr(0, e) + "e" + text(std::atoi(digits.c_str() + e + 1) + 1);
  double out = value * 10;
  std::from_chars(shifted.data(), shifted.data() + shifted.size(), out);
  return out;
}

class ScalingReader {
 public:
  ScalingReader(const GgufArchitecture& row, const GgufKeys& keys, const GgufFile& file, std::int64_t context)
      : row_(row), keys_(keys), file_(file), context_(context) {}

  GgufScaling read() {
    read_type_and_factor();
    out_.attn_factor = keys_.number("rope.scaling.attn_factor").value_or(1);
    out_.original_context = context_;
    read_tensors();
    if (has_lists_) {
      longrope();
    } else if (uses_yarn()) {
      yarn();
    } else if (factor_ != 1) {
      linear();
    } else {
      out_.full = plain_with_magnitude(out_.attn_factor);
    }
    return std::move(out_);
  }

 private:
  void read_type_and_factor() {
    const auto type = keys_.text("rope.scaling.type");
    type_ = type.value_or("linear");
    if (type_ != "none" && type_ != "linear" && type_ != "yarn" && type_ != "longrope") {
      keys_.refuse("rope.scaling.type", "none, linear, yarn or longrope", StatusCode::kUnsupported);
    }
    if (type_ == "none") {
      keys_.ignore("rope.scaling.factor", "rope.scaling.type is none");
      keys_.ignore("rope.scale_linear", "rope.scaling.type is none");
      return;
    }
    std::optional<double> factor = keys_.number("rope.scaling.factor");
    if (!factor) {
      factor = keys_.number("rope.scale_linear");
    } else {
      keys_.ignore("rope.scale_linear", "rope.scaling.factor is there, which took its place");
    }
    if (factor && !type) keys_.defaulted("rope.scaling.type", "\"linear\"", "a factor without a type is linear");
    if (factor && *factor == 0) {
      keys_.defaulted("rope.scaling.factor", "1", "0 stands for no factor");
      factor = 1;
    }
    if (!factor && (type_ == "linear" || type_ == "yarn") && type) {
      keys_.defaulted("rope.scaling.factor", "1", "not in the file");
      keys_.audit().warn(text(keys_.full_name("rope.scaling.type"), " is ", type_,
                              " but there is no rope.scaling.factor: nothing is scaled"));
    }
    factor_ = factor.value_or(1);
    if (!(factor_ > 0)) keys_.refuse("rope.scaling.factor", "a number above 0");
  }

  // The tensors that the architecture's loader would take.
  void read_tensors() {
    const std::vector<double>* freqs = tensor(kGgufRopeFreqs);
    long_ = tensor(kGgufFactorsLong);
    short_ = tensor(kGgufFactorsShort);
    if ((long_ == nullptr) != (short_ == nullptr)) {
      keys_.audit().refuse(text("tensor ", long_ == nullptr ? kGgufFactorsLong : kGgufFactorsShort,
                                ": missing, expected beside ",
                                long_ == nullptr ? kGgufFactorsShort : kGgufFactorsLong));
    }
    has_lists_ = long_ != nullptr;
    if (has_lists_ && freqs != nullptr) {
      keys_.audit().refuse(text("tensors ", kGgufRopeFreqs, " and ", kGgufFactorsLong, ", expected one or the other"));
    }
    if (type_ == "longrope" && !has_lists_) {
      keys_.audit().refuse(text(keys_.full_name("rope.scaling.type"), ": \"longrope\", expected tensors ",
                                kGgufFactorsLong, " and ", kGgufFactorsShort));
    }
    if (freqs != nullptr) out_.divisors = *freqs;
  }

  const std::vector<double>* tensor(std::string_view name) {
    const auto found = file_.rope_tensors.find(name);
    if (found == file_.rope_tensors.end()) return nullptr;
    const std::string value = text("\"tensor of ", counted(found->second.size(), "number"), "\"");
    if (row_.factors == Factors::kNever) {
      keys_.audit().ledger.ignored(name, value, "llama.cpp passes no frequency factors for this architecture");
      keys_.audit().warn(text("tensor ", name, " has no effect for this architecture"));
      return nullptr;
    }
    keys_.audit().ledger.used(name, value);
    return &found->second;
  }

  // Where a rule begins to act; needed, so it is looked up only by those who need it.
  std::int64_t original_context() {
    constexpr std::string_view kKey = "rope.scaling.original_context_length";
    if (const auto given = keys_.integer(kKey, 1, kMaxContext)) {
      out_.original_context = *given;
    } else if (context_ > 0) {
      keys_.defaulted(kKey, text(context_), "context_length");
    } else {
      keys_.refuse(kKey, "the original context length, or a context_length");
    }
    return out_.original_context;
  }

  void longrope() {
    if (type_ == "yarn") {
      keys_.audit().refuse(
          text(keys_.full_name("rope.scaling.type"), ": \"yarn\", expected no tensor ", kGgufFactorsLong),
          StatusCode::kUnsupported);
    }
    LongRopeScaling rule;
    rule.short_factor = *short_;
    rule.long_factor = *long_;
    rule.original_context = original_context();
    rule.max_context = std::max(context_, rule.original_context);
    rule.attention_factor = out_.attn_factor;
    if (!keys_.has("rope.scaling.attn_factor")) keys_.defaulted("rope.scaling.attn_factor", "1", "not in the file");
    out_.longrope_factor = factor_;
    out_.full = std::move(rule);
  }

  // -1 and absent mean "1 if the type is yarn".
  bool uses_yarn() {
    if (row_.has(kReadsExtFactor)) {
      if (const auto given = keys_.number("rope.scaling.yarn_ext_factor"); given && *given >= 0) {
        ext_factor_ = *given;
        return *given != 0;
      }
    }
    return type_ == "yarn";
  }

  void yarn() {
    YarnScaling rule;
    rule.factor = factor_;
    rule.original_context = original_context();
    rule.extrapolation_factor = ext_factor_;
    rule.truncate = true;  // ggml always rounds the correction range
    rule.beta_fast = row_.has(kReadsExtFactor) ? 8 : 32;
    if (row_.has(kReadsBetas)) {
      rule.beta_fast = beta("rope.scaling.yarn_beta_fast", rule.beta_fast);
      rule.beta_slow = beta("rope.scaling.yarn_beta_slow", rule.beta_slow);
    } else {
      warn_of_lost_beta("rope.scaling.yarn_beta_fast", rule.beta_fast);
      warn_of_lost_beta("rope.scaling.yarn_beta_slow", rule.beta_slow);
    }
    rule.attention_multiplier = out_.attn_factor;
    magnitude(rule);
    out_.full = rule;
  }

  double beta(std::string_view key, double standard) {
    const auto given = keys_.number(key);
    if (!given) keys_.defaulted(key, text(standard), "of this architecture");
    return given.value_or(standard);
  }

  void warn_of_lost_beta(std::string_view key, double taken) {
    const auto given = keys_.glance(key);
    keys_.ignore(key, "read for grok and mistral3 only, as llama.cpp does");
    if (given && *given != taken) {
      keys_.audit().warn(
          text(keys_.full_name(key), " is ", *given, ", but llama.cpp turns this architecture by ", taken));
    }
  }

  void magnitude(YarnScaling& rule) {
    if (row_.has(kCompressed)) {
      rule.magnitude = YarnMagnitude::kOne;
      return;
    }
    rule.magnitude = YarnMagnitude::kPlain;
    rule.softmax_scale = row_.has(kSoftmaxScale);
    // The graphs square the magnitude that is on cos and sin, and with a multiplier its growth too.
    if (rule.softmax_scale) rule.mscale_all_dim = 1;
    if (row_.log_multiplier == LogMultiplier::kNotRead) return;
    const auto given = keys_.number("rope.scaling.yarn_log_multiplier");
    if (!given || *given == 0) {
      if (rule.softmax_scale && factor_ > 1) {
        keys_.audit().warn(text(keys_.full_name("rope.scaling.yarn_log_multiplier"),
                                " is missing: llama.cpp puts YaRN's magnitude on cos and sin too"));
      }
      return;
    }
    const double all_dim = row_.log_multiplier == LogMultiplier::kMscaleAllDim ? *given : tenfold(*given);
    rule.magnitude = YarnMagnitude::kHf;
    rule.mscale = row_.log_multiplier == LogMultiplier::kTenthBoth && all_dim != 1 ? all_dim : 1;
    rule.mscale_all_dim = all_dim;
  }

  void linear() {
    if (out_.attn_factor != 1) {
      keys_.refuse("rope.scaling.attn_factor", "1 with linear scaling", StatusCode::kUnsupported);
    }
    out_.full = LinearScaling{factor_};
  }

  const GgufArchitecture& row_;
  const GgufKeys& keys_;
  const GgufFile& file_;
  std::int64_t context_;
  GgufScaling out_;
  std::string type_;
  double factor_ = 1;
  double ext_factor_ = 1;
  bool has_lists_ = false;
  const std::vector<double>* long_ = nullptr;
  const std::vector<double>* short_ = nullptr;
};

}  // namespace

GgufScaling read_gguf_scaling(const GgufArchitecture& row, const GgufKeys& keys, const GgufFile& file,
                              std::int64_t context) {
  return ScalingReader(row, keys, file, context).read();
}

Scaling plain_with_magnitude(double magnitude) {
  if (magnitude == 1) return {};
  // YaRN by a factor of 1 leaves every frequency alone, whatever the original context.
  YarnScaling rule;
  rule.original_context = 4096;
  rule.attention_factor = magnitude;
  return rule;
}

}  // namespace ropecache::model
