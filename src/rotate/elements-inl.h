// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Vectors of elements to and from fp32: half.h, many at a time, the same bits but for payloads of NaN. The functions for several vectors at once
// exist for what they save: one test for NaN, and AVX-512 instructions that handle two vectors. Included once per target,
// inside its namespace (vector.cc).

namespace hn = hwy::HWY_NAMESPACE;

// Vectors of pairs whose cosines and sines stay in registers: 16 of 32 registers, or 4 of 16.
constexpr int kVectorsPerGroup = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON ? 4 : 1;

template <class D>
using Bits = hn::RebindToUnsigned<D>;
template <class D>
using Words = hn::Rebind<std::uint16_t, D>;

// F16C since AVX2, and AArch64: exact, subnormals kept.
#define ROPECACHE_NATIVE_F16 (HWY_TARGET <= HWY_AVX2 || HWY_TARGET == HWY_NEON)

template <class D>
HWY_INLINE hn::Vec<D> widen(D d, ref::F32, const std::byte* at) {
  return hn::LoadU(d, reinterpret_cast<const float*>(at));
}

template <class D>
HWY_INLINE hn::Vec<D> widen(D d, ref::BF16, const std::byte* at) {
  const auto words = hn::LoadU(Words<D>(), reinterpret_cast<const std::uint16_t*>(at));
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(Bits<D>(), words)));
}

template <class D>
HWY_INLINE hn::Vec<D> widen(D d, ref::F16, const std::byte* at) {
#if ROPECACHE_NATIVE_F16
  const hn::Rebind<hwy::float16_t, D> halves;
  return hn::PromoteTo(d, hn::LoadU(halves, reinterpret_cast<const hwy::float16_t*>(at)));
#else
  // Exponent and fraction in the place they have in fp32 are the value times 2^-112, subnormals included.
  const Bits<D> bits;
  const auto word = hn::PromoteTo(bits, hn::LoadU(Words<D>(), reinterpret_cast<const std::uint16_t*>(at)));
  const auto magnitude = hn::And(word, hn::Set(bits, 0x7fffu));
  const auto scaled = hn::Mul(hn::BitCast(d, hn::ShiftLeft<13>(magnitude)), hn::Set(d, 0x1p112f));
  const auto special = hn::BitCast(d, hn::Or(hn::ShiftLeft<13>(magnitude), hn::Set(bits, 0x7f800000u)));
  const hn::RebindToSigned<D> ints;
  const auto is_special = hn::Gt(hn::BitCast(ints, magnitude), hn::Set(ints, 0x7bff));
  const auto sign = hn::BitCast(d, hn::ShiftLeft<16>(hn::AndNot(hn::Set(bits, 0x7fffu), word)));
  return hn::Or(hn::IfThenElse(hn::RebindMask(d, is_special), special, scaled), sign);
#endif
}

// NaN with any payload comes out as some NaN, except from bf16, which takes only what clear_nan() gives.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V clear_nan(D d, V x) {
  return hn::IfThenElse(hn::IsNaN(x), hn::BitCast(d, hn::Set(Bits<D>(), 0x7fc00000u)), x);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE void narrow(D d, ref::F32, V x, std::byte* at) {
  hn::StoreU(x, d, reinterpret_cast<float*>(at));
}

