// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// rotate() of q (32 heads) and k (8 heads) of 128, in place, against reading and writing the same bytes.
#include <fmt/format.h>

#include <cstring>
#include <numeric>

#include "bench.h"
#include "bench_limit.h"
#include "ropecache/rotate.h"
#include "ropecache/target.h"

namespace ropecache::cli {
namespace {

constexpr std::int64_t kQueryHeads = 32;
constexpr std::int64_t kKeyHeads = 8;
constexpr int kHeadDim = 128;

const char* name_of(DType dtype) { return dtype == DType::kF32 ? "f32" : dtype == DType::kBF16 ? "bf16" : "f16"; }

// q and k in one piece of memory that starts at a page.
class Tensors {
 public:
  Tensors(DType dtype, std::int64_t tokens)
      : dtype_(dtype),
        tokens_(tokens),
        bytes_(static_cast<std::size_t>(tokens * (kQueryHeads + kKeyHeads) * kHeadDim) * dtype_size(dtype)),
        memory_(static_cast<std::byte*>(::operator new(bytes_, std::align_val_t{4096}))) {
    fill();
  }
  ~Tensors() { ::operator delete(memory_, std::align_val_t{4096}); }
  Tensors(const Tensors&) = delete;
  Tensors& operator=(const Tensors&) = delete;

  void fill() {
    const std::size_t size = dtype_size(dtype_);
    for (std::size_t i = 0; i * size < bytes_; ++i) {
      const float value = static_cast<float>(static_cast<int>(i * 7919 % 1000) - 500) / 500.0f;
      const std::uint16_t half = dtype_ == DType::kBF16 ? f32_to_bf16(value) : f32_to_f16(value);
      if (size == 4) std::memcpy(memory_ + i * 4, &value, 4);
      else std::memcpy(memory_ + i * 2, &half, 2);
    }
  }
  Operand q() const { return Operand::in_place(TensorView::of(memory_, dtype_, tokens_, kQueryHeads, kHeadDim)); }
  Operand k() const {
    std::byte* at = memory_ + static_cast<std::size_t>(tokens_ * kQueryHeads * kHeadDim) * dtype_size(dtype_);
    return Operand::in_place(TensorView::of(at, dtype_, tokens_, kKeyHeads, kHeadDim));
  }
  std::byte* data() const { return memory_; }
  std::size_t bytes() const { return bytes_; }

 private:
  DType dtype_;
  std::int64_t tokens_;
  std::size_t bytes_;
  std::byte* memory_;
};

}  // namespace

Status bench_rotate(double seconds, int threads, const std::vector<std::int64_t>& all_tokens, BenchReport& report) {
  const std::string target(active_target());
  for (const std::int64_t tokens : all_tokens) {
    double f32_elements = 0;  // per second, half pairing
    for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
      for (const Pairing pairing : {Pairing::kHalf, Pairing::kInterleaved}) {
        const auto rope = resolve({.head_dim = kHeadDim, .rotary_dim = kHeadDim, .pairing = pairing, .theta = 500000});
        if (!rope.ok()) return rope.status();
        const auto table = build_table(*rope);
        if (!table.ok()) return table.status();
        std::vector<std::int64_t> positions(static_cast<std::size_t>(tokens));
        std::iota(positions.begin(), positions.end(), std::int64_t{0});
        Step step(tokens);
        if (Status status = step.add(*table); !status.ok()) return status;
        if (Status status = step.begin(Positions::of(positions.data(), tokens)); !status.ok()) return status;
        const auto rows = step.rows(**table);
        if (!rows.ok()) return rows.status();
        const Placement placement = Placement::of(*rope);

        const Tensors x(dtype, tokens);
        Tensors expected(dtype, tokens);
        if (Status status = use_target("scalar"); !status.ok()) return status;
        if (Status status = rotate(*rows, placement, expected.q(), expected.k()); !status.ok()) return status;
        if (Status status = use_target(target); !status.ok()) return status;
        if (Status status = rotate(*rows, placement, x.q(), x.k()); !status.ok()) return status;
        if (std::memcmp(x.data(), expected.data(), x.bytes()) != 0) {
          return Status(StatusCode::kInternal, "bench: rotate() differs from its scalar definition");
        }
        expected.fill();

        Timer timer(seconds);
        timer.add("rotate", threads, [&](int thread) {
          benchmark::DoNotOptimize(rotate(*rows, placement, x.q(), x.k(), {thread, threads}).ok());
        });
        const std::size_t share = x.bytes() / static_cast<std::size_t>(threads) / 256 * 256;
        timer.add("limit", threads,
                  [&](int thread) { read_and_write(expected.data() + static_cast<std::size_t>(thread) * share, share); });
        auto times = timer.run();

        const double elements = static_cast<double>(x.bytes() / dtype_size(dtype)) / times["rotate"].best;
        if (f32_elements == 0) f32_elements = elements;
        Measurement out;
        out.parameters = {{"section", "rotate"}, {"what", "rotate"}, {"target", target}, {"tokens", tokens},
                          {"q_heads", kQueryHeads}, {"k_heads", kKeyHeads}, {"head_dim", kHeadDim},
                          {"dtype", name_of(dtype)}, {"pairing", pairing_name(pairing)}, {"in_place", true},
                          {"threads", threads}};
        out.figure = times["rotate"].best;
        out.limit = times["limit"].best;
        out.against = "reading and writing the same bytes";
        out.ratio = out.limit / out.figure;
        out.noise = times["limit"].median / times["limit"].best - 1;
        out.beside = {{"bytes_per_s", 2 * static_cast<double>(x.bytes()) / out.figure},
                      {"elements_per_s_of_f32", elements / f32_elements}};
        if (tokens == 64 && threads == 1) {
          if (Status status = use_target("scalar"); !status.ok()) return status;
          Timer scalar(seconds);
          scalar.add("scalar", 1, [&](int) { benchmark::DoNotOptimize(rotate(*rows, placement, x.q(), x.k()).ok()); });
          out.beside.emplace_back("scalar_s", scalar.run()["scalar"].best);
          if (Status status = use_target(target); !status.ok()) return status;
        }
        report.measurements.push_back(std::move(out));
      }
    }
  }
  return {};
}

}  // namespace ropecache::cli
