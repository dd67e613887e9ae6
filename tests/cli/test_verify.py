# SPDX-FileCopyrightText: the ropecache authors
# SPDX-License-Identifier: Apache-2.0
"""verify: it holds on this machine, counts what it checked, and says under which parameters."""

from support import CliTest, model

QUICK = ("--samples", 500)
FIXED_POSITIONS = 2 * 256 + 1 + 2 * (3 * 23 + 1)  # |p| <= 256, and 2^8 .. 2^31 with their neighbours, both signs


class Verify(CliTest):
    def lines(self, name, *arguments):
        lines = self.json_of("verify", model(name), *QUICK, *arguments)
        for line in lines:
            self.assertEqual(line["schema"], "ropecache.verify/1")
            self.assertTrue(line["holds"])
            self.assertEqual(line["wrong"], 0)
            self.assertGreater(line["values"], 0)
        return lines

    def of(self, lines, measurement):
        return [line for line in lines if line["measurement"] == measurement]

    def test_rows_of_every_kind_of_rule(self):
        for name in ("llama-2-7b-32k", "llama-3.1-8b", "gpt-oss-20b", "hunyuan-7b", "gemma-4-e4b", "qwen3-vl-4b"):
            with self.subTest(name):
                for line in self.of(self.lines(name, "--kernels", "none"), "rows"):
                    self.assertEqual(line["profile"], "exact")
                    self.assertEqual(line["positions"], 500 + FIXED_POSITIONS)
                    self.assertEqual(line["values"], line["positions"] * line["pairs"] * 2)
                    self.assertLessEqual(float(line["worst_ulp"]), 0.5)
                    self.assertGreater(float(line["worst_ulp"]), 0.49)

    def test_frequencies_agree_to_the_last_bits(self):
        for line in self.of(self.lines("deepseek-v3", "--kernels", "none"), "frequencies"):
            self.assertGreaterEqual(int(line["agreeing_bits"]), 191)
            self.assertEqual(line["values"], 33)  # and the magnitude

    def test_rules_by_length_are_checked_beyond_their_context(self):
        dynamic = self.config(max_position_embeddings=8192, rope_scaling={"type": "dynamic", "factor": 2.0})
        lines = self.of(self.json_of("verify", dynamic, *QUICK, "--kernels", "none"), "rows")
        self.assertEqual([line["length"] for line in lines], [None, 8193, 32768])
        self.assertEqual(len({line["key"] for line in lines}), 3)
        lines = self.of(self.json_of("verify", model("phi-3.5-mini"), *QUICK, "--kernels", "none"), "rows")
        self.assertEqual([line["length"] for line in lines], [None, 4097])
        text = self.succeed("verify", model("phi-3.5-mini"), *QUICK, "--kernels", "none")
        self.assertRegex(text, r"what +layers +length +table")
        self.assertRegex(text, r"rows +0-31 +4097 ")
        self.assertNotIn("length", self.succeed("verify", model("smollm2-135m"), *QUICK))

    def test_nothing_to_check_is_said_so(self):
        path = self.config(model_type="gpt2", rope_theta=None)
        self.assertIn("nothing to check", self.succeed("verify", path))
        none = {"schema": "ropecache.verify/1", "measurement": "none", "values": 0, "wrong": 0, "warnings": []}
        self.assertEqual(self.json_of("verify", path), [none])

    def test_warnings_are_those_of_plan(self):
        odd = self.config(model_type="lama9")
        (warning,) = self.json_of("plan", odd)["warnings"]
        for line in self.json_of("verify", odd, *QUICK, "--kernels", "none"):
            self.assertEqual(line["warnings"], [warning])
        self.assertIn(f"warning: {warning}", self.succeed("verify", odd, *QUICK, "--kernels", "none"))

    def test_recipes(self):
        for profile in ("fp32", "ggml"):
            for name in ("gpt-oss-20b", "llama-3.2-1b"):
                (line,) = self.of(self.lines(name, "--profile", profile, "--kernels", "none"), "rows")
                self.assertEqual(line["profile"], profile)

    def test_both_regimes_of_longrope(self):
        lines = self.lines("phi-3.5-mini", "--kernels", "none")
        self.assertEqual([line["length"] for line in self.of(lines, "rows")], [None, 4097])
        self.assertEqual(len({line["key"] for line in lines}), 2)

    def test_one_table_is_verified_once(self):
        lines = self.lines("glm-5", "--kernels", "own")
        keys = [line["key"] for line in self.of(lines, "rows")]
        self.assertEqual(len(keys), len(set(keys)))

    def test_own_kernels(self):
        kernels = self.of(self.lines("deepseek-v4-flash", "--kernels", "own"), "kernels")
        self.assertEqual({line["dtype"] for line in kernels}, {"f32", "bf16", "f16"})
        self.assertEqual(
            {(k["role"], k["pairing"], k["head_dim"], k["rotary_offset"]) for k in kernels},
            {("attention", "interleaved", 512, 448), ("indexer", "interleaved", 128, 64)},
        )

    def test_all_kernels(self):
        kernels = self.of(self.lines("smollm2-135m", "--kernels", "all"), "kernels")
        self.assertEqual({line["pairing"] for line in kernels}, {"half", "interleaved"})
        self.assertEqual(len({(k["head_dim"], k["rotary_offset"]) for k in kernels}), 3)
        self.assertTrue(all(line["target"] for line in kernels))

    def test_text(self):
        text = self.succeed("verify", model("smollm2-135m"), *QUICK)
        self.assertRegex(text, r"^holds: .*smollm2-135m.json: \d+ values checked, 0 wrong\n")
        self.assertIn("worst error 0.4", text)
        self.assertIn("bit-equal", text)

    def test_limits_of_samples(self):
        self.refuse("verify", model("smollm2-135m"), "--samples", -1)
        self.refuse("verify", model("smollm2-135m"), "--samples", 2**40)
