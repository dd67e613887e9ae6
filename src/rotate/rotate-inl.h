// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// The vector kernel: rotate_ref.h, many pairs at a time, the same bits. A group of pairs keeps its cosines and sines in
// registers for all heads of a token. NaN is not looked for vector by vector, which would cost a fifth of the time: results
// are summed up on the way, and where a sum is not finite, what was written is gone through again for NaN to be made the one
// of its type. Included once per target, inside its namespace (vector.cc).

// u' = u c - v s, v' = u s + v c; back: with -s. Four products, two sums, each rounded.
template <ref::Turn turn, class V>
HWY_INLINE void turn_pairs(V c, V s, V& u, V& v) {
  const V uc = hn::Mul(u, c);
  const V us = hn::Mul(u, s);
  const V vc = hn::Mul(v, c);
  const V vs = hn::Mul(v, s);
  u = turn == ref::Turn::kForward ? hn::Sub(uc, vs) : hn::Add(uc, vs);
  v = turn == ref::Turn::kForward ? hn::Add(us, vc) : hn::Sub(vc, us);
}

// A group holds kVectors x kLanes pairs: load() takes their cosines and sines, run() turns them in one head and adds to
// `seen` something not finite for each NaN. `partner` is the distance in elements from u to v.
template <class In, class Out, ref::Turn turn, std::size_t kLanes, int kVectors>
struct HalfGroup {
  using D = hn::CappedTag<float, kLanes>;
  static constexpr std::int64_t kPairs = kVectors * static_cast<std::int64_t>(kLanes);
  hn::Vec<D> c[kVectors];
  hn::Vec<D> s[kVectors];

  HWY_INLINE HalfGroup() {}  // written out, so that it is compiled for the target
  HWY_INLINE void load(const float* cos, const float* sin) {
#pragma GCC unroll 8
    for (int k = 0; k < kVectors; ++k) {
      c[k] = hn::LoadU(D(), cos + static_cast<std::size_t>(k) * kLanes);
      s[k] = hn::LoadU(D(), sin + static_cast<std::size_t>(k) * kLanes);
    }
  }
  HWY_INLINE void run(const std::byte* in, std::byte* out, std::int64_t partner, hn::Vec<D>& seen) const {
    hn::Vec<D> u[kVectors];
    hn::Vec<D> v[kVectors];
    widen_all<In>(D(), in, u);
    widen_all<In>(D(), in + partner * static_cast<std::int64_t>(In::kSize), v);
#pragma GCC unroll 8
    for (int k = 0; k < kVectors; ++k) turn_pairs<turn>(c[k], s[k], u[k], v[k]);
    // A number that is not finite, or a product too large, makes u' infinite or NaN whatever it makes of v': u' tells.
    if constexpr (!std::is_same_v<Out, ref::BF16>) seen = hn::Add(seen, sum_of(u));
    narrow_all<Out>(D(), u, v, out, out + partner * static_cast<std::int64_t>(Out::kSize));
  }
};

// Elements u0 v0 u1 v1 ...: with c0 c0 c1 c1 ... and -s0 s0 -s1 s1 ... a vector x becomes x c + swapped(x) s.
template <class In, class Out, ref::Turn turn, std::size_t kLanes, int kVectors>
struct InterleavedGroup {
  using D = hn::CappedTag<float, kLanes>;
  static constexpr std::int64_t kPairs = kVectors * static_cast<std::int64_t>(kLanes);
  static constexpr std::size_t kHalfBytes = static_cast<std::size_t>(kPairs);  // elements, times their size
  // The first and the second half of the 2 kPairs elements.
  hn::Vec<D> c[2][kVectors];
  hn::Vec<D> s[2][kVectors];

