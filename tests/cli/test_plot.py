# SPDX-FileCopyrightText: the ropecache authors
# SPDX-License-Identifier: Apache-2.0
"""plot: one self-contained SVG that holds what it says."""

import json
import math
import os
import re
import xml.etree.ElementTree

from support import MODELS, CliTest, model

SVG = "{http://www.w3.org/2000/svg}"


class Plot(CliTest):
    def draw(self, path, *arguments):
        out = self.folder / "out.svg"
        self.assertEqual(self.succeed("plot", path, "-o", out, *arguments), "")
        text = out.read_text()
        self.assertEqual(text.count("http"), 1)  # the name space: nothing is fetched
        self.assertIn("prefers-color-scheme: dark", text)
        return text, xml.etree.ElementTree.fromstring(text)

    def points(self, root, name):
        """The values behind the points of all series of a name, panel by panel."""
        found = []
        for circle in root.iter(f"{SVG}circle"):
            label, _, values = circle.find(f"{SVG}title").text.rpartition(": ")
            if label == name:
                found.append(tuple(float(v) for v in values.split(", ")))
        return found

    def texts(self, root):
        return [text.text for text in root.iter(f"{SVG}text")]

    def test_wavelengths_are_those_of_the_formula(self):
        _, root = self.draw(model("llama-3.1-8b"))
        plain = self.points(root, "without the rule")
        self.assertEqual(len(plain), 64)
        for pair, wavelength in plain:
            self.assertAlmostEqual(wavelength / (2 * math.pi * 500000 ** (pair / 64)), 1, places=4)
        for (pair, scaled), (_, unscaled) in zip(self.points(root, "as resolved"), plain):
            turns = 8192 / unscaled
            if turns > 4:
                self.assertAlmostEqual(scaled / unscaled, 1, places=4)
            elif turns < 1:
                self.assertAlmostEqual(scaled / unscaled, 8, places=3)
            else:
                self.assertTrue(1 <= scaled / unscaled <= 8)
        for band in ("kept", "between", "x8", "context 131072"):
            self.assertIn(band, self.texts(root))

    def test_exact_stays_within_half_a_unit_and_recipes_do_not(self):
        _, root = self.draw(model("llama-3.1-8b"))
        for position, error in self.points(root, "exact"):
            self.assertLessEqual(error, 2**-25 * 1.0001, position)
        for recipe in ("fp32", "ggml"):
            errors = dict(self.points(root, recipe))
            self.assertGreater(errors[2**20], 1e-3)
            self.assertLess(errors[16], 1e-5)

    def test_memory_is_that_of_plan(self):
        path = model("llama-3.1-8b")
        _, root = self.draw(path)
        for name, key in (("a table per layer", "per_layer"), ("ropecache", "shared")):
            for context, count in self.points(root, name):
                planned = self.json_of("plan", path, "--context", int(context))["bytes"][key]
                self.assertAlmostEqual(count / planned, 1, places=5)

    def test_a_panel_for_each_rope_and_each_regime(self):
        _, root = self.draw(model("gemma-3-4b"))
        self.assertEqual(sum(text.startswith("Wavelength: ") for text in self.texts(root)), 2)
        _, root = self.draw(model("phi-3.5-mini"))
        self.assertEqual(len(self.points(root, "beyond 4096")), 48)
        dynamic = self.config(rope_scaling={"type": "dynamic", "factor": 2.0})
        _, root = self.draw(dynamic)
        self.assertEqual(len(self.points(root, "at length 32768")), 64)

    def test_every_model_is_drawn(self):
        for path in sorted(path for path in MODELS.iterdir() if path.suffix == ".json"):
            with self.subTest(path.name):
                ropes = self.json_of("plan", path)["ropes"]
                if not ropes:
                    self.assertIn("nothing to draw", self.refuse("plot", path))
                    continue
                _, root = self.draw(path)
                titles = [text for text in self.texts(root) if text.startswith("Wavelength: ")]
                self.assertEqual(len(titles), len({rope["key"] for rope in ropes}))

    def test_equal_input_equal_bytes_and_standard_output(self):
        path = model("gpt-oss-20b")
        text, _ = self.draw(path)
        self.assertEqual(text, self.draw(path)[0])
        self.assertEqual(text, self.succeed("plot", path))

    def test_names_out_of_files_are_only_text(self):
        path = self.config("a<b>&\"c.json", model_type="<script>alert(1)</script>")
        text, root = self.draw(path)
        self.assertNotIn("<script", text)
        self.assertIn("<script>", root.find(f"{SVG}title").text)

    def test_what_cannot_be_drawn_or_written(self):
        self.assertIn("nothing to draw", self.refuse("plot", self.config(model_type="gpt2", rope_theta=None)))
        path = model("llama-2-7b")
        self.assertIn("cannot be written", self.refuse("plot", path, "-o", self.folder))
        self.assertIn("cannot be written", self.refuse("plot", path, "-o", self.folder / "no" / "x.svg"))
        if os.path.exists("/dev/full"):
            self.assertIn("written whole", self.refuse("plot", path, "-o", "/dev/full"))
