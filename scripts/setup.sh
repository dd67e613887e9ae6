#!/usr/bin/env bash
# Installs by apt what building and testing need and is missing here; says what. Nothing to do: quick and silent.
# `setup.sh ci` adds clang, `setup.sh aarch64` a cross-compiler, qemu and the libraries for arm64. Elsewhere than on Debian and its kin: names what is needed and goes on.
set -euo pipefail

packages=(
  cmake g++ make ninja-build git ca-certificates python3 python3-venv
  libhwy-dev libgtest-dev libmpfr-dev libgmp-dev libcli11-dev libfmt-dev nlohmann-json3-dev libbenchmark-dev pkg-config
)
case "${1:-}" in
  ci) packages+=(clang-14 clang libclang-rt-14-dev) ;;
  aarch64)
    packages+=(g++-aarch64-linux-gnu qemu-user libhwy-dev:arm64 libgtest-dev:arm64 libmpfr-dev:arm64 libgmp-dev:arm64)
    ;;
esac

if ! command -v dpkg-query >/dev/null; then
  echo "setup: no apt here; needed are: ${packages[*]}"
  exit 0
fi

missing=()
for package in "${packages[@]}"; do
  # Of one architecture: without one, names that are installed for two are ambiguous.
  [[ $package == *:* ]] && name=$package || name=$package:$(dpkg --print-architecture)
  state=$(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null ||
    dpkg-query -W -f='${db:Status-Status}' "$package:all" 2>/dev/null || true)
  [ "$state" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "setup: as root: apt-get install ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
echo "setup: installing ${missing[*]}"
[[ ${missing[*]} == *:arm64* ]] && "${as_root[@]}" dpkg --add-architecture arm64
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
