// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// The limit of rotate(): the same bytes read and written in place by the widest vectors of this machine, and nothing else.
#pragma once

#include <cstddef>

namespace ropecache::cli {

void read_and_write(std::byte* data, std::size_t bytes);  // a multiple of 256 bytes

}  // namespace ropecache::cli
