# SPDX-FileCopyrightText: the ropecache authors
# SPDX-License-Identifier: Apache-2.0
"""docs/cases.md is complete, and every test that it names exists: cases_test.py SOURCE_FOLDER."""

import collections
import pathlib
import re
import sys

ROW = re.compile(r"^\| ([BU]\d+) \| (.+) \| (.+) \| (.+) \|$")
NAMED = re.compile(r"`(\w+)` \((tests/[\w./-]+)\)")
NUMBERS = re.compile(r"(?<![A-Za-z0-9])[BU]\d+(?![A-Za-z0-9])")
# What later parts there are; a row that waits must name one.
PARTS = ("PyTorch adapter", "Megatron adapter", "ggml adapter", "CUDA", "C ABI")
# Where a name is a test: TEST(Suite, name), def name(self), or the first string of a row in a table of cases.
TESTS = {
    ".cc": re.compile(r'^\s*(?:TEST(?:_P|_F)?\(\w+, (\w+)\)|\{"(\w+)",)', re.MULTILINE),
    ".py": re.compile(r"^\s*def (test_\w+)\(self\)", re.MULTILINE),
}


def numbers_of(name):
    return NUMBERS.findall(name.replace("_", " "))


def tests_of(path):
    return {next(filter(None, match.groups())) for match in TESTS[path.suffix].finditer(path.read_text())}


def check_row(number, here, root, problems):
    named = NAMED.findall(here)
    for name, file in named:
        path = root / file
        if not path.is_file():
            problems.append(f"{number}: {file} is not there")
        elif name not in tests_of(path):
            problems.append(f"{number}: {file} has no test {name}")
    if named and not any(number in numbers_of(name) for name, _ in named):
        problems.append(f"{number}: none of its tests has the number in its name")
    waits = "later: " in here
    if waits and not any(f"later: {part}" in here for part in PARTS):
        problems.append(f"{number}: later, but in which of {', '.join(PARTS)}?")
    if not named and not waits and not here.startswith("impossible: "):
        problems.append(f"{number}: neither a test nor 'impossible: ...' nor 'later: ...'")


def main():
    root = pathlib.Path(sys.argv[1])
    expected = [line for line in (root / "tests/data/cases.txt").read_text().splitlines() if not line.startswith("#")]
    rows = [match.groups() for match in map(ROW.match, (root / "docs/cases.md").read_text().splitlines()) if match]
    problems = []
    found = collections.Counter(number for number, *_ in rows)
    for number in expected:
        if found[number] != 1:
            problems.append(f"{number}: {found[number]} rows, expected 1")
    problems += [f"{number}: not in tests/data/cases.txt" for number in found if number not in expected]
    for number, _, _, here in rows:
        check_row(number, here, root, problems)
    # The other way round: a number in the name of a test is one of the list.
    files = sorted(path for path in (root / "tests").rglob("*") if path.suffix in TESTS)
    carried = [(path, name) for path in files for name in sorted(tests_of(path)) if numbers_of(name)]
    for path, name in carried:
        for number in numbers_of(name):
            if number not in expected:
                problems.append(f"{path.relative_to(root)}: {name}: {number} is not in tests/data/cases.txt")
    if len(expected) < 100 or len(carried) < 100:
        problems.append(f"{len(expected)} numbers and {len(carried)} tests: the search finds too little")
    print("\n".join(problems) or f"{len(rows)} rows, {len(carried)} tests with a number")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