// The bits of x rounded to bf16 in the upper half; the lower half is anything.
template <class D, class V = hn::Vec<D>>
HWY_INLINE hn::Vec<Bits<D>> round_to_bf16(D /*d*/, V x) {
  const Bits<D> bits;
  const auto word = hn::BitCast(bits, x);
  const auto odd = hn::And(hn::ShiftRight<16>(word), hn::Set(bits, 1u));
  return hn::Add(hn::Add(word, hn::Set(bits, 0x7fffu)), odd);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE void narrow(D d, ref::BF16, V x, std::byte* at) {
  const auto upper = hn::ShiftRight<16>(round_to_bf16(d, x));
  hn::StoreU(hn::TruncateTo(Words<D>(), upper), Words<D>(), reinterpret_cast<std::uint16_t*>(at));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE void narrow(D d, ref::F16, V x, std::byte* at) {
#if ROPECACHE_NATIVE_F16
  (void)d;
  const hn::Rebind<hwy::float16_t, D> halves;
  hn::StoreU(hn::DemoteTo(halves, x), halves, reinterpret_cast<hwy::float16_t*>(at));
#else
  const Bits<D> bits;
  const hn::RebindToSigned<D> ints;
  const auto all = hn::BitCast(bits, x);
  const auto magnitude = hn::And(all, hn::Set(bits, 0x7fffffffu));
  const auto size = hn::BitCast(ints, magnitude);
  const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(bits, 1u));
  const auto rebased = hn::Add(hn::Sub(magnitude, hn::Set(bits, (112u << 23) - 0xfffu)), odd);
  auto word = hn::ShiftRight<13>(rebased);
  // Below 2^-14 a unit of the last place is 2^-24, that of fp32 numbers from 1/2 to 1: the sum rounds.
  const auto sum = hn::Add(hn::BitCast(d, magnitude), hn::Set(d, 0.5f));
  const auto subnormal = hn::Sub(hn::BitCast(bits, sum), hn::Set(bits, 0x3f000000u));
  word = hn::IfThenElse(hn::RebindMask(bits, hn::Lt(size, hn::Set(ints, 0x38800000))), subnormal, word);
  const auto overflow = hn::RebindMask(bits, hn::Gt(size, hn::Set(ints, 0x477fefff)));
  word = hn::IfThenElse(overflow, hn::Set(bits, 0x7c00u), word);
  word = hn::IfThenElse(hn::RebindMask(bits, hn::Gt(size, hn::Set(ints, 0x7f800000))), hn::Set(bits, 0x7e00u), word);
  word = hn::Or(word, hn::And(hn::ShiftRight<16>(all), hn::Set(bits, 0x8000u)));
  hn::StoreU(hn::TruncateTo(Words<D>(), word), Words<D>(), reinterpret_cast<std::uint16_t*>(at));
#endif
}

// ---- kVectors consecutive vectors. -------------------------------------------------------------------------------

#if HWY_TARGET == HWY_AVX3
// Word first + i of a vector into both halves of lane i.
HWY_INLINE __m512i widening_index(int first) {
  const __m512i lanes = _mm512_add_epi32(_mm512_set1_epi32(first), _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
                                                                                     12, 13, 14, 15));
  return _mm512_or_si512(lanes, _mm512_slli_epi32(lanes, 16));
}
// Words 0, 16, 1, 17, ...
HWY_INLINE __m512i weaving_index() {
  const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  return _mm512_or_si512(lanes, _mm512_slli_epi32(_mm512_add_epi32(lanes, _mm512_set1_epi32(16)), 16));
}
#endif

template <class In, class D, int kVectors, class V = hn::Vec<D>>
HWY_INLINE void widen_all(D d, const std::byte* at, V (&x)[kVectors]) {
  constexpr std::size_t kBytes = hn::MaxLanes(D()) * In::kSize;
#if HWY_TARGET == HWY_AVX3
  // Each word into the upper half of its lane, by one permutation.
  if constexpr (std::is_same_v<In, ref::BF16> && hn::MaxLanes(D()) == 16 && kVectors % 2 == 0) {
    const __m512i first = widening_index(0);
    const __m512i second = widening_index(16);
#pragma GCC unroll 8
    for (int k = 0; k < kVectors; k += 2) {
      const __m512i words = _mm512_loadu_si512(at + static_cast<std::size_t>(k) * kBytes);
      x[k] = V{_mm512_castsi512_ps(_mm512_maskz_permutexvar_epi16(0xaaaaaaaau, first, words))};
      x[k + 1] = V{_mm512_castsi512_ps(_mm512_maskz_permutexvar_epi16(0xaaaaaaaau, second, words))};
    }
    return;
  }
#endif
#pragma GCC unroll 8
  for (int k = 0; k < kVectors; ++k) x[k] = widen(d, In(), at + static_cast<std::size_t>(k) * kBytes);
}

// Not finite if any is not; large numbers may give a false alarm.
template <int kVectors, class V>
HWY_INLINE V sum_of(const V (&x)[kVectors]) {
  V sum = x[0];
#pragma GCC unroll 8
  for (int k = 1; k < kVectors; ++k) sum = hn::Add(sum, x[k]);
  return sum;
}

template <class D, int kVectors, class V = hn::Vec<D>>
HWY_INLINE void clear_nans(D d, V (&a)[kVectors], V (&b)[kVectors]) {
#pragma GCC unroll 8
  for (int k = 0; k < kVectors; ++k) {
    a[k] = clear_nan(d, a[k]);
    b[k] = clear_nan(d, b[k]);
  }
}

