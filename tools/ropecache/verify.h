// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// The measurements of verify: frequencies against the rules in MPFR, rows against MPFR, kernels against the scalar
// definition of rotate.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "commands.h"
#include "oracle_rows.h"
#include "ropecache/model.h"
#include "ropecache/rotate.h"

namespace ropecache::cli {

// A rope of the file in one regime of length, with the layers that use it.
struct Subject {
  const ModelRope* entry = nullptr;
  const Rope* rope = nullptr;
  std::optional<std::int64_t> length;  // of the regime
  TableKey key;                        // of the exact table
};

struct FrequencyResult {
  std::size_t values = 0;
  std::size_t wrong = 0;
  double worst_bits = 0;  // in how many leading bits the worst agrees
};
// Frequencies and magnitude: right when they agree to the last of a Real's 192 bits.
FrequencyResult verify_frequencies(const Rope& rope, const OracleRope& oracle);

struct RowResult {
  std::uint64_t positions = 0;
  Tally tally;
};
// Small positions, powers of two and their neighbours, and `samples` random ones of the whole range.
Result<RowResult> verify_rows(const Rope& rope, const OracleRope& oracle, Profile profile, std::int64_t samples,
                              unsigned threads);

struct KernelResult {
  Placement placement;
  int head_dim = 0;
  DType dtype = DType::kF32;
  std::uint64_t values = 0;
  std::uint64_t wrong = 0;
};
// Every dtype, forward, backward, inverse and shift, in place and not, both memory layouts.
Result<std::vector<KernelResult>> verify_kernels(const Rope& rope, Profile profile, Kernels kernels);

}  // namespace ropecache::cli
