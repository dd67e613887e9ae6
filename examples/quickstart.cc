// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// From a rope's numbers to rotated queries and keys. The marked part stands in README.md.

// [begin quickstart]
#include <cstdio>
#include <vector>

#include "ropecache/cache.h"
#include "ropecache/rotate.h"

using namespace ropecache;

int report(const Status& status) {
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}

int main() {
  // Once per model: every layer that asks for this rope is handed the same table.
  const Result<Rope> rope = resolve({.head_dim = 128, .rotary_dim = 128, .theta = 500000, .scaling = Llama3Scaling{}});
  if (!rope.ok()) return report(rope.status());
  RopeCache cache;
  const Result<TableRef> table = cache.get(*rope);
  if (!table.ok()) return report(table.status());

  // Once per forward pass: the rows of its positions, for all layers.
  const std::int64_t positions[] = {131070, 131071};
  Step step(/*max_tokens=*/512);
  if (Status status = step.add(*table); !status.ok()) return report(status);
  if (Status status = step.begin(Positions::of(positions, 2)); !status.ok()) return report(status);
  const Result<Rows> rows = step.rows(**table);
  if (!rows.ok()) return report(rows.status());

  // In every layer: 32 heads of q and 8 of k, in place.
  std::vector<float> q(2 * 32 * 128, 1.0f), k(2 * 8 * 128, 1.0f);
  const Status status =
      rotate(*rows, Placement::of(*rope), Operand::in_place(TensorView::of(q.data(), DType::kF32, 2, 32, 128)),
             Operand::in_place(TensorView::of(k.data(), DType::kF32, 2, 8, 128)));
  std::printf("q[0] = %.9g, k[0] = %.9g, table of %zu bytes\n", q[0], k[0], (*table)->bytes());
  return report(status);
}
// [end quickstart]
