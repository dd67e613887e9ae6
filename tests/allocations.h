// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts the allocations of this process: operator new always, malloc and its kin where the C library lets a program
// replace them (glibc without a sanitizer, which replaces them itself). Link allocations.cc into a test of its own.
#pragma once

namespace ropecache {

long allocations();         // so far
bool allocations_of_malloc();  // whether malloc is counted too

}  // namespace ropecache
