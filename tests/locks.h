// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts what this process locks, starts and prints, by standing before the C library: mutexes, read-write locks,
// semaphores, condition variables, guards of static variables, threads, writes. Link locks.cc into a test of its own.
#pragma once

namespace ropecache {

struct Interruptions {
  long locks = 0;
  long threads = 0;
  long writes = 0;
};

Interruptions interruptions();       // so far
bool interruptions_are_counted();    // false under sanitizers, which stand there themselves

}  // namespace ropecache
