#!/usr/bin/env bash
# Builds the command line tool and runs `ropecache bench`; arguments go to it (--section rotate --seconds 0.2 --svg FILE).
source "$(dirname "$0")/common.sh"
scripts/setup.sh
configure_and_build release ropecache_cli
exec build/release/tools/ropecache/ropecache bench "$@"
