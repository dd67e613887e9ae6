// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// row_kernel.h by vectors. Included once per target, inside its namespace (row_kernel.cc).

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, kBlock>;
using V = hn::Vec<D>;
using F = hn::Rebind<float, D>;

HWY_INLINE hn::Mask<D> small_product(V c, V s, V smallest) { return hn::Lt(hn::Abs(hn::Mul(c, s)), smallest); }

// A value of c or s may lie within 2^16 units of its last place of the boundary between two floats where the 29 bits that
// rounding drops are near 2^28. docs/exactness.md, section 3, says why looking at them is enough.
constexpr std::uint32_t kNear = std::uint32_t{1} << 16;
constexpr std::uint32_t kShift = kNear - (std::uint32_t{1} << 28);
constexpr std::uint32_t kMask = ((std::uint32_t{1} << 29) - 1) & ~(2 * kNear - 1);

// A word is 0 where something must be done again. The bits in question are in the lower halves of the lanes, and those of c
// and s are looked at together. kPlain: sums of the sines' products have one sign, and no result is small beside its terms.
using Words = hn::Repartition<std::uint32_t, D>;
template <bool kPlain>
HWY_INLINE hn::Vec<Words> apart(V c, V s, V smallest) {
  const Words words;
  const auto dropped = hn::ConcatEven(words, hn::BitCast(words, c), hn::BitCast(words, s));
  const auto result = hn::And(hn::Add(dropped, hn::Set(words, kShift)), hn::Set(words, kMask));
  if constexpr (kPlain) return result;
  return hn::BitCast(words, hn::IfThenZeroElse(small_product(c, s, smallest), hn::BitCast(D(), result)));
}

HWY_INLINE bool any_zero(hn::Vec<Words> x) { return !hn::AllFalse(Words(), hn::Eq(x, hn::Zero(Words()))); }

HWY_INLINE hn::Mask<D> near_boundary(V x) {
  const hn::RebindToUnsigned<D> bits;
  const auto shifted = hn::Add(hn::BitCast(bits, x), hn::Set(bits, kNear - (std::uint64_t{1} << 28)));
  return hn::RebindMask(D(), hn::Eq(hn::And(shifted, hn::Set(bits, std::uint64_t{kMask})), hn::Zero(bits)));
}

// Which pairs of a vector that has something to be done again.
HWY_INLINE unsigned lanes_again(V c, V s, bool plain, V smallest) {
  auto again = hn::Or(near_boundary(c), near_boundary(s));
  if (!plain) again = hn::Or(again, small_product(c, s, smallest));
  HWY_ALIGN std::uint8_t bits[8] = {};
  hn::StoreMaskBits(D(), again, bits);
  return bits[0];
}

