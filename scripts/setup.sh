#!/usr/bin/env bash
# Installs by apt what building and testing need and is missing here; says what. Nothing to do: quick and silent.
# `setup.sh ci` adds clang. Elsewhere than on Debian and its kin: names what is needed and goes on.
set -euo pipefail

packages=(
  cmake g++ make ninja-build git ca-certificates python3 python3-venv
  libhwy-dev libgtest-dev libmpfr-dev libgmp-dev libcli11-dev libfmt-dev nlohmann-json3-dev libbenchmark-dev pkg-config
)
[ "${1:-}" = ci ] && packages+=(clang-14 clang libclang-rt-14-dev)

if ! command -v dpkg-query >/dev/null; then
  echo "setup: no apt here; needed are: ${packages[*]}"
  exit 0
fi

missing=()
for package in "${packages[@]}"; do
  state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$state" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "setup: as root: apt-get install ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
echo "setup: installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
