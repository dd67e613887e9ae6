# Sourced by the other scripts: the checkout, the cache folder, a compiler cache where there is one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cache="${XDG_CACHE_HOME:-$HOME/.cache}/ropecache"
jobs="${JOBS:-$(nproc)}"
if command -v ccache >/dev/null; then export CMAKE_CXX_COMPILER_LAUNCHER=ccache; fi

# configure_and_build PRESET [TARGET...]: quiet unless it fails.
configure_and_build() {
  local preset=$1 log
  shift
  log=$(mktemp)
  if ! { cmake --preset "$preset" && cmake --build --preset "$preset" -j "$jobs" ${1:+--target "$@"}; } >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    echo "build of preset $preset failed" >&2
    return 1
  fi
  rm -f "$log"
}
