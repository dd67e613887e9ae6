// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "rotate/tensor.h"

#include <cmath>
#include <cstring>

#include "rotate/oracle.h"

namespace ropecache::test {
namespace {

constexpr std::int64_t kMargin = 32;  // elements

std::int64_t element_index(const TensorView& view, std::int64_t t, std::int64_t h) {
  return t * view.token_stride + h * view.head_stride;
}

float load(DType dtype, const std::byte* at) {
  if (dtype == DType::kF32) {
    float value;
    std::memcpy(&value, at, 4);
    return value;
  }
  std::uint16_t bits;
  std::memcpy(&bits, at, 2);
  return static_cast<float>(oracle::decode(dtype == DType::kBF16 ? oracle::kBF16 : oracle::kF16, bits));
}

void store(DType dtype, float value, std::byte* at) {
  if (dtype == DType::kF32) {
    const std::uint32_t bits = std::isnan(value) ? 0x7fc00000u : std::bit_cast<std::uint32_t>(value);
    std::memcpy(at, &bits, 4);
    return;
  }
  const std::uint16_t bits = oracle::encode(dtype == DType::kBF16 ? oracle::kBF16 : oracle::kF16, value);
  std::memcpy(at, &bits, 2);
}

}  // namespace

Tensor::Tensor(const Shape& shape, Layout layout) {
  const auto [dtype, tokens, heads, head_dim] = shape;
  std::int64_t first = kMargin;
  std::int64_t elements = tokens * heads * head_dim;
  view_ = TensorView::of(nullptr, dtype, tokens, heads, head_dim);
  switch (layout) {
    case Layout::kTokenMajor:
      break;
    case Layout::kHeadMajor:
      view_.token_stride = head_dim;
      view_.head_stride = tokens * head_dim;
      break;
    case Layout::kPadded:
      elements *= 2;
      view_.token_stride *= 2;
      view_.head_stride *= 2;
      break;
    case Layout::kReversedTokens:
      if (tokens > 0) first += (tokens - 1) * view_.token_stride;
      view_.token_stride = -view_.token_stride;
      break;
    case Layout::kReversedHeads:
      if (heads > 0) first += (heads - 1) * view_.head_stride;
      view_.head_stride = -view_.head_stride;
      break;
    case Layout::kMerged:
      elements += tokens * 5 * head_dim;
      view_.token_stride += 5 * head_dim;
      first += 2 * head_dim;
      break;
  }
  const auto size = static_cast<std::int64_t>(dtype_size(dtype));
  memory_.resize(static_cast<std::size_t>((elements + 2 * kMargin) * size), std::byte{0x5a});
  view_.data = memory_.data() + first * size;
}

Tensor::Tensor(const Tensor& other) : memory_(other.memory_), view_(other.view_) {
  view_.data = memory_.data() + (static_cast<const std::byte*>(other.view_.data) - other.memory_.data());
}

Tensor& Tensor::fill(std::uint32_t seed) {
  std::mt19937 random(seed);
  const std::size_t size = dtype_size(view_.dtype);
  bool any_bits = false;
  for (std::byte* at = memory_.data(); at != memory_.data() + memory_.size(); at += size) {
    const auto bits = static_cast<std::uint32_t>(random());
    if (any_bits) {
      std::memcpy(at, &bits, size);
    } else {
      store(view_.dtype, static_cast<float>(bits) * 0x1p-30f - 2.0f, at);
    }
    any_bits = bits % 2 == 0;
  }
  return *this;
}

Tensor& Tensor::poison() {
  memory_.assign(memory_.size(), std::byte{0xff});
  return *this;
}

Bytes Tensor::packed() const {
  const std::size_t size = dtype_size(view_.dtype);
  const std::size_t head = static_cast<std::size_t>(view_.head_dim) * size;
  Bytes result(static_cast<std::size_t>(view_.tokens * view_.heads) * head);
  std::byte* to = result.data();
  for (std::int64_t t = 0; t < view_.tokens; ++t) {
    for (std::int64_t h = 0; h < view_.heads; ++h, to += head) {
      std::memcpy(
          to, static_cast<const std::byte*>(view_.data) + element_index(view_, t, h) * static_cast<std::int64_t>(size),
          head);
    }
  }
  return result;
}

void Tensor::unpack(const Bytes& packed) {
  const std::size_t size = dtype_size(view_.dtype);
  const std::size_t head = static_cast<std::size_t>(view_.head_dim) * size;
  const std::byte* from = packed.data();
  for (std::int64_t t = 0; t < view_.tokens; ++t) {
    for (std::int64_t h = 0; h < view_.heads; ++h, from += head) {
      std::memcpy(static_cast<std::byte*>(view_.data) + element_index(view_, t, h) * static_cast<std::int64_t>(size),
                  from, head);
    }
  }
}

TestRows::TestRows(std::int64_t tokens, int pairs, double magnitude,
                   const std::function<double(std::int64_t, int)>& angle)
    : tokens_(tokens), pairs_(pairs) {
  for (std::int64_t t = 0; t < tokens; ++t) {
    for (int i = 0; i < pairs; ++i) {
      cos.push_back(static_cast<float>(magnitude * std::cos(angle(t, i))));
      sin.push_back(static_cast<float>(magnitude * std::sin(angle(t, i))));
    }
  }
}

TestRows::TestRows(std::int64_t tokens, int pairs, double magnitude, std::uint32_t seed)
    : TestRows(tokens, pairs, magnitude, [random = std::mt19937(seed)](std::int64_t, int) mutable {
        return static_cast<double>(random()) * 0x1p-29;
      }) {}

Rows TestRows::rows() const {
  Rows rows;
  rows.magic = Rows::kMagic;
  rows.uses = 0b111;
  rows.pairs = pairs_;
  rows.tokens = tokens_;
  rows.key.bytes[0] = 1;
  rows.cos = cos.data();
  rows.sin = sin.data();
  return rows;
}

Bytes rotated(const Bytes& packed, const Shape& shape, const Rows& rows, const Placement& placement) {
  Bytes result = packed;
  const std::size_t size = dtype_size(shape.dtype);
  const auto pairs = static_cast<std::size_t>(placement.rotary_dim / 2);
  for (std::int64_t t = 0; t < shape.tokens; ++t) {
    for (std::int64_t h = 0; h < shape.heads; ++h) {
      const std::int64_t first = (t * shape.heads + h) * shape.head_dim + placement.rotary_offset;
      std::byte* part = result.data() + static_cast<std::size_t>(first) * size;
      for (std::size_t i = 0; i < pairs; ++i) {
        const bool half = placement.pairing == Pairing::kHalf;
        std::byte* u_at = part + (half ? i : 2 * i) * size;
        std::byte* v_at = part + (half ? i + pairs : 2 * i + 1) * size;
        float u = load(shape.dtype, u_at);
        float v = load(shape.dtype, v_at);
        const std::size_t row = static_cast<std::size_t>(t) * pairs + i;
        oracle::turn(u, v, rows.cos[row], rows.sin[row]);
        store(shape.dtype, u, u_at);
        store(shape.dtype, v, v_at);
      }
    }
  }
  return result;
}

}  // namespace ropecache::test
