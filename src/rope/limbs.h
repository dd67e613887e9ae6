// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Natural numbers of N limbs of 64 bits, least significant first: what Wide and Turns are made of.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace ropecache {

__extension__ typedef unsigned __int128 u128;
// Shifts right by n bits; bits that fall out at the bottom are lost. n may be any non-negative number.
template <std::size_t N>
std::array<std::uint64_t, N> shifted_right(const std::array<std::uint64_t, N>& a, int n) {
  std::array<std::uint64_t, N> r{};
  const auto limbs = static_cast<std::size_t>(n / 64);
  const int bits = n % 64;
  for (std::size_t i = 0; i + limbs < N; ++i) {
    r[i] = a[i + limbs] >> bits;
    if (bits != 0 && i + limbs + 1 < N) r[i] |= a[i + limbs + 1] << (64 - bits);
  }
  return r;
}

template <std::size_t N>
std::array<std::uint64_t, N> shifted_left(const std::array<std::uint64_t, N>& a, int n) {
  std::array<std::uint64_t, N> r{};
  const auto limbs = static_cast<std::size_t>(n / 64);
  const int bits = n % 64;
  for (std::size_t i = limbs; i < N; ++i) {
    r[i] = a[i - limbs] << bits;
    if (bits != 0 && i > limbs) r[i] |= a[i - limbs - 1] >> (64 - bits);
  }
  return r;
}

template <std::size_t N>
int leading_zeros(const std::array<std::uint64_t, N>& a) {
  int n = 0;
  for (std::size_t i = N; i-- > 0;) {
    if (a[i] != 0) return n + std::countl_zero(a[i]);
    n += 64;
  }
  return n;
}

template <std::size_t N>
std::uint64_t add_into(std::array<std::uint64_t, N>& a, const std::array<std::uint64_t, N>& b) {
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < N; ++i) {
    const u128 sum = static_cast<u128>(a[i]) + b[i] + carry;
    a[i] = static_cast<std::uint64_t>(sum);
    carry = static_cast<std::uint64_t>(sum >> 64);
  }
  return carry;
}

template <std::size_t N>
std::uint64_t subtract_from(std::array<std::uint64_t, N>& a, const std::array<std::uint64_t, N>& b) {
  std::uint64_t borrow = 0;
  for (std::size_t i = 0; i < N; ++i) {
    const u128 difference = static_cast<u128>(a[i]) - b[i] - borrow;
    a[i] = static_cast<std::uint64_t>(difference);
    borrow = static_cast<std::uint64_t>(difference >> 64) & 1u;
  }
  return borrow;
}

// The two's complement: 2^(64 N) - a.
template <std::size_t N>
void negate(std::array<std::uint64_t, N>& a) {
  std::uint64_t carry = 1;
  for (auto& limb : a) {
    limb = ~limb + carry;
    carry = (carry != 0 && limb == 0) ? 1 : 0;
  }
}

template <std::size_t N>
int compare_limbs(const std::array<std::uint64_t, N>& a, const std::array<std::uint64_t, N>& b) {
  for (std::size_t i = N; i-- > 0;) {
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  }
  return 0;
}

}  // namespace ropecache
