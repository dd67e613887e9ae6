// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "table/key.h"

#include <algorithm>
#include <bit>
#include <exception>

#include "rope/wide.h"
#include "table/recipe.h"
#include "table/sha256.h"
#include "text.h"

namespace ropecache {
namespace {

// Little-endian bytes of fixed width, in a fixed order: the same on every machine.
class CanonicalBytes {
 public:
  template <class Integer>
  void integer(Integer value) {
    auto bits = static_cast<std::uint64_t>(value);
    for (std::size_t i = 0; i < sizeof(Integer); ++i) {
      bytes_.push_back(static_cast<std::uint8_t>(bits));
      bits >>= 8;
    }
  }
  void real(const Real& value) {
    for (std::uint64_t limb : value.significand) integer(limb);
    integer(value.exponent);
  }
  void number(float value) { integer(std::bit_cast<std::uint32_t>(value)); }
  const std::vector<std::uint8_t>& bytes() const { return bytes_; }

 private:
  std::vector<std::uint8_t> bytes_;
};

void append_ggml(CanonicalBytes& out, const GgmlRecipe& recipe) {
  out.integer(recipe.n_dims);
  // Without an extrapolation factor ggml reads neither the original context nor the betas.
  const bool yarn = recipe.ext_factor != 0;
  out.integer(yarn ? recipe.n_ctx_orig : std::int64_t{0});
  for (float value : {recipe.freq_base, recipe.freq_scale, recipe.ext_factor, yarn ? recipe.beta_fast : 0.0f,
                      yarn ? recipe.beta_slow : 0.0f}) {
    out.number(value);
  }
  const bool factors = std::any_of(recipe.freq_factors.begin(), recipe.freq_factors.end(), [](float f) { return f != 1; });
  out.integer(static_cast<std::uint32_t>(factors ? recipe.freq_factors.size() : 0));
  if (factors) {
    for (float value : recipe.freq_factors) out.number(value);
  }
  out.integer(static_cast<std::uint32_t>(recipe.restarts.size()));
  for (std::uint8_t value : recipe.restarts) out.integer(value);
}

}  // namespace

Real table_magnitude(const Rope& rope, Profile profile, Use use) {
  if (use == Use::kShift) return Real::one();
  Wide magnitude = Wide::from(rope.magnitude);
  if (profile == Profile::kFp32) magnitude = Wide::exactly(static_cast<double>(rope.fp32_magnitude));
  if (profile == Profile::kGgml) magnitude = Wide::exactly(static_cast<double>(ggml_magnitude(*rope.ggml)));
  return use == Use::kRotate ? magnitude.to_real() : (Wide(1) / magnitude).to_real();
}

int used_axes(const Rope& rope) {
  const auto largest = std::max_element(rope.axes.begin(), rope.axes.end());
  return largest == rope.axes.end() ? 1 : *largest + 1;
}

Status check_rope(const Rope& rope, Profile profile, Use use) {
  if (profile_name(profile) == "unknown" || static_cast<unsigned>(use) > static_cast<unsigned>(Use::kShift)) {
    return Status(StatusCode::kInvalidArgument,
                  text("table: profile ", static_cast<int>(profile), ", use ", static_cast<int>(use),
                       "; expected a Profile and a Use"));
  }
  const auto pairs = rope.frequencies.size();
  if (pairs == 0) return Status(StatusCode::kInvalidArgument, "rope: it has no frequencies; resolve() makes a rope");
  if (rope.axes.size() != pairs) {
    return Status(StatusCode::kInvalidArgument,
                  text("rope: ", rope.axes.size(), " axes for ", pairs, " pairs; expected one per pair"));
  }
  if (used_axes(rope) > kMaxAxes) {
    return Status(StatusCode::kInvalidArgument,
                  text("rope: axis ", used_axes(rope) - 1, " turns a pair; expected at most ", kMaxAxes, " axes"));
  }
  if (rope.magnitude.is_zero() || rope.magnitude.exponent > kMaxMagnitudeExponent ||
      rope.magnitude.exponent < -kMaxMagnitudeExponent) {
    return Status(StatusCode::kInvalidArgument,
                  text("rope: magnitude ", rope.magnitude.to_decimal(6), "; expected 2^-65 to 2^64"));
  }
  for (std::size_t i = 0; i < pairs; ++i) {
    const Real& frequency = rope.frequencies[i];
    // A top bit that is not set, or a size beyond what angles are reduced for, cannot come from resolve().
    if ((frequency.significand[2] >> 63) == 0 && frequency != Real{}) {
      return Status(StatusCode::kInvalidArgument, text("rope: frequency ", i, " is not in canonical form"));
    }
    if (frequency.exponent > kMaxFrequencyExponent || frequency.exponent < kMinFrequencyExponent) {
      return Status(StatusCode::kInvalidArgument, text("rope: frequency ", i, " is ", frequency.to_decimal(6),
                                                       "; expected 0 or 2^-150 to 2^20 radians per position"));
    }
  }
  if (profile == Profile::kFp32 && rope.fp32_frequencies.size() != pairs) {
    return Status(StatusCode::kUnsupported, "profile fp32: this rope has no fp32 recipe");
  }
  if (profile == Profile::kGgml && !rope.ggml) {
    return Status(StatusCode::kUnsupported, "profile ggml: ggml has no rule for this rope");
  }
  if (profile == Profile::kGgml && !rope.ggml->freq_factors.empty() && rope.ggml->freq_factors.size() != pairs) {
    return Status(StatusCode::kInvalidArgument,
                  text("rope: ", rope.ggml->freq_factors.size(), " freq_factors for ", pairs, " pairs"));
  }
  return Status();
}

std::string TableKey::hex() const {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (std::uint8_t byte : bytes) {
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

Result<TableKey> table_key(const Rope& rope, Profile profile, Use use) noexcept {
  try {
    if (Status status = check_rope(rope, profile, use); !status.ok()) return status;
    CanonicalBytes out;
    out.integer(std::uint32_t{1});  // version of this layout
    out.integer(static_cast<std::uint32_t>(profile));
    out.integer(static_cast<std::uint32_t>(rope.frequencies.size()));
    for (std::uint8_t axis : rope.axes) out.integer(axis);
    out.real(table_magnitude(rope, profile, use));
    switch (profile) {
      case Profile::kExact:
        for (const Real& frequency : rope.frequencies) out.real(frequency);
        break;
      case Profile::kFp32:
        for (float frequency : rope.fp32_frequencies) out.number(frequency);
        break;
      case Profile::kGgml:
        append_ggml(out, *rope.ggml);
        break;
    }
    const auto digest = sha256(out.bytes());
    TableKey key;
    std::copy_n(digest.begin(), key.bytes.size(), key.bytes.begin());
    return key;
  } catch (const std::exception&) {
    return Status(StatusCode::kOutOfMemory, "out of memory while computing a table's key");
  }
}

}  // namespace ropecache
