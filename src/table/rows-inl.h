// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// row_kernel.h by vectors. Included once per target, inside its namespace (row_kernel.cc).

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, kBlock>;
using V = hn::Vec<D>;
using F = hn::Rebind<float, D>;

// Lanes whose value lies within 2^16 units of its last place of the boundary between two floats: the 29 bits that rounding
// drops are near 2^28. docs/exactness.md, section 3, says why that is enough.
HWY_INLINE hn::Mask<D> near_boundary(V value) {
  const hn::RebindToUnsigned<D> bits;
  constexpr std::uint64_t kNear = std::uint64_t{1} << 16;
  constexpr std::uint64_t kDropped = (std::uint64_t{1} << 29) - 1;
  const auto shifted = hn::Add(hn::BitCast(bits, value), hn::Set(bits, kNear - (std::uint64_t{1} << 28)));
  const auto apart = hn::And(shifted, hn::Set(bits, kDropped & ~(2 * kNear - 1)));
  return hn::RebindMask(D(), hn::Eq(apart, hn::Zero(bits)));
}

// A vector of pairs from `at` on; returns the lanes to be done again.
template <bool kTwoDigits, bool kNegative, bool kPlain>
HWY_INLINE hn::Mask<D> pairs_at(const RowWork& work, std::size_t at, float* cos, float* sin) {
  const D d;
  const auto load = [&work, at, d](int digit, std::size_t part) HWY_ATTR {
    return hn::LoadU(d, work.rows[digit] + part + at);
  };
  V c = load(0, 0);
  V s = load(0, work.to_sines);
#pragma GCC unroll 4
  for (int digit = 1; digit < (kTwoDigits ? 2 : 4); ++digit) {
    const V c2 = load(digit, 0);
    const V s2 = load(digit, work.to_sines);
    const V cc = hn::Mul(c, c2);
    const V ss = hn::Mul(s, s2);
    const V sc = hn::Mul(s, c2);
    const V cs = hn::Mul(c, s2);
    c = hn::Sub(cc, ss);
    s = hn::Add(sc, cs);
  }
  auto again = hn::Or(near_boundary(c), near_boundary(s));
  if constexpr (!kPlain) again = hn::Or(again, hn::Lt(hn::Abs(hn::Mul(c, s)), hn::Set(d, work.smallest)));
  if constexpr (kNegative) s = hn::Sub(hn::Zero(d), s);  // 0 stays +0
  hn::StoreU(hn::DemoteTo(F(), c), F(), cos);
  hn::StoreU(hn::DemoteTo(F(), s), F(), sin);
  return again;
}

template <bool kTwoDigits, bool kNegative, bool kPlain>
HWY_INLINE std::uint8_t block_at(const RowWork& work, std::size_t block) {
  const D d;
  constexpr std::size_t kLanes = hn::MaxLanes(d);
  unsigned again = 0;
#pragma GCC unroll 8
  for (std::size_t i = 0; i < kBlock; i += kLanes) {
    const std::size_t at = block * kBlock + i;
    std::uint8_t bits[8];
    hn::StoreMaskBits(d, pairs_at<kTwoDigits, kNegative, kPlain>(work, at, work.cos + at, work.sin + at), bits);
    again |= static_cast<unsigned>(bits[0]) << i;
  }
  return static_cast<std::uint8_t>(again);
}

template <bool kTwoDigits, bool kNegative>
HWY_INLINE void all_blocks(const RowWork& work) {
  for (std::size_t block = 0; block < work.blocks; ++block) {
    const bool plain = kTwoDigits && work.size <= work.plain_to[block];
    work.again[block] = plain ? block_at<kTwoDigits, kNegative, true>(work, block)
                              : block_at<kTwoDigits, kNegative, false>(work, block);
  }
}

inline void run(const RowWork& work) noexcept {
  if (work.two_digits) {
    work.negative ? all_blocks<true, true>(work) : all_blocks<true, false>(work);
  } else {
    work.negative ? all_blocks<false, true>(work) : all_blocks<false, false>(work);
  }
}
