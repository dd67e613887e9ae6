# SPDX-FileCopyrightText: the ropecache authors
# SPDX-License-Identifier: Apache-2.0
"""diff: what differs, from where on it shows, and what is only another way to write the same."""

import json
import math

from support import CliTest, llama_keys, model


class Configs(CliTest):
    def diff(self, a, b, *arguments, equal):
        found = self.json_of("diff", a, b, *arguments, exit_status=0 if equal else 1)
        self.assertEqual(found["equal"], equal)
        self.assertEqual(found["schema"], "ropecache.diff/1")
        return found

    def fields(self, difference):
        return {field["field"]: (field["a"], field["b"]) for field in difference["fields"]}

    def first_by_search(self, a, b):
        """The first position at which a cosine of layer 0 differs by more than 1e-3, one after the other."""
        left, right = (
            [float(f) for f in self.json_of("plan", path)["ropes"][0]["frequencies"]] for path in (a, b)
        )
        for p in range(1 << 20):
            if any(abs(math.cos(p * x) - math.cos(p * y)) > 1e-3 for x, y in zip(left, right) if x != y):
                return p
        self.fail("not found")

    def test_a_model_equals_itself(self):
        for name in ("llama-3.1-8b", "gemma-3-4b", "phi-3.5-mini", "qwen3-vl-4b", "deepseek-v4-flash"):
            with self.subTest(name):
                found = self.diff(model(name), model(name), equal=True)
                self.assertEqual((found["differences"], found["notes"]), ([], []))

    def test_llama_3_and_3_1(self):
        a, b = model("llama-3-8b"), model("llama-3.1-8b")
        (difference,) = self.diff(a, b, equal=False)["differences"]
        self.assertEqual(difference["layers"], list(range(32)))
        self.assertEqual(set(self.fields(difference)), {"scaling"})
        self.assertEqual(difference["first_position"], self.first_by_search(a, b))

    def test_first_position_against_plain_search(self):
        base = self.config("base.json")
        for theta in (500001.0, 500100.0, 510000.0, 1e6, 1e4):
            with self.subTest(theta):
                other = self.config("other.json", rope_theta=theta)
                (difference,) = self.diff(base, other, equal=False)["differences"]
                self.assertEqual(self.fields(difference), {"theta": ("500000", f"{theta:.0f}")})
                self.assertEqual(difference["first_position"], self.first_by_search(base, other))

    def test_a_difference_no_position_shows(self):
        found = self.diff(self.config("a.json"), self.config("b.json", rope_theta=500000.00000001), equal=False)
        self.assertIsNone(found["differences"][0]["first_position"])
        self.assertIn("no position", self.succeed("diff", self.folder / "a.json", self.folder / "b.json", exit_status=1))

    def test_rules_by_length_differ_beyond_their_context(self):
        dynamic = lambda name, factor: self.config(name, max_position_embeddings=8192, rope_scaling={"type": "dynamic", "factor": factor})
        plain = self.config("plain.json", max_position_embeddings=8192)
        two, four = dynamic("two.json", 2.0), dynamic("four.json", 4.0)
        for a, b in ((two, four), (two, plain), (plain, four)):
            (difference,) = self.diff(a, b, equal=False)["differences"]
            self.assertEqual((difference["beyond"], difference["first_position"]), (8192, None))
            self.assertEqual(list(self.fields(difference)), ["scaling"])
        self.assertIn("shows in sequences beyond 8192", self.succeed("diff", two, four, exit_status=1))
        self.diff(two, two, equal=True)
        self.diff(dynamic("one.json", 1.0), plain, equal=True)  # a factor without effect
        self.diff(two, plain, "--length", "8192", equal=True)
        (difference,) = self.diff(two, plain, "--length", "20000", equal=False)["differences"]
        self.assertEqual((difference["beyond"], difference["first_position"]), (None, 1))

    def test_one_number_of_a_long_list(self):
        config = json.loads(model("phi-3.5-mini").read_text())
        config.get("rope_scaling", config.get("rope_parameters"))["long_factor"][10] = 9.9
        changed = self.folder / "changed.json"
        changed.write_text(json.dumps(config))
        (difference,) = self.diff(model("phi-3.5-mini"), changed, equal=False)["differences"]
        self.assertEqual(difference["beyond"], 4096)
        self.assertEqual(set(self.fields(difference)), {"long_factor[10]"})
        self.assertEqual(self.fields(difference)["long_factor[10]"][1], "9.9")
        self.diff(model("phi-3.5-mini"), changed, "--length", "4096", equal=True)
        lists = config.get("rope_scaling", config.get("rope_parameters"))
        lists["long_factor"] = [2 * x for x in lists["long_factor"]]
        changed.write_text(json.dumps(config))
        (difference,) = self.diff(model("phi-3.5-mini"), changed, equal=False)["differences"]
        self.assertEqual(difference["fields"][-1]["a"], "45 more differ")

    def test_lists_that_are_switched_at_different_lengths(self):
        config = json.loads(model("phi-3.5-mini").read_text())
        config["original_max_position_embeddings"] = 8192
        block = config.get("rope_scaling", config.get("rope_parameters"))
        block.pop("original_max_position_embeddings", None)
        block["attention_factor"] = 1.19
        later = self.folder / "later.json"
        later.write_text(json.dumps(config))
        config["original_max_position_embeddings"] = 4096
        sooner = self.folder / "sooner.json"
        sooner.write_text(json.dumps(config))
        (difference,) = self.diff(sooner, later, equal=False)["differences"]
        self.assertEqual(difference["beyond"], 4096)
        self.assertEqual(self.fields(difference)["switch_length"], ("4096", "8192"))
        for length, equal in ((4096, True), (4097, False), (8192, False), (8193, True)):
            found = self.diff(sooner, later, "--length", length, equal=equal)
            if not equal:
                self.assertEqual(found["differences"][0]["first_position"], difference["first_position"])

    def test_a_number_for_true_as_files_of_llama_4_have_it(self):
        tuned = [self.config(f"{v}.json", model_type="llama4_text", attn_temperature_tuning=v) for v in (True, 4, False, 0)]
        self.assertEqual(self.diff(tuned[0], tuned[1], equal=True)["notes"], [])
        self.assertEqual(self.diff(tuned[2], tuned[3], equal=True)["notes"], [])
        scales = [self.json_of("plan", path) for path in tuned]
        self.assertNotEqual(scales[1], scales[3])
        self.assertIn("true, false or a number", self.refuse("plan", self.config(model_type="llama4_text", attn_temperature_tuning="4")))

    def test_warnings_are_those_of_plan(self):
        odd = self.config("odd.json", model_type="lama9")
        warnings = self.json_of("plan", odd)["warnings"]
        self.assertEqual(len(warnings), 1)
        self.assertEqual(self.diff(odd, odd, equal=True)["a"]["warnings"], warnings)
        self.assertIn("warning: B: ", self.succeed("diff", model("llama-3.1-8b"), odd, exit_status=1))

    def test_gemma_3_in_both_forms_of_config(self):
        self.diff(model("gemma-3-4b"), model("gemma-3-4b-v5"), equal=True)

    def test_yarn_changes_magnitude_at_once(self):
        (difference,) = self.diff(model("qwen2.5-7b"), model("qwen2.5-7b-yarn4"), equal=False)["differences"]
        self.assertEqual(difference["first_position"], 0)
        fields = self.fields(difference)
        self.assertEqual(fields["magnitude"], ("1", "1.138629436"))
        self.assertIn("yarn x4 of 32768", fields["scaling"][1])

    def test_only_the_layers_that_differ(self):
        found = self.diff(model("gemma-3-1b"), model("gemma-2-2b"), equal=False)
        self.assertIn([5, 11, 17, 23], [difference["layers"] for difference in found["differences"]])

    def test_layers_without_rope_against_layers_with(self):
        changed = self.config("b.json", model_type="smollm3", no_rope_layers=[1, 1, 1, 0])
        found = self.diff(self.config("a.json", model_type="smollm3", no_rope_layers=[1, 1, 1, 1]), changed, equal=False)
        (difference,) = found["differences"]
        self.assertEqual((difference["layers"], difference["first_position"]), ([3], 1))
        self.assertEqual(self.fields(difference)["rope"][1], "none")

    def test_different_numbers_of_layers(self):
        found = self.diff(self.config("a.json"), self.config("b.json", num_hidden_layers=5), equal=False)
        self.assertEqual(self.fields(found["differences"][0]), {"layers": ("4", "5")})
        self.assertEqual(found["differences"][1]["layers"], [4])

    def test_partial_rotation_shows_from_position_1(self):
        a, b = (self.config(f"{p}.json", model_type="phi", partial_rotary_factor=p) for p in (0.5, 0.25))
        (difference,) = self.diff(a, b, equal=False)["differences"]
        self.assertEqual(self.fields(difference)["rotary_dim"], ("64", "32"))
        self.assertEqual(difference["first_position"], 1)

    def test_length_decides_longrope(self):
        path = model("phi-3.5-mini")
        self.diff(path, model("phi-3-mini-4k"), equal=False)
        self.diff(path, path, "--length", 100000, equal=True)

    def test_axes_show_where_ids_differ(self):
        found = self.diff(model("qwen2.5-7b"), model("qwen2-vl-7b"), equal=False)
        difference, tower = found["differences"]
        self.assertEqual(tower["role"], "vision")
        self.assertEqual(set(self.fields(difference)), {"axes"})
        self.assertIsNone(difference["first_position"])
        text = self.succeed("diff", model("qwen2.5-7b"), model("qwen2-vl-7b"), exit_status=1)
        self.assertIn("shows where a token's ids differ by axis", text)

    def test_text_names_fields_and_position(self):
        text = self.succeed("diff", model("llama-3-8b"), model("llama-3.1-8b"), exit_status=1)
        lines = text.splitlines()
        self.assertEqual(lines[0], "32 layers rotate differently")
        self.assertRegex(text, r"layers 0-31: shows from position \d+")
        self.assertRegex(text, r"scaling +none +llama3 x8 of 8192, bands 1 4")


