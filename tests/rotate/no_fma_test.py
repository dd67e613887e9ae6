# SPDX-FileCopyrightText: the ropecache authors
# SPDX-License-Identifier: Apache-2.0
"""The kernels hold no fused multiply-add: no_fma_test.py OBJDUMP COMPILER OBJECT..."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

# x86: vfmadd132ps, vfmsub..., vfnmadd..., vfmaddsub...; Arm: fmadd, fmsub, fnmadd, fmla, fmls.
FUSED = re.compile(r"v?fn?m(add|sub)\w*|fml[as]\w*|vfm[as]\w*")
MULTIPLY = re.compile(r"v?mul[sp]s|fmul|vmul\w*")

CONTROL = "float fused(float a, float b, float c) { return a * b + c; }\n"


def mnemonics(objdump, path):
    listing = subprocess.run([objdump, "-d", "--no-show-raw-insn", path], check=True, capture_output=True, text=True)
    lines = (line.split("\t") for line in listing.stdout.splitlines())
    return [fields[1].split()[0] for fields in lines if len(fields) > 1 and fields[1].strip()]


def count(names, pattern):
    return sum(1 for name in names if pattern.fullmatch(name))


def control(objdump, compiler):
    """Fused instructions in a program that asks for one."""
    machine = subprocess.run([compiler, "-dumpmachine"], check=True, capture_output=True, text=True).stdout
    flags = ["-mfma"] if machine.startswith(("x86_64", "i686")) else []
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "control.cc"
        source.write_text(CONTROL)
        target = str(source.with_suffix(".o"))
        subprocess.run([compiler, "-O2", "-ffp-contract=fast", *flags, "-c", str(source), "-o", target], check=True)
        return count(mnemonics(objdump, target), FUSED)


def main(objdump, compiler, *objects):
    failures = []
    if control(objdump, compiler) == 0:
        failures.append("the control program shows no fused multiply-add: this test sees nothing")
    multiplications = 0
    for path in objects:
        names = mnemonics(objdump, path)
        multiplications += count(names, MULTIPLY)
        fused = count(names, FUSED)
        if fused:
            failures.append(f"{path}: {fused} fused multiply-adds")
    if multiplications == 0:
        failures.append(f"no multiplication in {len(objects)} objects: these are not the kernels")
    print("\n".join(failures) or f"{multiplications} multiplications, none fused")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
