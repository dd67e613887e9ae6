# SPDX-FileCopyrightText: the ropecache authors
# SPDX-License-Identifier: Apache-2.0
"""plan: the schema and the facts of every model, lengths, roles, text."""

import json
import re
from decimal import Decimal

from support import EXPECTED, GOLDEN, CliTest, layer_list, llama_keys, model

ROPE_FIELDS = {
    "id": int,
    "key": str,
    "role": str,
    "layers": list,
    "mtp_layers": list,
    "head_dim": int,
    "rotary_dim": int,
    "rotary_offset": int,
    "pairing": str,
    "theta": str,
    "scaling": dict,
    "axes": dict,
    "frequencies": list,
    "magnitude": str,
    "softmax_scale_multiplier": str,
    "query_scale": (dict, type(None)),
    "inverse_on_output": bool,
}
PLAN_FIELDS = {
    "schema": str,
    "source": dict,
    "model": dict,
    "ropes": list,
    "layers_without_rope": list,
    "distinct_tables": int,
    "bytes": dict,
    "used": dict,
    "defaults": dict,
    "ignored": dict,
    "warnings": list,
}
# Which axes layout the sections of a GGUF pairing mean in a config.json.
LAYOUT_OF = {"MROPE": "sectioned", "IMROPE": "interleaved"}


