# SPDX-FileCopyrightText: the ropecache authors
# SPDX-License-Identifier: Apache-2.0
"""Runs tests of the command line: `run.py --list` names them, `run.py test_plan.Text.test_...` runs some.

Nothing but the standard library. No test at all is a failure; 77 says that what was asked for was skipped.
"""

import pathlib
import sys
import unittest

FOLDER = pathlib.Path(__file__).parent
sys.path.insert(0, str(FOLDER))


def names(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from names(test)
        else:
            yield test.id()


def main():
    loader = unittest.defaultTestLoader
    if sys.argv[1:] == ["--list"]:
        found = list(names(loader.discover(str(FOLDER))))
        assert found and not loader.errors, loader.errors
        print("\n".join(found))
        return 0
    suite = loader.loadTestsFromNames(sys.argv[1:])
    result = unittest.TextTestRunner(verbosity=1).run(suite)
    if not result.wasSuccessful() or result.testsRun == 0:
        return 1
    return 77 if result.skipped else 0


if __name__ == "__main__":
    sys.exit(main())
