# SPDX-FileCopyrightText: the ropecache authors
# SPDX-License-Identifier: Apache-2.0
"""Installs the build to a fresh folder, moves it, and builds somebody else's project against it, by CMake and by
pkg-config. Nothing but the installed folder may be needed."""

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CONSUMER = Path(__file__).parent / "consumer"


def run(*command, **options):
    result = subprocess.run([str(part) for part in command], text=True, capture_output=True, **options)
    if result.returncode != 0:
        sys.exit(f"failed: {' '.join(map(str, command))}\n{result.stdout}{result.stderr}")
    return result.stdout.strip()


def expect(found, wanted, what):
    if found != wanted:
        sys.exit(f"{what}: {found!r}, expected {wanted!r}")


def check_contents(prefix):
    headers = {path.name for path in (prefix / "include" / "ropecache").iterdir()}
    sources = {path.name for path in (Path(__file__).parents[2] / "include" / "ropecache").glob("*.h")}
    expect(headers, sources, "installed headers")
    for path in prefix.rglob("*"):
        if path.suffix in (".cmake", ".pc", ".h") and "nlohmann" in path.read_text():
            sys.exit(f"{path}: names a private dependency")


def by_cmake(args, prefix, work):
    build = work / "by-cmake"
    run(args.cmake, "-S", CONSUMER, "-B", build, "-G", args.generator, f"-DCMAKE_CXX_COMPILER={args.compiler}",
        f"-DCMAKE_PREFIX_PATH={prefix}", f"-DWITH_MODEL={'ON' if args.model else 'OFF'}",
        f"-DWANTED_VERSION={args.version.rsplit('.', 1)[0]}", "-DCMAKE_BUILD_TYPE=Release")
    run(args.cmake, "--build", build)
    for program in ["core"] + ["with_model"] * args.model:
        expect(run(build / program), args.version, f"{program} by CMake")
    # Another minor version may have another interface: it is not taken for this one.
    major, minor, _ = args.version.split(".")
    other = subprocess.run([args.cmake, "-S", CONSUMER, "-B", work / "other", "-G", args.generator,
                            f"-DCMAKE_CXX_COMPILER={args.compiler}", f"-DCMAKE_PREFIX_PATH={prefix}",
                            f"-DWANTED_VERSION={major}.{int(minor) + 1}"], text=True, capture_output=True)
    if other.returncode == 0 or "compatible with requested version" not in other.stderr:
        sys.exit(f"a package of version {args.version} was taken for another one\n{other.stderr}")


def by_pkg_config(args, prefix, work):
    folder = next(prefix.rglob("ropecache.pc")).parent
    environment = dict(os.environ, PKG_CONFIG_PATH=str(folder))
    for program, package in [("core", "ropecache")] + [("with_model", "ropecache_model")] * args.model:
        expect(run(args.pkg_config, "--modversion", package, env=environment), args.version, f"{package}.pc")
        flags = shlex.split(run(args.pkg_config, "--cflags", "--libs", package, env=environment))
        target = work / f"{program}-by-pkg-config"
        run(args.compiler, "-std=c++20", CONSUMER / f"{program}.cc", *flags, "-o", target)
        loading = dict(os.environ, LD_LIBRARY_PATH=str(folder.parent))
        expect(run(target, env=loading), args.version, f"{program} by pkg-config")


def main():
    parser = argparse.ArgumentParser()
    for option in ("cmake", "build", "generator", "compiler", "version"):
        parser.add_argument(f"--{option}", required=True)
    parser.add_argument("--pkg-config")
    parser.add_argument("--model", action="store_true")
    parser.add_argument("--cli", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder).resolve()
        prefix = work / "moved"
        run(args.cmake, "--install", args.build, "--prefix", work / "installed")
        shutil.move(work / "installed", prefix)
        check_contents(prefix)
        by_cmake(args, prefix, work)
        if args.pkg_config:
            by_pkg_config(args, prefix, work)
        if args.cli:
            run(prefix / "bin" / "ropecache", "--version")


if __name__ == "__main__":
    main()