  HWY_INLINE InterleavedGroup() {}
  HWY_INLINE void load(const float* cos, const float* sin) {
    const D d;
    const hn::RebindToSigned<D> ints;
    const auto pair = hn::ShiftRight<1>(hn::Iota(ints, 0));  // 0 0 1 1 2 2 ...
    const auto lower = hn::IndicesFromVec(d, pair);
    const auto upper = hn::IndicesFromVec(d, hn::Add(pair, hn::Set(ints, static_cast<std::int32_t>(kLanes / 2))));
    const auto plus = hn::Zero(d);
    const auto minus = hn::Set(d, -0.0f);
    const auto sign = turn == ref::Turn::kForward ? hn::OddEven(plus, minus) : hn::OddEven(minus, plus);
#pragma GCC unroll 8
    for (int k = 0; k < kVectors; ++k) {
      const auto cs = hn::LoadU(d, cos + static_cast<std::size_t>(k) * kLanes);
      const auto sn = hn::LoadU(d, sin + static_cast<std::size_t>(k) * kLanes);
      c[2 * k / kVectors][2 * k % kVectors] = hn::TableLookupLanes(cs, lower);
      c[(2 * k + 1) / kVectors][(2 * k + 1) % kVectors] = hn::TableLookupLanes(cs, upper);
      s[2 * k / kVectors][2 * k % kVectors] = hn::Xor(hn::TableLookupLanes(sn, lower), sign);
      s[(2 * k + 1) / kVectors][(2 * k + 1) % kVectors] = hn::Xor(hn::TableLookupLanes(sn, upper), sign);
    }
  }
  HWY_INLINE void run(const std::byte* in, std::byte* out, std::int64_t /*partner*/, hn::Vec<D>& seen) const {
    hn::Vec<D> x[2][kVectors];
    widen_all<In>(D(), in, x[0]);
    widen_all<In>(D(), in + kHalfBytes * In::kSize, x[1]);
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {
#pragma GCC unroll 8
      for (int k = 0; k < kVectors; ++k) {
        hn::Vec<D>& y = x[half][k];
        y = hn::Add(hn::Mul(y, c[half][k]), hn::Mul(hn::Shuffle2301(y), s[half][k]));
      }
    }
    if constexpr (!std::is_same_v<Out, ref::BF16>) seen = hn::Add(seen, hn::Add(sum_of(x[0]), sum_of(x[1])));
    narrow_all<Out>(D(), x[0], x[1], out, out + kHalfBytes * Out::kSize);
  }
};

// bf16 u and v share a 32-bit word, u in its lower half: nothing needs to move between lanes.
template <ref::Turn turn, std::size_t kLanes, int kVectors>
struct InterleavedGroup<ref::BF16, ref::BF16, turn, kLanes, kVectors>
    : HalfGroup<ref::BF16, ref::BF16, turn, kLanes, kVectors> {
  using D = hn::CappedTag<float, kLanes>;
  HWY_INLINE InterleavedGroup() {}
  HWY_INLINE void run(const std::byte* in, std::byte* out, std::int64_t /*partner*/, hn::Vec<D>& /*seen*/) const {
    const D d;
    const Bits<D> bits;
    const auto upper = hn::Set(bits, 0xffff0000u);
    hn::Vec<D> u[kVectors];
    hn::Vec<D> v[kVectors];
#pragma GCC unroll 8
    for (int k = 0; k < kVectors; ++k) {
      const std::byte* at = in + static_cast<std::size_t>(k) * kLanes * 4;
      const auto words = hn::LoadU(bits, reinterpret_cast<const std::uint32_t*>(at));
      u[k] = hn::BitCast(d, hn::ShiftLeft<16>(words));
      v[k] = hn::BitCast(d, hn::And(words, upper));
    }
#pragma GCC unroll 8
    for (int k = 0; k < kVectors; ++k) turn_pairs<turn>(this->c[k], this->s[k], u[k], v[k]);
    narrow_to_words(d, u, v, out);
  }
};

template <Pairing pairing, class In, class Out, ref::Turn turn, std::size_t kLanes, int kVectors>
using Group = std::conditional_t<pairing == Pairing::kHalf, HalfGroup<In, Out, turn, kLanes, kVectors>,
                                 InterleavedGroup<In, Out, turn, kLanes, kVectors>>;

template <class In, class Out, Pairing pairing, ref::Turn turn>
struct Vectors {
  // Elements from pair to pair.
  static constexpr std::int64_t kStep = pairing == Pairing::kHalf ? 1 : 2;

  // Turns groups of pairs of token `t` from pair `first` on as long as a whole one is left; returns the first pair that was
  // not turned. Sets `odd` where there may be NaN among the results.
  template <std::size_t kLanes, int kVectors>
  static HWY_INLINE std::int64_t groups(const Work& work, std::int64_t t, std::int64_t first, bool& odd) {
    using G = Group<pairing, In, Out, turn, kLanes, kVectors>;
    const typename G::D d;
    const std::int64_t pairs = work.pairs;
    const float* cos = work.cos + t * pairs;
    const float* sin = work.sin + t * pairs;
    for (; first + G::kPairs <= pairs; first += G::kPairs) {
      G group;
      group.load(cos + first, sin + first);
      auto seen = hn::Zero(d);
      for (const Side* side = work.sides; side != work.sides + work.count; ++side) {
        const std::int64_t in_stride = side->in_head_stride;
        const std::int64_t out_stride = side->out_head_stride;
        const std::byte* in = at(side->in, t * side->in_token_stride, first, In());
        std::byte* out = at(side->out, t * side->out_token_stride, first, Out());
        for (std::int64_t h = side->heads; h > 0; --h) {
          group.run(in, out, pairs, seen);
          in += in_stride;
          out += out_stride;
        }
      }
      odd |= !hn::AllTrue(d, hn::IsFinite(seen));
    }
    return first;
  }