#if ROPECACHE_NATIVE_BF16
// True if the bf16 instructions round every lane correctly: they take subnormals for 0 and keep the payloads of NaN.
template <int kVectors, class V>
HWY_INLINE bool rounds_natively(const V (&a)[kVectors], const V (&b)[kVectors]) {
  constexpr int kNanOrSubnormal = 0xa1;
  unsigned odd = 0;
#pragma GCC unroll 8
  for (int k = 0; k < kVectors; ++k) {
    odd |= _mm512_fpclass_ps_mask(a[k].raw, kNanOrSubnormal);
    odd |= _mm512_fpclass_ps_mask(b[k].raw, kNanOrSubnormal);
  }
  return odd == 0;
}

template <int kVectors, class V>
HWY_INLINE void narrow_natively(const V (&x)[kVectors], std::byte* at) {
  if constexpr (kVectors % 2 == 0) {
#pragma GCC unroll 8
    for (int k = 0; k < kVectors; k += 2) {
      _mm512_storeu_si512(at + k * 32, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(x[k + 1].raw, x[k].raw)));
    }
  } else {
#pragma GCC unroll 8
    for (int k = 0; k < kVectors; ++k) {
      _mm256_storeu_si256(reinterpret_cast<__m256i_u*>(at + k * 32),
                          reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(x[k].raw)));
    }
  }
}
#endif

// Results of turns, stored as they are; NaN keeps its payload, except in bf16, where a or b are checked and lost here.
template <class Out, class D, int kVectors, class V = hn::Vec<D>>
HWY_INLINE void narrow_all(D d, V (&a)[kVectors], V (&b)[kVectors], std::byte* a_at, std::byte* b_at) {
  if constexpr (std::is_same_v<Out, ref::BF16>) {
#if ROPECACHE_NATIVE_BF16
    if constexpr (hn::MaxLanes(D()) == 16) {
      if (HWY_LIKELY(rounds_natively(a, b))) {
        narrow_natively(a, a_at);
        narrow_natively(b, b_at);
        return;
      }
    }
#endif
    if (HWY_UNLIKELY(!hn::AllTrue(d, hn::IsFinite(hn::Add(sum_of(a), sum_of(b)))))) clear_nans(d, a, b);
  }
  constexpr std::size_t kBytes = hn::MaxLanes(D()) * Out::kSize;
#pragma GCC unroll 8
  for (int k = 0; k < kVectors; ++k) narrow(d, Out(), a[k], a_at + static_cast<std::size_t>(k) * kBytes);
#pragma GCC unroll 8
  for (int k = 0; k < kVectors; ++k) narrow(d, Out(), b[k], b_at + static_cast<std::size_t>(k) * kBytes);
}

// As bf16, a in the lower and b in the upper halves of 32-bit words.
template <class D, int kVectors, class V = hn::Vec<D>>
HWY_INLINE void narrow_to_words(D d, V (&a)[kVectors], V (&b)[kVectors], std::byte* at) {
  constexpr std::size_t kBytes = hn::MaxLanes(D()) * 4;
#if ROPECACHE_NATIVE_BF16
  if constexpr (hn::MaxLanes(D()) == 16) {
    if (HWY_LIKELY(rounds_natively(a, b))) {
      const __m512i weave = weaving_index();
#pragma GCC unroll 8
      for (int k = 0; k < kVectors; ++k) {
        const auto halves = reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(b[k].raw, a[k].raw));
        _mm512_storeu_si512(at + static_cast<std::size_t>(k) * kBytes, _mm512_permutexvar_epi16(weave, halves));
      }
      return;
    }
  }
#endif
  if (HWY_UNLIKELY(!hn::AllTrue(d, hn::IsFinite(hn::Add(sum_of(a), sum_of(b)))))) clear_nans(d, a, b);
  const Bits<D> bits;
  const auto upper = hn::Set(bits, 0xffff0000u);
#pragma GCC unroll 8
  for (int k = 0; k < kVectors; ++k) {
    const auto words = hn::Or(hn::ShiftRight<16>(round_to_bf16(d, a[k])), hn::And(round_to_bf16(d, b[k]), upper));
    hn::StoreU(words, bits, reinterpret_cast<std::uint32_t*>(at + static_cast<std::size_t>(k) * kBytes));
  }
}
