// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <bit>
#include <cstring>
#include <random>

#include "ropecache/rotate.h"
#include "ropecache/step.h"
#include "verify.h"

namespace ropecache::cli {
namespace {

constexpr std::int64_t kTokens = 67;
constexpr std::int64_t kHeads = 3;
constexpr std::uint64_t kSeed = 0x6b65726e;

enum class Turn : std::uint8_t { kForward, kBackward, kInverse, kShift };
constexpr std::array<Turn, 4> kTurns = {Turn::kForward, Turn::kBackward, Turn::kInverse, Turn::kShift};

Use use_of(Turn turn) {
  return turn == Turn::kInverse ? Use::kInverse : turn == Turn::kShift ? Use::kShift : Use::kRotate;
}

// ---- The definition, element by element. volatile keeps each product and sum a rounding of its own. --------------

float product(float a, float b) {
  volatile float out = a * b;
  return out;
}
float sum(float a, float b) {
  volatile float out = a + b;
  return out;
}

float widen(DType dtype, const std::byte* at) {
  std::uint32_t word = 0;
  std::memcpy(&word, at, dtype_size(dtype));
  const auto half = static_cast<std::uint16_t>(word);
  return dtype == DType::kF32 ? std::bit_cast<float>(word) : dtype == DType::kBF16 ? bf16_to_f32(half) : f16_to_f32(half);
}

void narrow(DType dtype, float value, std::byte* at) {
  std::uint32_t word = value != value ? 0x7fc00000u : std::bit_cast<std::uint32_t>(value);
  if (dtype == DType::kBF16) word = f32_to_bf16(value);
  if (dtype == DType::kF16) word = f32_to_f16(value);
  std::memcpy(at, &word, dtype_size(dtype));
}

// Turns a contiguous [tokens, heads, head_dim] buffer.
void define(const Rows& rows, const Placement& place, int head_dim, DType dtype, bool transposed,
            std::vector<std::byte>& x) {
  const std::size_t size = dtype_size(dtype);
  const int pairs = place.rotary_dim / 2;
  const bool half = place.pairing == Pairing::kHalf;
  for (std::int64_t t = 0; t < kTokens; ++t) {
    for (std::int64_t h = 0; h < kHeads; ++h) {
      std::byte* head = x.data() + static_cast<std::size_t>((t * kHeads + h) * head_dim) * size;
      for (int i = 0; i < pairs; ++i) {
        const int first = place.rotary_offset + (half ? i : 2 * i);
        const int second = place.rotary_offset + (half ? i + pairs : 2 * i + 1);
        std::byte* at_u = head + static_cast<std::size_t>(first) * size;
        std::byte* at_v = head + static_cast<std::size_t>(second) * size;
        const float u = widen(dtype, at_u);
        const float v = widen(dtype, at_v);
        const float c = rows.cos[t * rows.pairs + i];
        const float s = transposed ? -rows.sin[t * rows.pairs + i] : rows.sin[t * rows.pairs + i];
        narrow(dtype, sum(product(u, c), -product(v, s)), at_u);
        narrow(dtype, sum(product(u, s), product(v, c)), at_v);
      }
    }
  }
}

Status turn_by_library(Turn turn, const Rows& rows, const Placement& place, const Operand& x) {
  switch (turn) {
    case Turn::kForward: return rotate(rows, place, x);
    case Turn::kBackward: return rotate_backward(rows, place, x);
    case Turn::kInverse: return rotate_inverse(rows, place, x);
    case Turn::kShift: return rotate_shift(rows, place, x);
  }
  return {StatusCode::kInternal, "no such turn"};
}

// ---- Inputs. -----------------------------------------------------------------------------------------------------

// Mostly ordinary numbers, one in eight any bit pattern: NaN payloads, infinities, subnormals, -0.
std::vector<std::byte> input(DType dtype, std::int64_t count, std::mt19937_64& random) {
  std::vector<std::byte> out(static_cast<std::size_t>(count) * dtype_size(dtype));
  for (std::size_t at = 0; at < out.size(); at += dtype_size(dtype)) {
    const std::uint64_t bits = random();
    if (bits % 8 == 0) {
      std::memcpy(out.data() + at, reinterpret_cast<const std::byte*>(&bits) + 4, dtype_size(dtype));
    } else {
      narrow(dtype, static_cast<float>(static_cast<std::int64_t>(bits)) * 0x1p-61f, out.data() + at);
    }
  }
  return out;
}

// [tokens, heads, head_dim] and [heads, tokens, head_dim]: the same elements, other strides.
struct Layout {
  std::int64_t token_stride;
  std::int64_t head_stride;
};

std::vector<std::byte> arranged(const std::vector<std::byte>& x, std::size_t head_bytes, bool heads_first) {
  if (!heads_first) return x;
  std::vector<std::byte> out(x.size());
  for (std::size_t t = 0; t < kTokens; ++t) {
    for (std::size_t h = 0; h < kHeads; ++h) {
      std::memcpy(out.data() + (h * kTokens + t) * head_bytes, x.data() + (t * kHeads + h) * head_bytes, head_bytes);
    }
  }
  return out;
}

std::uint64_t differing(const std::vector<std::byte>& a, const std::vector<std::byte>& b, std::size_t size) {
  std::uint64_t count = 0;
  for (std::size_t at = 0; at < a.size(); at += size) count += std::memcmp(&a[at], &b[at], size) != 0 ? 1u : 0u;
  return count;
}

class KernelCase {
 public:
  KernelCase(const Placement& place, int head_dim, DType dtype) : out_{place, head_dim, dtype, 0, 0}, random_(kSeed) {}

