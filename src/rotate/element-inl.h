// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// element_scalar.cc by vectors, the same bits. Included once per target, inside its namespace (element_vector.cc).

using FD = hn::CappedTag<float, ref::kNormParts>;
constexpr std::int64_t kFLanes = static_cast<std::int64_t>(hn::MaxLanes(FD()));
constexpr int kSums = ref::kNormParts / static_cast<int>(kFLanes);

template <class Element>
HWY_INLINE float sum_of_squares(const std::byte* in, std::int64_t head_dim) {
  const FD d;
  constexpr auto kSize = static_cast<std::int64_t>(Element::kSize);
  hn::Vec<FD> sums[kSums];
#pragma GCC unroll 4
  for (int k = 0; k < kSums; ++k) sums[k] = hn::Zero(d);
  std::int64_t i = 0;
  for (; i + ref::kNormParts <= head_dim; i += ref::kNormParts) {
#pragma GCC unroll 4
    for (int k = 0; k < kSums; ++k) {
      const auto x = widen(d, Element(), in + (i + k * kFLanes) * kSize);
      sums[k] = hn::Add(sums[k], hn::Mul(x, x));
    }
  }
  HWY_ALIGN float part[ref::kNormParts];
#pragma GCC unroll 4
  for (int k = 0; k < kSums; ++k) hn::Store(sums[k], d, part + k * kFLanes);
  for (int j = 0; i < head_dim; ++i, ++j) {
    const float x = Element::widen(in + i * kSize);
    part[j] += x * x;
  }
  const hn::CappedTag<float, 4> four;
  const auto lower = hn::Add(hn::Load(four, part), hn::Load(four, part + 8));
  const auto upper = hn::Add(hn::Load(four, part + 4), hn::Load(four, part + 12));
  HWY_ALIGN float last[4];
  hn::Store(hn::Add(lower, upper), four, last);
  return (last[0] + last[2]) + (last[1] + last[3]);
}

// NaN may keep its payload.
template <class Element>
HWY_INLINE bool scale_head(const NormWork& work, const std::byte* in, std::byte* out, float factor) {
  const FD d;
  constexpr auto kSize = static_cast<std::int64_t>(Element::kSize);
  const auto scale = hn::Set(d, factor);
  auto seen = hn::Zero(d);
  std::int64_t i = 0;
  for (; i + 2 * kFLanes <= work.head_dim; i += 2 * kFLanes) {
    hn::Vec<FD> a[1] = {hn::Mul(widen(d, Element(), in + i * kSize), scale)};
    hn::Vec<FD> b[1] = {hn::Mul(widen(d, Element(), in + (i + kFLanes) * kSize), scale)};
    if (work.weight != nullptr) {
      a[0] = hn::Mul(a[0], hn::LoadU(d, work.weight + i));
      b[0] = hn::Mul(b[0], hn::LoadU(d, work.weight + i + kFLanes));
    }
    seen = hn::Add(seen, hn::Add(a[0], b[0]));
    narrow_all<Element>(d, a, b, out + i * kSize, out + (i + kFLanes) * kSize);
  }
  for (; i < work.head_dim; ++i) {
    const float y = Element::widen(in + i * kSize) * factor;
    Element::narrow(work.weight == nullptr ? y : y * work.weight[i], out + i * kSize);
  }
  return !hn::AllTrue(d, hn::IsFinite(seen));
}

template <class Element>
void norm(const NormWork& work) noexcept {
  const std::byte* in = work.in;
  std::byte* out = work.out;
  for (std::int64_t h = 0; h < work.heads; ++h, in += work.in_head_stride, out += work.out_head_stride) {
    const float scale = ref::norm_scale(sum_of_squares<Element>(in, work.head_dim), work.head_dim, work.eps);
    if (HWY_UNLIKELY(scale_head<Element>(work, in, out, scale))) ref::canonize<Element>(out, work.head_dim);
  }
}

template <class Out>
void narrow_elements(const std::byte* in, std::byte* out, std::int64_t count) noexcept {
  const FD d;
  constexpr auto kSize = static_cast<std::int64_t>(Out::kSize);
  std::int64_t i = 0;
  for (; i + 2 * kFLanes <= count; i += 2 * kFLanes) {
    hn::Vec<FD> a[1] = {clear_nan(d, widen(d, ref::F32(), in + i * 4))};
    hn::Vec<FD> b[1] = {clear_nan(d, widen(d, ref::F32(), in + (i + kFLanes) * 4))};
    narrow_all<Out>(d, a, b, out + i * kSize, out + (i + kFLanes) * kSize);
  }
  for (; i < count; ++i) Out::narrow(ref::F32::widen(in + i * 4), out + i * kSize);
}

constexpr ElementKernels kElementKernels = {
    {norm<ref::F32>, norm<ref::BF16>, norm<ref::F16>}, narrow_elements<ref::BF16>, narrow_elements<ref::F16>};
