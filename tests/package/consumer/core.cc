// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Prints the version of the headers; fails unless the library works.
#include <ropecache/cache.h>
#include <ropecache/rotate.h>
#include <ropecache/version.h>

#include <cstdio>

int main() {
  ropecache::RopeConfig config;
  config.head_dim = config.rotary_dim = 2;
  config.theta = 10000;
  const auto rope = ropecache::resolve(config);
  ropecache::RopeCache cache;
  const auto table = cache.get(*rope);
  if (!rope.ok() || !table.ok()) return 1;
  const std::int32_t position = 1;
  ropecache::Step step(1);
  if (!step.add(*table).ok() || !step.begin(ropecache::Positions::of(&position, 1)).ok()) return 1;
  float x[2] = {1, 0};
  const auto view = ropecache::TensorView::of(x, ropecache::DType::kF32, 1, 1, 2);
  const auto rows = step.rows(**table);
  if (!rotate(*rows, ropecache::Placement::of(*rope), ropecache::Operand::in_place(view)).ok()) return 1;
  if (x[0] != 0.540302306f || x[1] != 0.841470985f) return 1;  // cos 1, sin 1
  std::puts(ROPECACHE_VERSION_STRING);
  return 0;
}