class PlanOfModels(CliTest):
    """One test a model, added below."""

    def check_schema(self, plan):
        for field, kind in PLAN_FIELDS.items():
            self.assertIsInstance(plan[field], kind, field)
        self.assertEqual(plan["schema"], "ropecache.plan/1")
        for number, rope in enumerate(plan["ropes"]):
            for field, kind in ROPE_FIELDS.items():
                self.assertIsInstance(rope[field], kind, field)
            self.assertEqual(rope["id"], number)
            self.assertRegex(rope["key"], "^[0-9a-f]{32}$")
            self.assertEqual(rope["layers"], sorted(set(rope["layers"])))
            self.assertLessEqual(set(rope["mtp_layers"]), set(rope["layers"]))
            self.assertEqual(len(rope["frequencies"]), rope["rotary_dim"] // 2)
            self.assertLessEqual(rope["rotary_offset"] + rope["rotary_dim"], rope["head_dim"])
            self.assertIn(rope["pairing"], ("half", "interleaved"))
        attention = [rope for rope in plan["ropes"] if rope["role"] == "attention"]
        layers = sorted(sum((rope["layers"] for rope in attention), plan["layers_without_rope"]))
        self.assertEqual(layers, list(range(plan["model"]["layers"] + plan["model"]["mtp"])))
        self.assertEqual(attention, sorted(attention, key=lambda rope: rope["layers"][0]))

    def check_rope(self, rope, expected, layers_of_model):
        self.assertEqual([n for n in rope["layers"] if n < layers_of_model], layer_list(expected["layers"]))
        self.assertEqual(rope["head_dim"], expected["head_dim"])
        self.assertEqual(rope["rotary_dim"], expected["rotary_dim"])
        self.assertEqual(rope["pairing"], expected["pairing_hf"])
        self.assertEqual(rope["inverse_on_output"], expected.get("inverse_on_output", False))
        if not isinstance(expected["theta"], str):
            self.assertEqual(float(rope["theta"]), expected["theta"])
        for field, value in (expected["scaling"] or {"type": "none"}).items():
            self.assertEqual(rope["scaling"][field], value, field)
        if isinstance(expected["attention_factor"], float):
            self.assertEqual(float(rope["magnitude"]), expected["attention_factor"])
        if expected.get("sections") and expected["pairing_gguf"] in LAYOUT_OF:
            self.assertEqual(rope["axes"]["sections"], expected["sections"])
            self.assertEqual(rope["axes"]["layout"], LAYOUT_OF[expected["pairing_gguf"]])

    def check_model(self, name):
        plan = self.json_of("plan", model(name))
        expected = EXPECTED[name]
        self.check_schema(plan)
        self.assertEqual(plan["model"]["layers"], expected["num_layers"])
        self.assertEqual(plan["layers_without_rope"], layer_list(expected["no_rope_layers"]))
        attention = [rope for rope in plan["ropes"] if rope["role"] == "attention"]
        keys = {rope["key"] for rope in attention}
        keys |= {rope["length_dependent"]["beyond_key"] for rope in attention if rope["length_dependent"]}
        self.assertEqual(len(keys), expected["distinct_tables"])
        self.assertEqual(plan["distinct_tables"], expected["distinct_tables"])
        others = {rope["key"] for rope in plan["ropes"]} - keys
        self.assertEqual(plan["other_roles"]["distinct_tables"], len(others))
        self.assertEqual(len(attention), len(expected["ropes"]))
        by_layer = sorted(expected["ropes"], key=lambda rope: layer_list(rope["layers"])[0])
        for rope, facts in zip(attention, by_layer):
            self.check_rope(rope, facts, expected["num_layers"])


for name in EXPECTED:  # a dot in a method's name would part it for the runner
    setattr(PlanOfModels, "test_" + re.sub(r"\W", "_", name), lambda self, name=name: self.check_model(name))


class Frequencies(CliTest):
    def test_25_digits_as_in_the_golden_tables(self):
        tables = {table["id"]: table for table in GOLDEN["tables"]}
        checked = 0
        for entry in GOLDEN["models"]:
            ropes = self.json_of("plan", model(entry["model"]))["ropes"]
            for group in entry["groups"]:
                if ":" in group["id"]:
                    continue  # a regime of length, see test_longrope_by_length
                layer = layer_list(group["layers"])[0]
                rope = next(r for r in ropes if r["role"] == "attention" and layer in r["layers"])
                for given, golden in zip(rope["frequencies"], tables[group["table"]]["frequency"], strict=True):
                    self.assertEqual(Decimal(given), Decimal(golden))
                checked += 1
        self.assertGreater(checked, 100)

    def test_longrope_by_length(self):
        tables = {table["id"]: table for table in GOLDEN["tables"]}
        for length, table in ((4096, "t029"), (4097, "t030")):
            rope = self.json_of("plan", model("phi-3.5-mini"), "--length", length)["ropes"][0]
            self.assertEqual(list(map(Decimal, rope["frequencies"])), list(map(Decimal, tables[table]["frequency"])))
            self.assertIsNone(rope["length_dependent"])

    def test_longrope_without_a_length_names_both(self):
        plan = self.json_of("plan", model("phi-3.5-mini"))
        long = self.json_of("plan", model("phi-3.5-mini"), "--length", 4097)
        rope = plan["ropes"][0]
        self.assertEqual(plan["distinct_tables"], 2)
        self.assertEqual(long["distinct_tables"], 1)
        self.assertEqual(rope["length_dependent"]["switch_length"], 4096)
        self.assertEqual(rope["length_dependent"]["beyond_key"], long["ropes"][0]["key"])

    def test_dynamic_ntk_grows_with_length_alone(self):
        path = model("internlm2.5-7b")
        base = self.json_of("plan", path)["ropes"][0]
        self.assertEqual(self.json_of("plan", path, "--length", 32768)["ropes"][0]["key"], base["key"])
        longer = self.json_of("plan", path, "--length", 65536)["ropes"][0]
        self.assertNotEqual(longer["key"], base["key"])
        # base' = base * (2 * 2 - 1)^(128 / 126)
        expected = (1e6 * 3 ** (128 / 126)) ** (-2 / 128)
        self.assertAlmostEqual(float(longer["frequencies"][1]), expected, places=14)

    def test_unturned_pairs_stay_in_the_list(self):
        ropes = self.json_of("plan", model("gemma-4-e4b"))["ropes"]
        full = next(rope for rope in ropes if rope["scaling"]["type"] == "proportional")
        self.assertEqual(full["frequencies"][64:], ["0"] * 192)
        self.assertNotIn("0", full["frequencies"][:64])


class Options(CliTest):
    def test_context_enters_bytes_and_nothing_else(self):
        path = model("llama-3.1-8b")
        own, given = self.json_of("plan", path), self.json_of("plan", path, "--context", 1000)
        self.assertEqual(own["bytes"]["per_layer"], 32 * 131072 * 128 * 4)
        self.assertEqual(given["bytes"]["per_layer"], 32 * 1000 * 128 * 4)
        self.assertEqual(given["bytes"]["shared"], own["bytes"]["shared"])
        self.assertEqual(given["ropes"], own["ropes"])

    def test_shared_bytes_do_not_depend_on_layers(self):
        sizes = {self.json_of("plan", self.config(num_hidden_layers=n))["bytes"]["shared"] for n in (1, 40)}
        self.assertEqual(len(sizes), 1)

    def test_no_context_anywhere(self):
        plan = self.json_of("plan", self.config(max_position_embeddings=None, model_type="lama9"))
        self.assertEqual(plan["model"]["context"], 0)
        self.assertIsNone(plan["bytes"]["per_layer"])

    def test_role(self):
        path = model("glm-5")
        roles = {rope["role"] for rope in self.json_of("plan", path)["ropes"]}
        self.assertEqual(roles, {"attention", "indexer"})
        for role in roles:
            only = self.json_of("plan", path, "--role", role)["ropes"]
            self.assertEqual({rope["role"] for rope in only}, {role})

    def test_folder_with_a_config(self):
        self.config()
        plan = self.json_of("plan", self.folder)
        self.assertEqual(plan["source"]["format"], "hf-config")
        self.assertEqual(plan["model"]["layers"], 4)

    def test_format_comes_from_the_contents(self):
        self.gguf(name="config.json", **llama_keys())
        self.assertEqual(self.json_of("plan", self.folder / "config.json")["source"]["format"], "gguf")

    def test_ignored_key_is_reported_with_a_reason(self):
        path = self.config(rope_scaling={"rope_type": "linear", "factor": 2.0, "beta_fast": 32})
        plan = self.json_of("plan", path)
        key = next(key for key in plan["ignored"] if key.endswith("beta_fast"))
        self.assertTrue(plan["reasons"][key])

    def test_two_configs_of_one_content_share_a_key(self):
        a = self.json_of("plan", self.config("a.json"))["ropes"][0]
        b = self.json_of("plan", self.config("b.json", hidden_size=1024, num_attention_heads=8))["ropes"][0]
        c = self.json_of("plan", self.config("c.json", rope_theta=500001.0))["ropes"][0]
        self.assertEqual(a["key"], b["key"])
        self.assertNotEqual(a["key"], c["key"])


class Text(CliTest):
    def test_the_saving_comes_first(self):
        first, second = self.succeed("plan", model("llama-3.1-8b")).splitlines()[:2]
        self.assertRegex(first, r"^32 layers share 1 table: \d+\.\d MiB instead of 2\.0 GiB \(.*131072 positions\)$")
        self.assertIn("llama-3.1-8b.json: hf-config, llama, 32 layers, context 131072", second)

    def test_columns_are_aligned_and_ranges_short(self):
        lines = self.succeed("plan", model("gemma-3-4b")).splitlines()
        head = next(line for line in lines if line.strip().startswith("layers "))
        sliding = next(line for line in lines if "0-4,6-10,12-16,18-22,24-28,30-33" in line)
        full = next(line for line in lines if "5,11,17,23,29" in line and line is not sliding)
        for word, cell in (("theta", "10000"), ("theta", "1000000"), ("scaling", "linear /8")):
            line = sliding if cell == "10000" else full
            self.assertEqual(line.find(cell, head.find(word)), head.find(word), line)

    def test_columns_without_content_are_left_out(self):
        plain = self.succeed("plan", model("llama-2-7b"))
        self.assertNotIn("offset", plain)
        self.assertNotIn("magnitude", plain)
        self.assertIn("offset", self.succeed("plan", model("deepseek-v4-flash")))
        self.assertIn("magnitude", self.succeed("plan", model("gpt-oss-20b")))

    def test_layers_without_rope(self):
        text = self.succeed("plan", model("llama-4-scout"))
        self.assertIn("layers without rope: 3,7,11,15,19,23,27,31,35,39,43,47", text)

    def test_one_is_not_many(self):
        tower = {"hidden_size": 64, "num_attention_heads": 1, "num_hidden_layers": 1}
        params = {"dim": 256, "n_layers": 2, "n_heads": 4, "rope_theta": 1e4, "vision_encoder": tower}
        path = self.folder / "params.json"

        def lines(**changes):
            path.write_text(json.dumps(params | changes))
            return self.succeed("plan", path, "--context", 1)

        one = lines(n_layers=1)
        self.assertRegex(one, r"^1 layer uses 1 table: .* per layer, 1 position\); 1 vision layer needs 1 table more: ")
        self.assertIn(", 1 layer\n", one)
        two = lines(nope_layer_interval=2, n_layers=4, vision_encoder=tower | {"num_hidden_layers": 2})
        self.assertRegex(two, r"^2 layers share 1 table: .*; 2 vision layers need 1 table more: ")
        self.assertIn("\nlayers without rope: 1,3\n", two)
        self.assertIn("\nlayer without rope: 1\n", lines(nope_layer_interval=2))

    def test_a_role_that_no_layer_has(self):
        text = self.succeed("plan", model("llama-2-7b"), "--role", "vision")
        self.assertTrue(text.startswith("no layer has a rope of role vision; the file has attention\n"), text)
        text = self.succeed("plan", model("deepseek-v3"), "--role", "draft")
        self.assertIn("MTP layers turn as attention does", text.splitlines()[0])

    def test_the_context_of_the_class_counts_memory(self):
        for path, name, context in (
            (model("gemma-3-4b"), "text_config.max_position_embeddings", 131072),
            (self.config(max_position_embeddings=None), "max_position_embeddings", 2048),
        ):
            plan = self.json_of("plan", path)
            self.assertEqual((plan["model"]["context"], plan["bytes"]["context"]), (context, context))
            self.assertEqual(plan["defaults"][name], context)
            self.assertIn("class default", plan["reasons"][name])
        stated = self.json_of("plan", self.config(max_position_embeddings=None, n_positions=512))
        self.assertEqual((stated["model"]["context"], stated["defaults"].get("max_position_embeddings")), (512, None))
        # No frequency comes of it: a rule that needs the length is refused without one.
        dynamic = self.config(max_position_embeddings=None, rope_scaling={"type": "dynamic", "factor": 2.0})
        self.assertIn("max_position_embeddings: missing", self.refuse("plan", dynamic))

    def test_mtp_layers_are_said_once(self):
        self.assertEqual(self.succeed("plan", model("glm-5")).count("MTP layer: 78"), 1)

    def test_a_file_without_a_type_says_so(self):
        path = self.config(model_type=None, architectures=None)
        self.assertIn("hf-config, no model_type, 4 layers", self.succeed("plan", path))

    def test_which_side_of_a_rule_by_length_was_asked_for(self):
        dynamic = self.config(rope_scaling={"type": "dynamic", "factor": 2.0})
        for path, length, words in (
            (model("phi-3.5-mini"), 4096, "longrope beyond 4096: short_factor"),
            (model("phi-3.5-mini"), 4097, "longrope beyond 4096: long_factor"),
            (dynamic, 8192, "dynamic x2 beyond 8192: not reached"),
            (dynamic, 20000, "dynamic x2 beyond 8192: as for 20000"),
        ):
            self.assertIn(words, self.succeed("plan", path, "--length", length))
            self.assertEqual(self.json_of("plan", path, "--length", length)["length"], length)
        self.assertIsNone(self.json_of("plan", dynamic)["length"])

    def test_a_tower_alone(self):
        path = model("llama-4-scout")
        text = self.succeed("plan", path, "--role", "vision")
        self.assertTrue(text.startswith("34 vision layers share 1 table: 1.6 MiB\n"), text)
        self.assertNotIn("text_config", text)
        tower = self.json_of("plan", path, "--role", "vision")
        self.assertIsNone(tower["bytes"]["per_layer"])
        for notes in ("used", "defaults", "ignored"):
            self.assertEqual([key for key in tower[notes] if key.startswith("text_config")], [])
        self.assertIn("vision_config.num_hidden_layers", tower["used"])
        decoder = self.json_of("plan", path, "--role", "attention")
        self.assertIn("text_config.attn_scale", decoder["defaults"])
        self.assertEqual([key for key in decoder["used"] if "vision" in key], [])

    def test_defaults_are_listed(self):
        text = self.succeed("plan", self.config(rope_theta=None))
        self.assertRegex(text, r"default taken\s+value\s+why")
        self.assertIn("rope_theta", text)

