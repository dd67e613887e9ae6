# SPDX-FileCopyrightText: the ropecache authors
# SPDX-License-Identifier: Apache-2.0
"""dump: every bit of the golden tables, positions and ranges, profiles, axes."""

import struct

from support import GOLDEN, CliTest, layer_list, model


def users_of(table):
    """(model, first layer, group id) of each group that uses a golden table."""
    return [
        (entry["model"], layer_list(group["layers"])[0], group["id"])
        for entry in GOLDEN["models"]
        for group in entry["groups"]
        if group["table"] == table
    ]


class GoldenRows(CliTest):
    """One test a table, added below."""

    def check_table(self, table):
        users = users_of(table["id"])
        self.assertTrue(users)
        positions = ",".join(str(row["position"]) for row in table["rows"])
        for name, layer, group in users:
            length = ["--length", 4097] if group.endswith(":long") else []
            dump = self.json_of("dump", model(name), "--layer", layer, "--positions", positions, *length)
            self.assertEqual(dump["rows"], table["rows"], name)
            self.assertEqual(dump["pairs"], len(table["frequency"]))

    def test_equal_content_is_one_key(self):
        keys = {
            self.json_of("dump", model(name), "--layer", layer, "--positions", "0")["key"]
            for name, layer, _ in users_of("t023")
        }
        self.assertEqual(len(keys), 1)


for one in GOLDEN["tables"]:
    setattr(GoldenRows, f"test_{one['id']}", lambda self, one=one: self.check_table(one))


class Positions(CliTest):
    def rows(self, *arguments):
        return self.json_of("dump", model("llama-3.2-1b"), "--layer", 0, *arguments)["rows"]

    def test_ranges_and_negative_numbers(self):
        rows = self.rows("--positions", "-3--1,0,5,4095-4097")
        self.assertEqual([row["position"] for row in rows], [-3, -2, -1, 0, 5, 4095, 4096, 4097])

    def test_negative_position_is_the_mirror_image(self):
        back, ahead = self.rows("--positions", "-77,77")
        self.assertEqual(back["cos"], ahead["cos"])
        flipped = [f"{int(bits, 16) ^ 0x80000000:08x}" for bits in ahead["sin"]]
        self.assertEqual(back["sin"], flipped)

    def test_both_ends_of_the_range(self):
        rows = self.rows("--positions", "-2147483647,2147483647")
        self.assertEqual(len(rows), 2)

    def test_what_is_no_position(self):
        for text in ("", ",", "1,", "x", "1-", "5-3", "1.5", "2147483648", "-2147483648", "1--", "99999999999999999999"):
            with self.subTest(text):
                error = self.refuse("dump", model("llama-3.2-1b"), "--layer", 0, "--positions", text)
                self.assertIn("positions", error)

    def test_too_many_rows(self):
        for text in ("0-4096", "0-2147483647", "0-4095,1"):
            error = self.refuse("dump", model("llama-3.2-1b"), "--layer", 0, "--positions", text)
            self.assertIn("4096 rows at most", error)
        self.assertEqual(len(self.rows("--positions", "1-4096")), 4096)

    def test_positions_are_required_and_exclusive(self):
        self.refuse("dump", model("llama-3.2-1b"), "--layer", 0)
        self.refuse("dump", model("llama-3.2-1b"), "--layer", 0, "--positions", 1, "--axis-positions", "1")


class Profiles(CliTest):
    def test_profiles_differ_where_their_arithmetic_does(self):
        rows = {}
        for profile in ("exact", "fp32", "ggml"):
            dump = self.json_of(
                "dump", model("llama-2-7b"), "--layer", 0, "--positions", "0,131071", "--profile", profile
            )
            self.assertEqual(dump["profile"], profile)
            rows[profile] = dump["rows"]
        self.assertEqual(rows["exact"][0], rows["fp32"][0])
        self.assertEqual(rows["exact"][0], rows["ggml"][0])
        self.assertNotEqual(rows["exact"][1], rows["fp32"][1])
        self.assertNotEqual(rows["fp32"][1], rows["ggml"][1])

    def test_fp32_angle_is_the_product_of_two_floats(self):
        # Pair 0 has frequency 1: the position itself, rounded to fp32. 2^24 + 1 is not a float, 2^24 is.
        odd, even = self.json_of(
            "dump", model("llama-2-7b"), "--layer", 0, "--positions", "16777217,16777216", "--profile", "fp32"
        )["rows"]
        self.assertEqual(odd["cos"][0], even["cos"][0])

    def test_unknown_profile(self):
        error = self.refuse("dump", model("llama-2-7b"), "--layer", 0, "--positions", 0, "--profile", "fast")
        self.assertIn("fast", error)
        self.assertIn("exact", error)


class Axes(CliTest):
    def test_each_pair_follows_its_axis(self):
        path = model("qwen2-vl-7b")
        (row,) = self.json_of("dump", path, "--layer", 0, "--axis-positions", "5,900,31")["rows"]
        self.assertEqual(row["positions"], [5, 900, 31])
        plain = self.json_of("dump", path, "--layer", 0, "--positions", "5,900,31")["rows"]
        for first, last, axis in ((0, 16, 0), (16, 40, 1), (40, 64, 2)):
            self.assertEqual(row["cos"][first:last], plain[axis]["cos"][first:last])
            self.assertEqual(row["sin"][first:last], plain[axis]["sin"][first:last])

    def test_one_id_for_each_axis(self):
        error = self.refuse("dump", model("qwen2-vl-7b"), "--layer", 0, "--axis-positions", "5,900")
        self.assertIn("expected 3 positions", error)


class Layers(CliTest):
    def test_layer_without_a_rope(self):
        error = self.refuse("dump", model("llama-4-scout"), "--layer", 3, "--positions", 0)
        self.assertIn("--layer: 3: expected a layer with a rope of role attention: 0-2,4-6", error)

    def test_layer_outside_the_model(self):
        for layer in (32, -1, 2**31):
            self.assertIn("layer", self.refuse("dump", model("llama-2-7b"), "--layer", layer, "--positions", 0))

    def test_role_chooses_among_the_ropes_of_a_layer(self):
        path = model("glm-5")
        for role in ("attention", "indexer"):
            dump = self.json_of("dump", path, "--layer", 0, "--role", role, "--positions", 1)
            self.assertEqual(dump["pairs"], 32)
        self.assertIn("vision", self.refuse("dump", path, "--layer", 0, "--role", "vision", "--positions", 1))


class Text(CliTest):
    def test_decimals_are_the_bits(self):
        text = self.succeed("dump", model("gpt-oss-20b"), "--layer", 1, "--positions", "4095")
        lines = [line.split() for line in text.splitlines() if line.strip()[:1].isdigit()]
        self.assertEqual(len(lines), 32)
        for _, _, cos, cos_bits, sin, sin_bits in lines:
            for decimal, bits in ((cos, cos_bits), (sin, sin_bits)):
                self.assertEqual(struct.pack(">f", float(decimal)).hex(), bits)

    def test_warnings_are_those_of_plan(self):
        odd = self.config(model_type="lama9")
        (warning,) = self.json_of("plan", odd)["warnings"]
        asked = ("dump", odd, "--layer", 0, "--positions", 1)
        self.assertEqual(self.json_of(*asked)["warnings"], [warning])
        self.assertTrue(self.succeed(*asked).endswith(f"\n\nwarning: {warning}\n"))
        self.assertEqual(self.json_of("dump", self.config(), "--layer", 0, "--positions", 1)["warnings"], [])
