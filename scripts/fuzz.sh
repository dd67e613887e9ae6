#!/usr/bin/env bash
# fuzz.sh build | list | run TARGET SECONDS. Findings and the corpus they grew from stay under build/fuzz.
source "$(dirname "$0")/common.sh"

case "${1:-}" in
  build) configure_and_build fuzz ;;
  list)
    [ -d build/fuzz/fuzz ] || { echo "fuzz.sh: nothing is built yet: fuzz.sh build" >&2; exit 2; }
    find build/fuzz/fuzz -maxdepth 1 -type f -perm -u+x -name 'fuzz_*' -printf '%f\n' | sort
    ;;
  run)
    target=$2 seconds=$3
    corpus="build/fuzz/corpus/$target"
    mkdir -p "$corpus" build/fuzz/findings
    seeds=()
    [ -d "fuzz/seeds/${target#fuzz_}" ] && seeds=("fuzz/seeds/${target#fuzz_}")
    exec "build/fuzz/fuzz/$target" -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=10 -verbosity=0 \
      -print_final_stats=1 -artifact_prefix=build/fuzz/findings/ "$corpus" ${seeds[@]+"${seeds[@]}"}
    ;;
  *) echo "usage: fuzz.sh build | list | run TARGET SECONDS" >&2; exit 2 ;;
esac
