// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// row_kernel.h by vectors. Included once per target, inside its namespace (row_kernel.cc).

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, kBlock>;
using V = hn::Vec<D>;
using F = hn::Rebind<float, D>;

using Words = hn::Repartition<std::uint32_t, D>;

// A value of c or s may lie within 2^15 units of its last place of the boundary between two floats where the 29 bits that
// rounding drops are near 2^28. docs/exactness.md, section 3, says why looking at them is enough.
constexpr std::uint32_t kNear = std::uint32_t{1} << 15;
constexpr std::uint32_t kShift = kNear - (std::uint32_t{1} << 28);
constexpr std::uint32_t kMask = ((std::uint32_t{1} << 29) - 1) & ~(2 * kNear - 1);

// The lower halves of all lanes, in any order: the bits in question.
HWY_INLINE hn::Vec<Words> lower_halves(V c, V s) {
  const Words words;
#if HWY_TARGET == HWY_AVX3
  return hn::BitCast(words, hn::Vec<hn::RebindToFloat<Words>>{
                                _mm512_shuffle_ps(_mm512_castpd_ps(c.raw), _mm512_castpd_ps(s.raw), 0x88)});
#else
  return hn::ConcatEven(words, hn::BitCast(words, s), hn::BitCast(words, c));
#endif
}

HWY_INLINE V smaller_size(V c, V s) {
#if HWY_TARGET == HWY_AVX3
  constexpr int kSmallerSizeWithoutSign = 0x0a;
  return V{_mm512_range_pd(c.raw, s.raw, kSmallerSizeWithoutSign)};
#else
  return hn::Min(hn::Abs(c), hn::Abs(s));
#endif
}

// What is known of many values: something is near a boundary where a word of `apart` is 0, or too small to tell where a lane
// of `size` is below the smallest size allowed.
struct Seen {
  hn::Vec<Words> apart = hn::Set(Words(), ~std::uint32_t{0});
  V size = hn::Set(D(), 1e300);

  HWY_INLINE Seen() {}
  HWY_INLINE void add(V c, V s, bool plain) {
    const Words words;
    const auto dropped = hn::Add(lower_halves(c, s), hn::Set(words, kShift));
    apart = hn::Min(apart, hn::And(dropped, hn::Set(words, kMask)));
    if (!plain) size = hn::Min(size, smaller_size(c, s));
  }
  HWY_INLINE bool again(double smallest) const {
    const Words words;
    return !hn::AllFalse(words, hn::Eq(apart, hn::Zero(words))) ||
           !hn::AllFalse(D(), hn::Lt(size, hn::Set(D(), smallest)));
  }
};

HWY_INLINE hn::Mask<D> near_boundary(V x) {
  const hn::RebindToUnsigned<D> bits;
  const auto shifted = hn::Add(hn::BitCast(bits, x), hn::Set(bits, kNear - (std::uint64_t{1} << 28)));
  return hn::RebindMask(D(), hn::Eq(hn::And(shifted, hn::Set(bits, std::uint64_t{kMask})), hn::Zero(bits)));
}

// Which pairs of a vector that has something to be done again.
HWY_INLINE unsigned lanes_again(V c, V s, bool plain, double smallest) {
  auto again = hn::Or(near_boundary(c), near_boundary(s));
  if (!plain) again = hn::Or(again, hn::Lt(smaller_size(c, s), hn::Set(D(), smallest)));
  if (HWY_LIKELY(hn::AllFalse(D(), again))) return 0;
  HWY_ALIGN std::uint8_t bits[8] = {};
  hn::StoreMaskBits(D(), again, bits);
  return bits[0];
}

// cos and sin of the sum of the digits' angles, from four rows of factors.
template <int kDigits>
HWY_INLINE void multiply(const double* const* rows, std::size_t to_sines, std::size_t at, V& c, V& s) {
  const D d;
  c = hn::LoadU(d, rows[0] + at);
  s = hn::LoadU(d, rows[0] + to_sines + at);
#pragma GCC unroll 4
  for (int digit = 1; digit < kDigits; ++digit) {
    const V c2 = hn::LoadU(d, rows[digit] + at);
    const V s2 = hn::LoadU(d, rows[digit] + to_sines + at);
    const V cc = hn::Mul(c, c2);
    const V ss = hn::Mul(s, s2);
    const V sc = hn::Mul(s, c2);
    const V cs = hn::Mul(c, s2);
    c = hn::Sub(cc, ss);
    s = hn::Add(sc, cs);
  }
}

// One block, rounded. `plain`: sums of the sines' products have one sign, and no result is small beside its terms.
template <int kDigits, bool kNegative>
HWY_INLINE void block_at(const double* const* rows, std::size_t to_sines, std::size_t first, bool plain, Seen& seen,
                         float* cos, float* sin) {
#pragma GCC unroll 4
  for (std::size_t i = 0; i < kBlock; i += hn::MaxLanes(D())) {
    V c;
    V s;
    multiply<kDigits>(rows, to_sines, first + i, c, s);
    seen.add(c, s, plain);
    if constexpr (kNegative) s = hn::Sub(hn::Zero(D()), s);  // a pair that stays keeps +0
    hn::StoreU(hn::DemoteTo(F(), c), F(), cos + i);
    hn::StoreU(hn::DemoteTo(F(), s), F(), sin + i);
  }
}

