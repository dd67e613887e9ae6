# SPDX-FileCopyrightText: the ropecache authors
# SPDX-License-Identifier: Apache-2.0
"""bench: every section runs, counts what it promises to count, and says under what it was measured. No test of speed."""

import xml.etree.ElementTree

from support import CliTest

BRIEF = ("--seconds", "0.0001", "--threads", 1)


class Bench(CliTest):
    def measure(self, section, *arguments):
        result = self.run_cli("bench", "--section", section, *BRIEF, "--json", *arguments)
        if b"built without" in result.stderr:
            self.skipTest("no Google Benchmark")
        return self.json_of("bench", "--section", section, *BRIEF, *arguments)

    def check(self, found):
        self.assertTrue(found)
        for one in found:
            self.assertEqual(one["schema"], "ropecache.bench/1")
            self.assertGreater(one["figure"], 0)
            self.assertGreater(one["limit"], 0)
            self.assertAlmostEqual(one["ratio"], one["limit"] / one["figure"], places=9)
            self.assertTrue(one["against"])
            self.assertIn(one["machine"]["target"], one["machine"]["targets"])
            self.assertEqual(one["target"], one["machine"]["target"])

    def test_rows(self):
        found = self.measure("rows")
        self.check(found)
        self.assertEqual([one["tokens"] for one in found], [0, 1, 512])
        self.assertLessEqual(found[0]["table_bytes"], 2.1 * 2**20)

    def test_rotate_measures_every_type_and_pairing(self):
        found = self.measure("rotate", "--target", "scalar", "--tokens", 1, "--tokens", 64)
        self.check(found)
        cases = {(one["tokens"], one["dtype"], one["pairing"]) for one in found}
        self.assertEqual(len(found), 12)
        self.assertEqual(len(cases), 12)
        self.assertEqual({one["target"] for one in found}, {"scalar"})

    def test_decoding_builds_and_allocates_nothing(self):
        found = self.measure("decode")
        self.check(found)
        ours = [one for one in found if one["what"] == "ropecache"]
        self.assertEqual([one["context"] for one in ours], [16384, 32768, 65536])
        for one in ours:
            self.assertEqual((one["builds"], one["allocations"]), (0, 0))
            self.assertEqual(one["peak_bytes"], one["resident_bytes"])
        self.assertLess(max(one["peak_bytes"] for one in ours) - min(one["peak_bytes"] for one in ours), 2**17)
        for one in found:
            if one["what"] == "rebuilding":
                self.assertEqual(one["builds"], one["warm_steps"])
                self.assertGreaterEqual(one["peak_bytes"], one["context"] * 64 * 4)

    def test_growth_and_its_chart(self):
        chart = self.folder / "growth.svg"
        found = self.measure("growth", "--svg", chart)
        self.assertEqual({one["parameter"] for one in found}, {"tokens", "heads", "layers", "context", "distinct ropes"})
        for one in found:
            self.assertEqual(len(one["x"]), len(one["figure"]))
        text = chart.read_text()
        xml.etree.ElementTree.fromstring(text)
        self.assertEqual(text.count("http"), 1)  # the name space: nothing is fetched
        self.assertIn("prefers-color-scheme: dark", text)
        for one in found:
            if one["unit"] == "s":
                self.assertIn(f"Time against {one['parameter']}", text)

    def test_bad_options(self):
        self.assertIn("nosuch", self.refuse("bench", "--section", "nosuch"))
        self.assertIn("--threads", self.refuse("bench", "--threads", 0))
        if b"built without" in self.run_cli("bench", "--section", "rows", *BRIEF).stderr:
            self.skipTest("no Google Benchmark")
        self.assertIn("avx9", self.refuse("bench", "--target", "avx9"))
        self.assertIn("cannot be written", self.refuse("bench", "--section", "rows", *BRIEF, "--svg", self.folder / "no" / "file.svg"))
