// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "locks.h"

#include <atomic>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define ROPECACHE_TEST_SANITIZED
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ROPECACHE_TEST_SANITIZED
#endif

namespace {

std::atomic<long> locks{0};
std::atomic<long> threads{0};
std::atomic<long> writes{0};

}  // namespace

#if defined(__GLIBC__) && !defined(ROPECACHE_TEST_SANITIZED)
#define ROPECACHE_TEST_COUNTS
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#include <cstdio>

namespace {

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

// Counts, then calls the function of the C library.
#define ROPECACHE_COUNT(counter, result, name, parameters, arguments) \
  extern "C" result name parameters {                                 \
    ++counter;                                                        \
    static const auto original = next<result parameters>(#name);      \
    return original arguments;                                        \
  }

ROPECACHE_COUNT(locks, int, pthread_mutex_lock, (pthread_mutex_t * mutex), (mutex))
ROPECACHE_COUNT(locks, int, pthread_mutex_trylock, (pthread_mutex_t * mutex), (mutex))
ROPECACHE_COUNT(locks, int, pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock))
ROPECACHE_COUNT(locks, int, pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock))
ROPECACHE_COUNT(locks, int, pthread_spin_lock, (pthread_spinlock_t * lock), (lock))
ROPECACHE_COUNT(locks, int, pthread_once, (pthread_once_t * once, void (*function)()), (once, function))
ROPECACHE_COUNT(locks, int, sem_wait, (sem_t * semaphore), (semaphore))
ROPECACHE_COUNT(threads, int, pthread_create,
                (pthread_t * thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument),
                (thread, attributes, start, argument))
ROPECACHE_COUNT(writes, ssize_t, write, (int file, const void* data, std::size_t size), (file, data, size))
ROPECACHE_COUNT(writes, std::size_t, fwrite, (const void* data, std::size_t size, std::size_t count, FILE* file),
                (data, size, count, file))
ROPECACHE_COUNT(writes, int, fputs, (const char* text, FILE* file), (text, file))
ROPECACHE_COUNT(writes, int, puts, (const char* text), (text))
#endif

namespace ropecache {

Interruptions interruptions() { return {locks, threads, writes}; }

bool interruptions_are_counted() {
#ifdef ROPECACHE_TEST_COUNTS
  return true;
#else
  return false;
#endif
}

}  // namespace ropecache
