#!/usr/bin/env bash
# Builds and runs the benchmarks; arguments go to Google Benchmark (--benchmark_filter=Rotate).
source "$(dirname "$0")/common.sh"
scripts/setup.sh
configure_and_build bench ropecache_bench
exec build/bench/bench/ropecache_bench "$@"