  Status run(Turn turn, const Rows& rows) {
    const auto x = input(out_.dtype, kTokens * kHeads * out_.head_dim, random_);
    auto expected = x;
    define(rows, out_.placement, out_.head_dim, out_.dtype, turn == Turn::kBackward || turn == Turn::kInverse, expected);
    for (const bool heads_first : {false, true}) {
      for (const bool in_place : {true, false}) {
        if (Status status = run_one(turn, rows, x, expected, heads_first, in_place); !status.ok()) return status;
      }
    }
    return {};
  }
  const KernelResult& result() const { return out_; }

 private:
  Status run_one(Turn turn, const Rows& rows, const std::vector<std::byte>& x, const std::vector<std::byte>& expected,
                 bool heads_first, bool in_place) {
    const std::size_t size = dtype_size(out_.dtype);
    const std::size_t head_bytes = static_cast<std::size_t>(out_.head_dim) * size;
    auto given = arranged(x, head_bytes, heads_first);
    std::vector<std::byte> written = in_place ? std::vector<std::byte>() : std::vector<std::byte>(x.size(), std::byte{0xa5});
    TensorView view = TensorView::of(given.data(), out_.dtype, kTokens, kHeads, out_.head_dim);
    if (heads_first) {
      view.token_stride = out_.head_dim;
      view.head_stride = kTokens * out_.head_dim;
    }
    Operand operand = Operand::in_place(view);
    if (!in_place) operand.out.data = written.data();
    if (Status status = turn_by_library(turn, rows, out_.placement, operand); !status.ok()) return status;
    out_.values += expected.size() / size;
    out_.wrong += differing(arranged(expected, head_bytes, heads_first), in_place ? given : written, size);
    return {};
  }

  KernelResult out_;
  std::mt19937_64 random_;
};

// The placements to check: the file's own; with kAll every pairing, at the start and at the end of a larger head.
std::vector<std::pair<Placement, int>> placements(const Rope& rope, Kernels kernels) {
  if (kernels == Kernels::kOwn) return {{Placement::of(rope), rope.head_dim}};
  std::vector<std::pair<Placement, int>> out;
  for (const Pairing pairing : {Pairing::kHalf, Pairing::kInterleaved}) {
    out.push_back({{rope.rotary_dim, 0, pairing}, rope.rotary_dim});
    out.push_back({{rope.rotary_dim, 0, pairing}, rope.rotary_dim + 7});
    out.push_back({{rope.rotary_dim, 5, pairing}, rope.rotary_dim + 5});
  }
  return out;
}

}  // namespace

Result<std::vector<KernelResult>> verify_kernels(const Rope& rope, Profile profile, Kernels kernels) {
  std::mt19937_64 random(kSeed);
  std::vector<std::int64_t> positions(static_cast<std::size_t>(kTokens * rope.axis_count));
  for (std::int64_t& p : positions) p = static_cast<std::int64_t>(random() % (2 * kMaxPosition + 1)) - kMaxPosition;
  const Positions view = {positions.data(), PositionType::kInt64, kTokens,
                          rope.axis_count,  rope.axis_count,      1,
                          static_cast<std::int64_t>(positions.size())};
  Step step(kTokens);
  std::array<TableRef, 4> tables;
  for (std::size_t i = 0; i < kTurns.size(); ++i) {
    auto table = build_table(rope, profile, use_of(kTurns[i]));
    if (!table.ok()) return table.status();
    tables[i] = *table;
    if (Status status = step.add(tables[i]); !status.ok()) return status;
  }
  if (Status status = step.begin(view); !status.ok()) return status;

  std::vector<KernelResult> out;
  for (const auto& [place, head_dim] : placements(rope, kernels)) {
    for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
      KernelCase one(place, head_dim, dtype);
      for (std::size_t i = 0; i < kTurns.size(); ++i) {
        const auto rows = step.rows(*tables[i]);
        if (!rows.ok()) return rows.status();
        if (Status status = one.run(kTurns[i], *rows); !status.ok()) return status;
      }
      out.push_back(one.result());
    }
  }
  return out;
}

}  // namespace ropecache::cli
