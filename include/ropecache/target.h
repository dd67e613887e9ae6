// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Which implementations of the kernels there are, and which one runs. All are bit-equal (rotate.h).
#pragma once

#include <span>
#include <string_view>

#include "ropecache/status.h"

namespace ropecache {

// Names of the targets that are compiled in and that this machine can run, best last: "scalar" always, then of "ssse3",
// "sse4", "avx2", "avx512", "avx512_bf16" and "neon" those there are.
std::span<const std::string_view> targets() noexcept;
// The one in use: the best one, unless use_target() was called.
std::string_view active_target() noexcept;

// Chooses one of targets() for the whole process, from the next call on: for tests and benchmarks, since results do not
// depend on it. kUnsupported: not one of targets().
Status use_target(std::string_view name) noexcept;

}  // namespace ropecache
