// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "ropecache/real.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "rope/wide.h"

namespace ropecache {
namespace {

// A natural number of any size, limbs of 32 bits from the least significant; just what printing needs.
class Natural {
 public:
  explicit Natural(const Real& real) {
    for (std::uint64_t limb : real.significand) {
      limbs_.push_back(static_cast<std::uint32_t>(limb));
      limbs_.push_back(static_cast<std::uint32_t>(limb >> 32));
    }
  }

  void multiply(std::uint32_t factor) {
    std::uint64_t carry = 0;
    for (auto& limb : limbs_) {
      carry += static_cast<std::uint64_t>(limb) * factor;
      limb = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    if (carry != 0) limbs_.push_back(static_cast<std::uint32_t>(carry));
  }

  // Returns the remainder.
  std::uint32_t divide(std::uint32_t divisor) {
    std::uint64_t rest = 0;
    for (auto limb = limbs_.rbegin(); limb != limbs_.rend(); ++limb) {
      rest = (rest << 32) | *limb;
      *limb = static_cast<std::uint32_t>(rest / divisor);
      rest %= divisor;
    }
    while (!limbs_.empty() && limbs_.back() == 0) limbs_.pop_back();
    return static_cast<std::uint32_t>(rest);
  }

  void shift_left(int bits) {
    limbs_.insert(limbs_.begin(), static_cast<std::size_t>(bits / 32), 0);
    if (bits % 32 != 0) multiply(std::uint32_t{1} << (bits % 32));
  }

  // Returns whether a one fell out.
  bool shift_right(int bits) {
    const auto whole = std::min(static_cast<std::size_t>(bits / 32), limbs_.size());
    bool lost = std::any_of(limbs_.begin(), limbs_.begin() + static_cast<std::ptrdiff_t>(whole),
                            [](std::uint32_t limb) { return limb != 0; });
    limbs_.erase(limbs_.begin(), limbs_.begin() + static_cast<std::ptrdiff_t>(whole));
    if (bits % 32 != 0) lost = divide(std::uint32_t{1} << (bits % 32)) != 0 || lost;
    return lost;
  }

  bool is_zero() const { return limbs_.empty(); }

 private:
  std::vector<std::uint32_t> limbs_;
};

// floor(value * 10^places) as decimal digits, and whether something was cut off.
std::string digits_of(const Real& value, int places, bool& cut) {
  Natural n(value);
  int shift = value.exponent - 192;
  cut = false;
  for (int i = 0; i < places; ++i) n.multiply(10);
  if (shift >= 0) {
    n.shift_left(shift);
  } else {
    cut = n.shift_right(-shift);
  }
  for (int i = 0; i > places; --i) cut = n.divide(10) != 0 || cut;
  std::string text;
  while (!n.is_zero()) text.push_back(static_cast<char>('0' + n.divide(10)));
  std::reverse(text.begin(), text.end());
  return text;
}

constexpr int kMostDigits = 16384;  // exponents up to this size are printed as decimals

}  // namespace

double Real::to_double() const noexcept { return Wide::from(*this).to_double(); }

std::string Real::to_decimal(int digits) const {
  if (is_zero()) return "0";
  // Only a Real that no rule made is this far out; its digits would take as long to find as its exponent is large.
  if (exponent > kMostDigits || exponent < -kMostDigits) {
    return std::string("2^") + std::to_string(std::int64_t{exponent} - 1);
  }
  digits = std::clamp(digits, 1, 50);
  // One digit more than asked for, then round by hand: half up to even with what was cut.
  int leading = static_cast<int>(std::floor((exponent - 1) * 0.30102999566398120));  // 10^leading <= value, or 1 less
  bool cut = false;
  std::string text = digits_of(*this, digits - leading, cut);
  if (static_cast<int>(text.size()) > digits + 1) {
    ++leading;
    text = digits_of(*this, digits - leading, cut);
  }
  const char last = text.back();
  text.pop_back();
  const bool odd = !text.empty() && ((text.back() - '0') & 1) != 0;
  if (last > '5' || (last == '5' && (cut || odd))) {
    auto digit = text.rbegin();
    while (digit != text.rend() && *digit == '9') *digit++ = '0';
    if (digit != text.rend()) {
      ++*digit;
    } else {
      text.front() = '1';  // all nines: 10...0, one place up
      ++leading;
    }
  }
  while (text.size() > 1 && text.back() == '0') text.pop_back();

  // `out` is appended to, never inserted into: GCC 12 warns falsely of the latter (bug 105651).
  const auto size = static_cast<int>(text.size());
  std::string out;
  if (leading < -6 || leading >= 25) {
    out += text.substr(0, 1);
    if (size > 1) out.append(1, '.').append(text, 1);
    return out.append(1, 'e').append(std::to_string(leading));
  }
  if (leading < 0) {
    out.append("0.").append(static_cast<std::size_t>(-leading - 1), '0');
    return out.append(text);
  }
  const int whole = leading + 1;  // digits before the point
  if (size <= whole) return out.append(text).append(static_cast<std::size_t>(whole - size), '0');
  out.append(text, 0, static_cast<std::size_t>(whole)).append(1, '.');
  return out.append(text, static_cast<std::size_t>(whole));
}

}  // namespace ropecache
