// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "ropecache/target.h"

#include <array>

namespace ropecache {
namespace {

constexpr std::array<std::string_view, 1> kTargets = {"scalar"};

}  // namespace

std::span<const std::string_view> targets() noexcept { return kTargets; }

std::string_view active_target() noexcept { return kTargets.back(); }

}  // namespace ropecache