class Formats(CliTest):
    def test_permuted_pairing_of_a_llama_gguf_is_a_note(self):
        found = self.json_of("diff", self.config(), self.gguf(**llama_keys()))
        self.assertTrue(found["equal"])
        self.assertEqual([note["kind"] for note in found["notes"]], ["pairing"])
        self.assertIn("note: layers 0-3: pairing half and interleaved", self.succeed("diff", self.config(), self.gguf(**llama_keys())))

    def test_pairing_counts_where_nothing_is_permuted(self):
        a = self.config("a.json")
        b = self.config("b.json", model_type="glm4", head_dim=128, partial_rotary_factor=1.0)
        found = self.json_of("diff", a, b, exit_status=1)
        (difference,) = found["differences"]
        self.assertEqual([field["field"] for field in difference["fields"]], ["pairing"])
        self.assertEqual(difference["first_position"], 1)

    def test_another_theta_in_the_gguf(self):
        keys = llama_keys(llama__rope__freq_base=10000.0)
        found = self.json_of("diff", self.config(), self.gguf(**keys), exit_status=1)
        (difference,) = found["differences"]
        self.assertEqual(difference["fields"], [{"field": "theta", "a": "500000", "b": "10000"}])

    def llama3_factors(self, factor, low=1, high=4, original=8192):
        """rope_freqs.weight as a converter writes it: what each frequency is divided by, rounded to fp32."""
        out = []
        for i in range(64):
            turns = original * 500000.0 ** (-2 * i / 128) / (2 * math.pi)
            smooth = min(max((turns - low) / (high - low), 0), 1)
            out.append(1 / ((1 - smooth) / factor + smooth))
        return out

    def test_factors_rounded_to_fp32_are_a_note(self):
        scaling = {
            "rope_type": "llama3",
            "factor": 8.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 8192,
        }
        config = self.config(rope_scaling=scaling, max_position_embeddings=131072)
        same = self.gguf("same.gguf", {"rope_freqs.weight": self.llama3_factors(8)}, **llama_keys())
        found = self.json_of("diff", config, same)
        self.assertEqual({note["kind"] for note in found["notes"]}, {"pairing", "rounding"})
        other = self.gguf("other.gguf", {"rope_freqs.weight": self.llama3_factors(8.01)}, **llama_keys())
        (difference,) = self.json_of("diff", config, other, exit_status=1)["differences"]
        self.assertLess(difference["first_position"], 131072)

    def test_factors_that_differ_late_are_named(self):
        ones = [1.0] * 64
        a = self.gguf("a.gguf", {"rope_freqs.weight": ones}, **llama_keys())
        b = self.gguf("b.gguf", {"rope_freqs.weight": ones[:50] + [2.0] + ones[51:]}, **llama_keys())
        (difference,) = self.json_of("diff", a, b, exit_status=1)["differences"]
        self.assertEqual(difference["fields"], [{"field": "divisors", "a": "pair 50: 1", "b": "pair 50: 2"}])

    def test_bad_second_file(self):
        self.assertIn("missing.json", self.refuse("diff", self.config(), self.folder / "missing.json"))
