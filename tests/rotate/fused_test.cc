// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Fused passes give the bits of their steps, the steps those of their definition; bad input is refused before anything is
// written. The definitions are written out again here.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "ropecache/kv.h"
#include "ropecache/norm.h"
#include "ropecache/quantized.h"
#include "rotate/oracle.h"
#include "rotate/tensor.h"

namespace ropecache::test {
namespace {

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

// ---- RMSNorm. ----------------------------------------------------------------------------------------------------

// norm.h, on packed heads.
Bytes normed(const Bytes& packed, const Shape& shape, const RmsNorm& norm) {
  Bytes out = packed;
  const std::size_t size = dtype_size(shape.dtype);
  const auto dim = static_cast<std::size_t>(shape.head_dim);
  for (std::size_t head = 0; head < packed.size(); head += dim * size) {
    float part[16] = {};
    for (std::size_t i = 0; i < dim; ++i) {
      const float x = load(shape.dtype, &packed[head + i * size]);
      part[i % 16] = oracle::sum(part[i % 16], oracle::product(x, x));
    }
    for (std::size_t width : {8u, 4u, 2u, 1u}) {
      for (std::size_t j = 0; j < width; ++j) part[j] = oracle::sum(part[j], part[j + width]);
    }
    // Quotients and roots of floats, rounded to double and then to float, are rounded as if once.
    const float mean = static_cast<float>(static_cast<double>(part[0]) / static_cast<double>(dim));
    const float root = static_cast<float>(std::sqrt(static_cast<double>(oracle::sum(mean, norm.eps))));
    const float scale = static_cast<float>(1.0 / static_cast<double>(root));
    for (std::size_t i = 0; i < dim; ++i) {
      float y = oracle::product(load(shape.dtype, &packed[head + i * size]), scale);
      if (norm.weight != nullptr) y = oracle::product(y, norm.weight[i]);
      store(shape.dtype, y, &out[head + i * size]);
    }
  }
  return out;
}

std::vector<float> weights(std::int64_t count) {
  std::vector<float> out;
  for (std::int64_t i = 0; i < count; ++i) out.push_back(0.5f + static_cast<float>(i % 7) * 0.3f);
  return out;
}

// Ordinary numbers only: arbitrary bits make most sums infinite.
void fill_ordinary(Tensor& x, std::uint32_t seed) {
  std::mt19937 random(seed);
  Bytes packed = x.packed();
  const std::size_t size = dtype_size(x.view().dtype);
  for (std::size_t at = 0; at < packed.size(); at += size) {
    store(x.view().dtype, static_cast<float>(static_cast<std::uint32_t>(random())) * 0x1p-31f - 1.0f, &packed[at]);
  }
  x.unpack(packed);
}

class Fused : public testing::TestWithParam<std::tuple<DType, Pairing>> {
 protected:
  DType dtype() const { return std::get<0>(GetParam()); }
  Pairing pairing() const { return std::get<1>(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(All, Fused, testing::Combine(testing::ValuesIn(kDTypes), testing::ValuesIn(kPairings)));

TEST_P(Fused, NormIsItsDefinition) {
  for (const std::int64_t dim : {1, 2, 15, 16, 17, 64, 80, 96, 128, 200, 256}) {
    const auto w = weights(dim);
    for (const bool special : {false, true}) {
      for (const RmsNorm& norm : {RmsNorm{nullptr, 1e-6f}, RmsNorm{w.data(), 1e-5f}, RmsNorm{w.data(), 0.0f}}) {
        const Shape shape{dtype(), 3, 4, dim};
        Tensor x(shape, Layout::kMerged);
        x.fill(static_cast<std::uint32_t>(dim));
        if (!special) fill_ordinary(x, static_cast<std::uint32_t>(dim));
        Tensor out(shape, Layout::kPadded);
        out.poison();
        Tensor expected(out);
        expected.unpack(normed(x.packed(), shape, norm));
        ASSERT_TRUE(rms_norm({x.view(), out.view()}, norm).ok());
        ASSERT_TRUE(out.memory() == expected.memory()) << dim << " " << special;
        Tensor in_place(x);
        in_place.unpack(expected.packed());
        ASSERT_TRUE(rms_norm(Operand::in_place(x.view()), norm).ok());
        ASSERT_TRUE(x.memory() == in_place.memory()) << dim << " " << special;
      }
    }
  }
}

TEST_P(Fused, NormThenRotation) {
  for (const std::int64_t dim : {64, 80, 128}) {
    for (const Layout layout : kLayouts) {
      for (const int parts : {1, 5}) {
        const auto w = weights(dim);
        const RmsNorm q_norm{w.data(), 1e-6f};
        const RmsNorm k_norm{nullptr, 1e-5f};
        const Placement placement{static_cast<int>(dim) - 16, 6, pairing()};
        const TestRows rows(5, placement.rotary_dim / 2);
        Tensor q({dtype(), 5, 6, dim}, layout);
        Tensor k({dtype(), 5, 2, dim}, Layout::kHeadMajor);
        fill_ordinary(q, 1);
        k.fill(2);
        Tensor k_out(k);
        k_out.poison();
        Tensor q_steps(q);
        Tensor k_steps(k_out);
        ASSERT_TRUE(rms_norm(Operand::in_place(q_steps.view()), q_norm).ok());
        ASSERT_TRUE(rotate(rows.rows(), placement, Operand::in_place(q_steps.view())).ok());
        ASSERT_TRUE(rms_norm({k.view(), k_steps.view()}, k_norm).ok());
        ASSERT_TRUE(rotate(rows.rows(), placement, Operand::in_place(k_steps.view())).ok());
        for (int part = 0; part < parts; ++part) {
          ASSERT_TRUE(norm_rotate(rows.rows(), placement, Operand::in_place(q.view()), q_norm, {k.view(), k_out.view()},
                                  k_norm, {part, parts})
                          .ok());
        }
        EXPECT_TRUE(q.memory() == q_steps.memory());
        EXPECT_TRUE(k_out.memory() == k_steps.memory());
        Tensor once(k);
        ASSERT_TRUE(norm_rotate(rows.rows(), placement, Operand::in_place(once.view()), k_norm).ok());
        EXPECT_TRUE(once.packed() == k_steps.packed());
      }
    }
  }
}

TEST(FusedErrors, NormIsRefusedBeforeTheFirstWrite) {
  Tensor x({DType::kF32, 2, 2, 16}, Layout::kTokenMajor);
  x.fill(1);
  const Bytes before = x.memory();
  const Operand operand = Operand::in_place(x.view());
  const TestRows rows(2, 8);
  const Placement placement{16, 0, Pairing::kHalf};
  for (const float eps : {-1.0f, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    EXPECT_EQ(rms_norm(operand, {nullptr, eps}).code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(norm_rotate(rows.rows(), placement, operand, {nullptr, eps}).code(), StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(rms_norm(operand, {}, {2, 2}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(norm_rotate(Rows(), placement, operand, {}).code(), StatusCode::kMismatch);
  EXPECT_EQ(norm_rotate(rows.rows(), {16, 4, Pairing::kHalf}, operand, {}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(norm_rotate(rows.rows(), placement, operand, {}, operand, {}).code(), StatusCode::kInvalidArgument);
  // In place a norm touches whole heads: parts that a rotation may leave alone overlap here.
  TensorView shifted = x.view();
  shifted.data = static_cast<float*>(shifted.data) + 4;
  EXPECT_EQ(rms_norm({x.view(), shifted}, {}).code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(x.memory() == before);
}

// ---- Cache slots. ------------------------------------------------------------------------------------------------

struct CacheTensors {
  Tensor k;
  Tensor v;
};

TEST_P(Fused, KeysGoToTheirSlots) {
  constexpr std::int64_t kTokens = 6;
  const std::int64_t slots[kTokens] = {7, -1, 0, 3, -5, 8};
  const std::int32_t short_slots[kTokens] = {7, -1, 0, 3, -5, 8};
  for (const DType cache_dtype : kDTypes) {
    if (cache_dtype != dtype() && dtype() != DType::kF32) continue;
    for (const Layout layout : kLayouts) {
      for (const int parts : {1, 4}) {
        const Placement placement{48, 4, pairing()};
        const TestRows rows(kTokens, 24);
        Tensor k({dtype(), kTokens, 3, 64}, layout);
        Tensor v({dtype(), kTokens, 2, 40}, Layout::kMerged);
        k.fill(1);
        v.fill(2);
        CacheTensors cache{Tensor({cache_dtype, 9, 3, 64}, layout), Tensor({cache_dtype, 9, 2, 40}, Layout::kHeadMajor)};
        cache.k.fill(3);
        cache.v.fill(4);

        // Step by step: turn, then write element by element.
        Tensor turned(k);
        ASSERT_TRUE(rotate(rows.rows(), placement, Operand::in_place(turned.view())).ok());
        CacheTensors expected{cache.k, cache.v};
        const auto put = [&](const Tensor& from, Tensor& to) {
          const Bytes in = from.packed();
          Bytes out = to.packed();
          const std::size_t in_size = dtype_size(dtype());
          const std::size_t out_size = dtype_size(cache_dtype);
          const auto elements = static_cast<std::size_t>(from.view().heads * from.view().head_dim);
          for (std::size_t t = 0; t < kTokens; ++t) {
            if (slots[t] < 0) continue;
            for (std::size_t i = 0; i < elements; ++i) {
              const std::byte* at = &in[(t * elements + i) * in_size];
              std::byte* target = &out[(static_cast<std::size_t>(slots[t]) * elements + i) * out_size];
              if (cache_dtype == dtype()) {
                std::memcpy(target, at, in_size);
              } else {
                store(cache_dtype, load(dtype(), at), target);
              }
            }
          }
          to.unpack(out);
        };
        put(turned, expected.k);
        put(v, expected.v);

        const KvCache views{cache.k.view(), cache.v.view()};
        for (int part = 0; part < parts; ++part) {
          const SlotMap map = parts == 1 ? SlotMap::of(slots, kTokens) : SlotMap::of(short_slots, kTokens);
          ASSERT_TRUE(rotate_into_cache(rows.rows(), placement, k.view(), v.view(), map, views, {part, parts}).ok());
        }
        EXPECT_TRUE(cache.k.memory() == expected.k.memory()) << static_cast<int>(cache_dtype);
        EXPECT_TRUE(cache.v.memory() == expected.v.memory()) << static_cast<int>(cache_dtype);
      }
    }
  }
}

TEST(FusedErrors, SlotsAreCheckedBeforeTheFirstWrite) {
  const TestRows rows(3, 8);
  const Placement placement{16, 0, Pairing::kHalf};
  Tensor k({DType::kF32, 3, 2, 16}, Layout::kTokenMajor);
  Tensor v({DType::kF32, 3, 2, 16}, Layout::kTokenMajor);
  Tensor k_cache({DType::kF16, 4, 2, 16}, Layout::kTokenMajor);
  Tensor v_cache({DType::kF16, 4, 2, 16}, Layout::kTokenMajor);
  k.fill(1);
  v.fill(2);
  k_cache.fill(3);
  v_cache.fill(4);
  const Bytes k_before = k_cache.memory();
  const Bytes v_before = v_cache.memory();
  const std::int64_t good[3] = {0, 1, 3};
  const KvCache cache{k_cache.view(), v_cache.view()};
  const auto code = [&](const SlotMap& slots, const KvCache& to, const TensorView& from_k, const TensorView& from_v) {
    return rotate_into_cache(rows.rows(), placement, from_k, from_v, slots, to).code();
  };
  const SlotMap map = SlotMap::of(good, 3);
  for (const std::int64_t bad : {std::int64_t{4}, INT64_MAX}) {
    const std::int64_t slots[3] = {0, 1, bad};
    EXPECT_EQ(code(SlotMap::of(slots, 3), cache, k.view(), v.view()), StatusCode::kOutOfRange);
  }
  EXPECT_EQ(code(SlotMap::of(good, 2), cache, k.view(), v.view()), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({nullptr, PositionType::kInt64, 3}, cache, k.view(), v.view()), StatusCode::kInvalidArgument);
  EXPECT_EQ(code(map, {k_cache.view(), k_cache.view()}, k.view(), v.view()), StatusCode::kInvalidArgument);
  KvCache odd = cache;
  odd.k.heads = 1;
  EXPECT_EQ(code(map, odd, k.view(), v.view()), StatusCode::kInvalidArgument);
  odd = cache;
  odd.v.dtype = DType::kF32;  // the memory is too small, and is never looked at
  odd.v.head_dim = 8;
  EXPECT_EQ(code(map, odd, k.view(), v.view()), StatusCode::kInvalidArgument);
  odd = cache;
  odd.k.data = nullptr;
  EXPECT_EQ(code(map, odd, k.view(), v.view()), StatusCode::kInvalidArgument);
  odd = cache;
  odd.k.token_stride = 8;  // slots overlap
  EXPECT_EQ(code(map, odd, k.view(), v.view()), StatusCode::kInvalidArgument);
  TensorView half = k.view();
  half.dtype = DType::kBF16;  // bf16 keys for an f16 cache
  EXPECT_EQ(code(map, cache, half, v.view()), StatusCode::kInvalidArgument);
  const std::int64_t own[3] = {0, 1, 2};
  EXPECT_EQ(code(SlotMap::of(own, 3), {k.view(), v_cache.view()}, k.view(), v.view()), StatusCode::kInvalidArgument);
  EXPECT_EQ(rotate_into_cache(Rows(), placement, k.view(), v.view(), map, cache).code(), StatusCode::kMismatch);
  EXPECT_TRUE(k_cache.memory() == k_before);
  EXPECT_TRUE(v_cache.memory() == v_before);
  // Keys only: v is not looked at.
  EXPECT_EQ(code(map, {k_cache.view(), {}}, k.view(), {}), StatusCode::kOk);
  EXPECT_FALSE(k_cache.memory() == k_before);
}

// ---- ggml's blocks. ----------------------------------------------------------------------------------------------

constexpr std::size_t kBlockElements = 32;
std::size_t block_size(BlockType type) { return type == BlockType::kQ8_0 ? 34 : 18; }

float half_at(const std::byte* at) {
  std::uint16_t bits;
  std::memcpy(&bits, at, 2);
  return static_cast<float>(oracle::decode(oracle::kF16, bits));
}

std::vector<float> dequantized(BlockType type, const std::byte* block) {
  const float d = half_at(block);
  std::vector<float> x(kBlockElements);
  for (std::size_t i = 0; i < kBlockElements; ++i) {
    int q = 0;
    if (type == BlockType::kQ8_0) {
      q = static_cast<std::int8_t>(block[2 + i]);
    } else {
      const int both = std::to_integer<int>(block[2 + i % 16]);
      q = (i < 16 ? both % 16 : both / 16) - 8;
    }
    x[i] = oracle::product(static_cast<float>(q), d);
  }
  return x;
}

// ggml-quants.c: quantize_row_q8_0_ref, quantize_row_q4_0_ref.
std::vector<std::byte> quantized(BlockType type, const std::vector<float>& x) {
  std::vector<std::byte> block(block_size(type));
  float top = 0;
  for (float value : x) top = std::fabs(value) > std::fabs(top) ? value : top;
  const bool wide = type == BlockType::kQ8_0;
  const double quotient = wide ? std::fabs(static_cast<double>(top)) / 127 : static_cast<double>(top) / -8;
  const float d = static_cast<float>(quotient);
  const float id = d == 0 ? 0.0f : static_cast<float>(1.0 / static_cast<double>(d));
  const std::uint16_t bits = oracle::encode(oracle::kF16, d);
  std::memcpy(block.data(), &bits, 2);
  for (std::size_t i = 0; i < kBlockElements; ++i) {
    const float y = oracle::product(x[i], id);
    if (wide) {
      block[2 + i] = static_cast<std::byte>(static_cast<std::int8_t>(std::lround(y)));
    } else {
      const int q = std::min(15, static_cast<int>(oracle::sum(y, 8.5f)));
      block[2 + i % 16] |= static_cast<std::byte>(i < 16 ? q : q * 16);
    }
  }
  return block;
}

class Blocks : public testing::TestWithParam<std::tuple<BlockType, Pairing>> {};
INSTANTIATE_TEST_SUITE_P(All, Blocks,
                         testing::Combine(testing::Values(BlockType::kQ8_0, BlockType::kQ4_0), testing::ValuesIn(kPairings)));

TEST_P(Blocks, ShiftIsDequantizeTurnQuantize) {
  const auto [type, pairing] = GetParam();
  const std::size_t size = block_size(type);
  constexpr std::int64_t kTokens = 3, kHeads = 2, kDim = 128;
  constexpr std::size_t kBlocks = kDim / kBlockElements;
  std::mt19937 random(9);
  for (const Placement placement : {Placement{128, 0, pairing}, Placement{64, 64, pairing}, Placement{40, 20, pairing}}) {
    const TestRows rows(kTokens, placement.rotary_dim / 2);
    std::vector<float> x(kTokens * kHeads * kDim);
    for (float& value : x) value = static_cast<float>(static_cast<std::int32_t>(random())) * 0x1p-31f;
    std::fill_n(x.begin() + 32, 32, 0.0f);  // a block of zeros
    Bytes blocks;
    for (std::size_t at = 0; at < x.size(); at += kBlockElements) {
      const auto block = quantized(type, {&x[at], &x[at] + kBlockElements});
      blocks.insert(blocks.end(), block.begin(), block.end());
    }
    const Bytes before = blocks;

    // What the blocks hold, turned in fp32 by rotate_shift() of tensors.
    std::vector<float> turned;
    for (std::size_t at = 0; at < before.size(); at += size) {
      const auto values = dequantized(type, &before[at]);
      turned.insert(turned.end(), values.begin(), values.end());
    }
    const TensorView view = TensorView::of(turned.data(), DType::kF32, kTokens, kHeads, kDim);
    ASSERT_TRUE(rotate_shift(rows.rows(), placement, Operand::in_place(view)).ok());

    const BlockView all{blocks.data(), type, kTokens, kHeads, kDim, static_cast<std::int64_t>(kHeads * kBlocks * size),
                        static_cast<std::int64_t>(kBlocks * size)};
    for (int part = 0; part < 4; ++part) ASSERT_TRUE(rotate_shift(rows.rows(), placement, all, {part, 4}).ok());

    const auto first = static_cast<std::size_t>(placement.rotary_offset) / kBlockElements;
    const auto last = static_cast<std::size_t>(placement.rotary_offset + placement.rotary_dim - 1) / kBlockElements;
    for (std::size_t b = 0; b * size < blocks.size(); ++b) {
      const bool touched = b % kBlocks >= first && b % kBlocks <= last;
      std::vector<std::byte> expected(&before[b * size], &before[b * size] + size);
      const std::vector<float> exact(&turned[b * kBlockElements], &turned[b * kBlockElements] + kBlockElements);
      if (touched) expected = quantized(type, exact);
      ASSERT_TRUE(std::memcmp(expected.data(), &blocks[b * size], size) == 0) << "block " << b;
      // The bound of quantized.h.
      float top = 0;
      for (float value : exact) top = std::max(top, std::fabs(value));
      const float step = type == BlockType::kQ8_0 ? top / 127 : top / 8;
      const float bound = (type == BlockType::kQ8_0 ? 0.501f : 1.001f) * step + top * 0x1p-11f + 0x1p-24f * 127;
      const auto result = dequantized(type, &blocks[b * size]);
      for (std::size_t i = 0; touched && i < kBlockElements; ++i) EXPECT_LE(std::fabs(result[i] - exact[i]), bound);
    }
  }
}

TEST_P(Blocks, OddScalesDoNoHarm) {
  const auto [type, pairing] = GetParam();
  const TestRows rows(1, 16);
  for (const int bits : {0x7c00, 0xfc00, 0x7e00, 0x0001, 0x7bff, 0x8000}) {
    const auto scale = static_cast<std::uint16_t>(bits);
    Bytes block(block_size(type), std::byte{0x91});
    std::memcpy(block.data(), &scale, 2);
    const BlockView view{block.data(), type, 1, 1, 32, 0, 0};
    EXPECT_TRUE(rotate_shift(rows.rows(), {32, 0, pairing}, view).ok());
  }
}

TEST(FusedErrors, BlocksAreCheckedBeforeTheFirstWrite) {
  const TestRows rows(2, 16);
  const Placement placement{32, 0, Pairing::kHalf};
  Bytes blocks(4 * 34, std::byte{0x11});
  const Bytes before = blocks;
  const BlockView good{blocks.data(), BlockType::kQ8_0, 2, 2, 32, 68, 34};
  const auto code = [&](BlockView x, Placement where = {32, 0, Pairing::kHalf}) {
    return rotate_shift(rows.rows(), where, x).code();
  };
  BlockView odd = good;
  odd.type = static_cast<BlockType>(2);
  EXPECT_EQ(code(odd), StatusCode::kInvalidArgument);
  for (const std::int64_t dim : {-32, 16, 33, 4096}) {
    odd = good;
    odd.head_dim = dim;
    EXPECT_EQ(code(odd), StatusCode::kInvalidArgument) << dim;
  }
  odd = good;
  odd.data = nullptr;
  EXPECT_EQ(code(odd), StatusCode::kInvalidArgument);
  odd = good;
  odd.head_stride = 32;  // blocks of two heads overlap
  EXPECT_EQ(code(odd), StatusCode::kInvalidArgument);
  odd.head_stride = 35;
  EXPECT_EQ(code(odd), StatusCode::kInvalidArgument);
  odd = good;
  odd.token_stride = INT64_MIN;
  EXPECT_EQ(code(odd), StatusCode::kInvalidArgument);
  EXPECT_EQ(code(good, {32, 2, Pairing::kHalf}), StatusCode::kInvalidArgument);
  EXPECT_EQ(rotate_shift(Rows(), placement, good).code(), StatusCode::kMismatch);
  EXPECT_EQ(rotate_shift(rows.rows(), placement, good, {1, 1}).code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(blocks == before);
  odd = good;
  odd.tokens = 0;
  EXPECT_EQ(code(odd), StatusCode::kOk);
}

}  // namespace
}  // namespace ropecache::test