template <int kDigits>
HWY_INLINE unsigned block_again(const double* const* rows, std::size_t to_sines, std::size_t first, bool plain,
                                double smallest) {
  unsigned again = 0;
  for (std::size_t i = 0; i < kBlock; i += hn::MaxLanes(D())) {
    V c;
    V s;
    multiply<kDigits>(rows, to_sines, first + i, c, s);
    again |= lanes_again(c, s, plain, smallest) << i;
  }
  return again;
}

// A token that has something to be done again, about one in thirty.
template <int kDigits>
HWY_NOINLINE void token_again(const RowFactors& factors, const RowTokens& tokens, std::int64_t t, std::int64_t size) {
  const double* rows[4];
  for (int digit = 0; digit < 4; ++digit) {
    rows[digit] = digit_row(factors.rows, factors.stride, static_cast<std::uint32_t>(size), digit);
  }
  const double smallest = kDigits == 2 ? factors.smallest : factors.smallest_beyond;
  for (std::size_t first = 0, block = 0; first < factors.pairs; first += kBlock, ++block) {
    const bool plain = kDigits == 2 && size <= factors.plain_to[block];
    const unsigned again = block_again<kDigits>(rows, factors.stride, first, plain, smallest);
    if (again != 0) tokens.again(tokens.context, t, first, again);
  }
}

// By value: what is stored to cos and sin cannot change it.
template <int kDigits, bool kNegative>
HWY_INLINE bool rows_of(const RowFactors factors, std::int64_t size, float* cos, float* sin) {
  const auto digits = static_cast<std::uint32_t>(size);
  const double* const rows[4] = {digit_row(factors.rows, factors.stride, digits, 0),
                                 digit_row(factors.rows, factors.stride, digits, 1),
                                 kDigits == 2 ? nullptr : digit_row(factors.rows, factors.stride, digits, 2),
                                 kDigits == 2 ? nullptr : digit_row(factors.rows, factors.stride, digits, 3)};
  const std::size_t whole = factors.pairs / kBlock * kBlock;
  Seen seen;
#pragma GCC unroll 4
  for (std::size_t first = 0; first < whole; first += kBlock) {
    const bool plain = kDigits == 2 && size <= factors.plain_to[first / kBlock];
    block_at<kDigits, kNegative>(rows, factors.stride, first, plain, seen, cos + first, sin + first);
  }
  if (HWY_UNLIKELY(whole < factors.pairs)) {
    float last[2][kBlock];
    const bool plain = kDigits == 2 && size <= factors.plain_to[whole / kBlock];
    block_at<kDigits, kNegative>(rows, factors.stride, whole, plain, seen, last[0], last[1]);
    for (std::size_t i = 0; whole + i < factors.pairs; ++i) {
      cos[whole + i] = last[0][i];
      sin[whole + i] = last[1][i];
    }
  }
  return seen.again(kDigits == 2 ? factors.smallest : factors.smallest_beyond);
}

template <int kDigits>
HWY_INLINE void token(const RowFactors& factors, const RowTokens& tokens, std::int64_t t, std::int64_t position) {
  float* cos = tokens.cos + t * static_cast<std::int64_t>(factors.pairs);
  float* sin = tokens.sin + t * static_cast<std::int64_t>(factors.pairs);
  const bool again = position < 0 ? rows_of<kDigits, true>(factors, -position, cos, sin)
                                  : rows_of<kDigits, false>(factors, position, cos, sin);
  if (HWY_UNLIKELY(again)) token_again<kDigits>(factors, tokens, t, position < 0 ? -position : position);
}

void all_tokens(const RowFactors& factors, const RowTokens& tokens) noexcept {
  for (std::int64_t t = 0; t < tokens.tokens; ++t) {
    const std::int64_t position = tokens.wide ? static_cast<const std::int64_t*>(tokens.positions)[t * tokens.stride]
                                              : static_cast<const std::int32_t*>(tokens.positions)[t * tokens.stride];
    if (HWY_LIKELY(position < kTwoDigits && position > -kTwoDigits)) {
      token<2>(factors, tokens, t, position);
    } else {
      token<4>(factors, tokens, t, position);
    }
  }
}

unsigned one_block(RowBlock& block) noexcept {
  const double* const rows[4] = {block.factors[0][0], block.factors[1][0], block.factors[2][0], block.factors[3][0]};
  Seen seen;
  if (block.two_digits) {
    block_at<2, false>(rows, kBlock, 0, block.plain, seen, block.cos, block.sin);
    return seen.again(block.smallest) ? block_again<2>(rows, kBlock, 0, block.plain, block.smallest) : 0;
  }
  block_at<4, false>(rows, kBlock, 0, false, seen, block.cos, block.sin);
  return seen.again(block.smallest) ? block_again<4>(rows, kBlock, 0, false, block.smallest) : 0;
}
