// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cmath>
#include <random>
#include <thread>

#include "verify.h"

namespace ropecache::cli {
namespace {

constexpr std::int64_t kSmall = 256;         // every |p| below is checked
constexpr std::size_t kChunk = 64;           // positions a thread takes at a time
constexpr std::uint64_t kSeed = 0x726f7065;  // the same positions in every run

std::vector<std::int64_t> positions_to_check(std::int64_t samples) {
  std::vector<std::int64_t> out;
  for (std::int64_t p = -kSmall; p <= kSmall; ++p) out.push_back(p);
  for (int bit = 8; bit <= 31; ++bit) {
    for (std::int64_t near = -1; near <= 1; ++near) {
      const std::int64_t p = (std::int64_t{1} << bit) + near;
      if (p > kMaxPosition) continue;
      out.push_back(p);
      out.push_back(-p);
    }
  }
  std::mt19937_64 random(kSeed);
  for (std::int64_t i = 0; i < samples; ++i) {
    out.push_back(static_cast<std::int64_t>(random() % (2 * kMaxPosition + 1)) - kMaxPosition);
  }
  return out;
}

// In how many leading bits `given` agrees with `expected`, 0 to kBits.
double agreeing_bits(const Mp& given, const Mp& expected) {
  if (given == expected) return static_cast<double>(Mp::kBits);
  if (expected.is_zero() || given.is_zero()) return 0;
  Mp error = (given - expected) / expected;
  mpfr_abs(error.get(), error.get(), MPFR_RNDN);
  return std::max(0.0, -static_cast<double>(mpfr_get_exp(error.get())));
}

}  // namespace

FrequencyResult verify_frequencies(const Rope& rope, const OracleRope& oracle) {
  FrequencyResult out{0, 0, static_cast<double>(Mp::kBits)};
  const auto compare = [&out](const Mp& given, const Mp& expected) {
    const double bits = agreeing_bits(given, expected);
    ++out.values;
    if (bits < 191) ++out.wrong;  // half a unit of the 192nd bit is 2^-192 or 2^-193 of the value
    out.worst_bits = std::min(out.worst_bits, bits);
  };
  if (rope.frequencies.size() != oracle.frequencies.size()) return {1, 1, 0};
  for (std::size_t i = 0; i < rope.frequencies.size(); ++i) {
    compare(Mp::from(rope.frequencies[i]), oracle.frequencies[i]);
  }
  compare(Mp::from(rope.magnitude), oracle.magnitude);
  return out;
}

Result<RowResult> verify_rows(const Rope& rope, const OracleRope& oracle, Profile profile, std::int64_t samples,
                              unsigned threads) {
  const auto table = build_table(rope, profile);
  if (!table.ok()) return table.status();
  const std::vector<std::int64_t> positions = positions_to_check(samples);
  const OracleAngles angles(rope, oracle, profile);
  const auto pairs = static_cast<std::size_t>(rope.pairs());

  std::atomic<std::size_t> next = 0;
  std::vector<Tally> tallies(threads);
  std::vector<Status> failures(threads);
  const auto work = [&](unsigned self) {
    RowChecker checker(angles);
    std::vector<float> cos(kChunk * pairs);
    std::vector<float> sin(kChunk * pairs);
    for (std::size_t first = next.fetch_add(kChunk); first < positions.size(); first = next.fetch_add(kChunk)) {
      const std::size_t count = std::min(kChunk, positions.size() - first);
      Positions view = Positions::of(positions.data() + first, static_cast<std::int64_t>(count));
      view.axes = rope.axis_count;  // equal ids on all axes
      failures[self] = (*table)->rows(view, cos.data(), sin.data());
      if (!failures[self].ok()) break;
      for (std::size_t i = 0; i < count; ++i) {
        checker.check(positions[first + i], cos.data() + i * pairs, sin.data() + i * pairs);
      }
    }
    tallies[self] = checker.tally();
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
  };
  std::vector<std::thread> pool;
  for (unsigned self = 0; self < threads; ++self) pool.emplace_back(work, self);
  for (std::thread& thread : pool) thread.join();

  RowResult out;
  out.positions = positions.size();
  for (unsigned self = 0; self < threads; ++self) {
    if (!failures[self].ok()) return failures[self];
    out.tally.add(tallies[self]);
  }
  return out;
}

}  // namespace ropecache::cli
