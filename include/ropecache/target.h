// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Which implementations of the kernels this build holds, and which one runs. All are bit-equal (rotate.h).
#pragma once

#include <span>
#include <string_view>

namespace ropecache {

// Names of the targets compiled in, best last. Always holds "scalar".
std::span<const std::string_view> targets() noexcept;
// The one that runs on this machine.
std::string_view active_target() noexcept;

}  // namespace ropecache
