// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// rotate() of 512 tokens with 32 heads of 128, against this machine's own limit: reading and writing the same bytes
// by memcpy. Bytes per second count what is read and what is written.
#include <benchmark/benchmark.h>

#include <cstring>
#include <numeric>

#include "ropecache/rotate.h"
#include "ropecache/target.h"

namespace ropecache {
namespace {

constexpr std::int64_t kTokens = 512;
constexpr std::int64_t kHeads = 32;
constexpr int kHeadDim = 128;
constexpr std::int64_t kElements = kTokens * kHeads * kHeadDim;

void count_bytes(benchmark::State& state, DType dtype) {
  state.SetBytesProcessed(state.iterations() * kElements * 2 * static_cast<std::int64_t>(dtype_size(dtype)));
}

void BM_Rotate(benchmark::State& state, DType dtype, Pairing pairing, bool in_place) {
  const Rope rope = *resolve({.head_dim = kHeadDim, .rotary_dim = kHeadDim, .pairing = pairing, .theta = 500000});
  const TableRef table = *build_table(rope);
  std::vector<std::int64_t> positions(static_cast<std::size_t>(kTokens));
  std::iota(positions.begin(), positions.end(), std::int64_t{0});
  Step step(kTokens);
  if (!step.add(table).ok() || !step.begin(Positions::of(positions.data(), kTokens)).ok()) {
    return state.SkipWithError("step");
  }
  const Rows rows = *step.rows(*table);

  std::vector<std::byte> x(static_cast<std::size_t>(kElements) * dtype_size(dtype));
  std::vector<std::byte> y(x.size());
  Operand operand = Operand::in_place(TensorView::of(x.data(), dtype, kTokens, kHeads, kHeadDim));
  if (!in_place) operand.out.data = y.data();
  for (auto _ : state) {
    if (!rotate(rows, Placement::of(rope), operand).ok()) return state.SkipWithError("rotate");
    benchmark::ClobberMemory();
  }
  count_bytes(state, dtype);
  state.SetLabel(std::string(active_target()));
}
BENCHMARK_CAPTURE(BM_Rotate, f32_half_in_place, DType::kF32, Pairing::kHalf, true)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_Rotate, f32_half, DType::kF32, Pairing::kHalf, false)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_Rotate, f32_interleaved, DType::kF32, Pairing::kInterleaved, false)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_Rotate, bf16_half, DType::kBF16, Pairing::kHalf, false)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_Rotate, f16_half, DType::kF16, Pairing::kHalf, false)->Unit(benchmark::kMicrosecond);

void BM_Copy(benchmark::State& state, DType dtype) {
  std::vector<std::byte> x(static_cast<std::size_t>(kElements) * dtype_size(dtype), std::byte{1});
  std::vector<std::byte> y(x.size());
  for (auto _ : state) {
    std::memcpy(y.data(), x.data(), x.size());
    benchmark::ClobberMemory();
  }
  count_bytes(state, dtype);
}
BENCHMARK_CAPTURE(BM_Copy, limit_f32, DType::kF32)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_Copy, limit_16_bit, DType::kBF16)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace ropecache