// cos and sin of the sum of the digits' angles.
template <int kDigits>
HWY_INLINE void multiply(const double* const (&rows)[4], std::size_t to_sines, std::size_t at, V& c, V& s) {
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

// One block, rounded; returns its apart().
template <int kDigits, bool kNegative, bool kPlain>
HWY_INLINE hn::Vec<Words> block_at(const double* const (&rows)[4], std::size_t to_sines, std::size_t first, V smallest,
                                   float* cos, float* sin) {
  auto all = hn::Set(Words(), ~std::uint32_t{0});
#pragma GCC unroll 4
  for (std::size_t i = 0; i < kBlock; i += hn::MaxLanes(D())) {
    V c;
    V s;
    multiply<kDigits>(rows, to_sines, first + i, c, s);
    all = hn::Min(all, apart<kPlain>(c, s, smallest));
    if constexpr (kNegative) s = hn::Sub(hn::Zero(D()), s);  // a pair that stays keeps +0
    hn::StoreU(hn::DemoteTo(F(), c), F(), cos + i);
    hn::StoreU(hn::DemoteTo(F(), s), F(), sin + i);
  }
  return all;
}

template <int kDigits>
HWY_INLINE unsigned block_again(const double* const (&rows)[4], std::size_t to_sines, std::size_t first, bool plain,
                                V smallest) {
  unsigned again = 0;
  for (std::size_t i = 0; i < kBlock; i += hn::MaxLanes(D())) {
    V c;
    V s;
    multiply<kDigits>(rows, to_sines, first + i, c, s);
    again |= lanes_again(c, s, plain, smallest) << i;
  }
  return again;
}

struct Token {
  const double* rows[4];
  std::int64_t index;
  std::int64_t size;  // absolute position
  float* cos;
  float* sin;
};

// A token that has something to be done again, about one in thirty.
template <int kDigits>
HWY_NOINLINE void token_again(const RowFactors& factors, const Token& token, const RowTokens& tokens) {
  const V smallest = hn::Set(D(), kDigits == 2 ? factors.smallest : factors.smallest_beyond);
  for (std::size_t first = 0, block = 0; first < factors.pairs; first += kBlock, ++block) {
    const bool plain = kDigits == 2 && token.size <= factors.plain_to[block];
    const unsigned again = block_again<kDigits>(token.rows, factors.stride, first, plain, smallest);
    if (again != 0) tokens.again(tokens.context, token.index, first, again);
  }
}

template <int kDigits, bool kNegative>
HWY_INLINE hn::Vec<Words> block_of(const RowFactors& factors, const Token& token, std::size_t first, V smallest,
                                   float* cos, float* sin) {
  const bool plain = kDigits == 2 && token.size <= factors.plain_to[first / kBlock];
  return plain ? block_at<kDigits, kNegative, true>(token.rows, factors.stride, first, smallest, cos, sin)
               : block_at<kDigits, kNegative, false>(token.rows, factors.stride, first, smallest, cos, sin);
}

template <int kDigits, bool kNegative>
HWY_INLINE void rows_of(const RowFactors& factors, const Token& token, const RowTokens& tokens) {
  const V smallest = hn::Set(D(), kDigits == 2 ? factors.smallest : factors.smallest_beyond);
  const std::size_t whole = factors.pairs / kBlock * kBlock;
  auto all = hn::Set(Words(), ~std::uint32_t{0});
  for (std::size_t first = 0; first < whole; first += kBlock) {
    all = hn::Min(all, block_of<kDigits, kNegative>(factors, token, first, smallest, token.cos + first, token.sin + first));
  }
  if (HWY_UNLIKELY(whole < factors.pairs)) {
    float cos[kBlock];
    float sin[kBlock];
    all = hn::Min(all, block_of<kDigits, kNegative>(factors, token, whole, smallest, cos, sin));
    for (std::size_t i = 0; whole + i < factors.pairs; ++i) {
      token.cos[whole + i] = cos[i];
      token.sin[whole + i] = sin[i];
    }
  }
  if (HWY_UNLIKELY(any_zero(all))) token_again<kDigits>(factors, token, tokens);
}

void all_tokens(const RowFactors& factors, const RowTokens& tokens) noexcept {
  const std::int64_t pairs = static_cast<std::int64_t>(factors.pairs);
  for (std::int64_t t = 0; t < tokens.tokens; ++t) {
    const std::int64_t position = tokens.wide ? static_cast<const std::int64_t*>(tokens.positions)[t * tokens.stride]
                                              : static_cast<const std::int32_t*>(tokens.positions)[t * tokens.stride];
    const bool negative = position < 0;
    const std::int64_t size = negative ? -position : position;
    const auto digits = static_cast<std::uint32_t>(size);
    Token token;
    token.rows[0] = digit_row(factors.rows, factors.stride, digits, 0);
    token.rows[1] = digit_row(factors.rows, factors.stride, digits, 1);
    token.index = t;
    token.size = size;
    token.cos = tokens.cos + t * pairs;
    token.sin = tokens.sin + t * pairs;
    if (HWY_LIKELY(size < kTwoDigits)) {
      negative ? rows_of<2, true>(factors, token, tokens) : rows_of<2, false>(factors, token, tokens);
    } else {
      token.rows[2] = digit_row(factors.rows, factors.stride, digits, 2);
      token.rows[3] = digit_row(factors.rows, factors.stride, digits, 3);
      negative ? rows_of<4, true>(factors, token, tokens) : rows_of<4, false>(factors, token, tokens);
    }
  }
}

unsigned one_block(RowBlock& block) noexcept {
  const double* const rows[4] = {block.factors[0][0], block.factors[1][0], block.factors[2][0], block.factors[3][0]};
  const V smallest = hn::Set(D(), block.smallest);
  if (!block.two_digits) {
    const bool again = any_zero(block_at<4, false, false>(rows, kBlock, 0, smallest, block.cos, block.sin));
    return again ? block_again<4>(rows, kBlock, 0, false, smallest) : 0;
  }
  const bool again =
      any_zero(block.plain ? block_at<2, false, true>(rows, kBlock, 0, smallest, block.cos, block.sin)
                           : block_at<2, false, false>(rows, kBlock, 0, smallest, block.cos, block.sin));
  return again ? block_again<2>(rows, kBlock, 0, block.plain, smallest) : 0;
}
