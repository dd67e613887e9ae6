#!/usr/bin/env bash
# test.sh PRESET [FOLDER]: builds the preset and runs its tests, or those of build/PRESET/FOLDER only.
# The last line is "N passed, N failed"; no test at all is a failure.
source "$(dirname "$0")/common.sh"
scripts/setup.sh

preset=${1:-release}
folder="build/$preset${2:+/$2}"
echo "== $preset: build"
configure_and_build "$preset" ${2:+"$2/all"}

echo "== $preset: tests${2:+ of $2}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
ctest --test-dir "$folder" -j "$jobs" --output-on-failure --no-tests=error --timeout 600 >"$log" 2>&1 || status=$?
grep -vE ' Passed +[0-9.]+ sec$|^ *Start +[0-9]+:|^$' "$log" || true

# ctest: "93% tests passed, 2 tests failed out of 30"
summary=$(grep -oE '[0-9]+ tests? failed out of [0-9]+' "$log" | tail -n 1 || true)
failed=$(cut -d' ' -f1 <<<"$summary")
total=$(awk '{print $NF}' <<<"$summary")
if [ -z "$summary" ] || [ "$total" -eq 0 ]; then
  echo "no test ran"
  echo "0 passed, 1 failed"
  exit 1
fi
skipped=$(grep -cE '^\s+[0-9]+ - .*\(Skipped\)$' "$log" || true)
[ "$skipped" -eq 0 ] || echo "$skipped did not run here, see above; they count as neither"
echo "$((total - failed - skipped)) passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$status" -eq 0 ]
