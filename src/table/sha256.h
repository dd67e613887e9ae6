// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// SHA-256 (FIPS 180-4) of a short message: identity of tables, not cryptography.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace ropecache {

std::array<std::uint8_t, 32> sha256(const std::vector<std::uint8_t>& message);

}  // namespace ropecache