  static HWY_INLINE void token(const Work& work, std::int64_t t, bool& odd) {
    constexpr std::size_t kLanes = HWY_LANES(float);
    std::int64_t first = groups<kLanes, kVectorsPerGroup>(work, t, 0, odd);
    if (HWY_LIKELY(first == work.pairs)) return;
    if constexpr (kVectorsPerGroup > 1) first = groups<kLanes, 1>(work, t, first, odd);
    if constexpr (kLanes > 8) first = groups<8, 1>(work, t, first, odd);
    if constexpr (kLanes > 4) first = groups<4, 1>(work, t, first, odd);
    if (first < work.pairs) rest(work, t, first);
  }

  // Pairs too few for a vector.
  static HWY_NOINLINE void rest(const Work& work, std::int64_t t, std::int64_t first) {
    const std::int64_t pairs = work.pairs;
    const std::int64_t partner = pairing == Pairing::kHalf ? pairs : 1;
    constexpr auto kIn = static_cast<std::int64_t>(In::kSize);
    constexpr auto kOut = static_cast<std::int64_t>(Out::kSize);
    for (const Side* side = work.sides; side != work.sides + work.count; ++side) {
      for (std::int64_t h = 0; h < side->heads; ++h) {
        const std::byte* in = side->in + (t * side->in_token_stride + h * side->in_head_stride);
        std::byte* out = side->out + (t * side->out_token_stride + h * side->out_head_stride);
        for (std::int64_t i = first; i < pairs; ++i) {
          const std::int64_t u = i * kStep;
          const std::int64_t v = u + partner;
          const float c = work.cos[t * pairs + i];
          const float s = work.sin[t * pairs + i];
          ref::rotate_pair<In, Out, turn>(in + u * kIn, in + v * kIn, c, s, out + u * kOut, out + v * kOut);
        }
      }
    }
  }

  // The results of tokens first to last - 1.
  static HWY_NOINLINE void canonize(const Work& work, std::int64_t first, std::int64_t last) {
    for (const Side* side = work.sides; side != work.sides + work.count; ++side) {
      for (std::int64_t t = first; t < last; ++t) {
        for (std::int64_t h = 0; h < side->heads; ++h) {
          ref::canonize<Out>(side->out + (t * side->out_token_stride + h * side->out_head_stride), 2 * work.pairs);
        }
      }
    }
  }

  // Token by token, all heads of each: for heads that are neighbours in memory.
  static HWY_INLINE void by_token(const Work& work) {
    for (std::int64_t t = 0; t < work.tokens; ++t) {
      bool odd = false;
      token(work, t, odd);
      if (HWY_UNLIKELY(odd)) canonize(work, t, t + 1);
    }
  }

  // Head by head, all tokens of each: for tokens that are neighbours in memory. NaN is looked for after some tokens.
  static HWY_NOINLINE void by_head(const Work& work, const Side& all) {
    constexpr std::int64_t kTokensTogether = 16;
    for (std::int64_t h = 0; h < all.heads; ++h) {
      Side side = all;
      side.in += h * all.in_head_stride;
      side.out += h * all.out_head_stride;
      side.heads = 1;
      Work one = work;
      one.sides = &side;
      one.count = 1;
      for (std::int64_t first = 0; first < work.tokens; first += kTokensTogether) {
        const std::int64_t last = HWY_MIN(first + kTokensTogether, work.tokens);
        bool odd = false;
        for (std::int64_t t = first; t < last; ++t) token(one, t, odd);
        if (HWY_UNLIKELY(odd)) canonize(one, first, last);
      }
    }
  }

  static void run(const Work& work) noexcept {
    if (work.tokens > 1) {
      for (int n = 0; n < work.count; ++n) {
        const Side& side = work.sides[n];
        if (distance(side.in_head_stride) > distance(side.in_token_stride)) {
          for (int m = 0; m < work.count; ++m) by_head(work, work.sides[m]);
          return;
        }
      }
    }
    by_token(work);
  }

 private:
  static HWY_INLINE std::int64_t distance(std::int64_t stride) { return stride < 0 ? -stride : stride; }

  // Pair `first` of head 0 of the token that starts `token_offset` bytes on.
  template <class Pointer, class Element>
  static HWY_INLINE Pointer at(Pointer side, std::int64_t token_offset, std::int64_t first, Element) {
    return side + token_offset + first * kStep * static_cast<std::int64_t>(Element::kSize);
  }
};
