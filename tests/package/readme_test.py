# SPDX-FileCopyrightText: the ropecache authors
# SPDX-License-Identifier: Apache-2.0
"""The C++ in README.md is the marked text of examples/*.cc, which is compiled and run: readme_test.py ROOT"""

import re
import sys
from pathlib import Path

MARKED = re.compile(r"^// \[begin (\w+)\]\n(.*?)^// \[end \1\]$", re.MULTILINE | re.DOTALL)
FENCED = re.compile(r"^```cpp\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def main(root):
    regions = {}
    for path in sorted((root / "examples").glob("*.cc")):
        regions.update((text, f"{path.name}: {name}") for name, text in MARKED.findall(path.read_text()))
    readme = (root / "README.md").read_text()
    blocks = FENCED.findall(readme)
    if readme.count("```cpp") != len(blocks):
        sys.exit("README.md: a cpp block that does not start its line, or does not end")
    if not any(regions.get(block, "").endswith(": quickstart") for block in blocks):
        sys.exit("README.md: no cpp block holds the marked text of examples/quickstart.cc")
    for number, block in enumerate(blocks, 1):
        if block not in regions:
            sys.exit(f"README.md: cpp block {number} is no marked text of examples/*.cc:\n{block}")
        print(f"README.md: cpp block {number} is {regions[block]}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
