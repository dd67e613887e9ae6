# SPDX-FileCopyrightText: the ropecache authors
# SPDX-License-Identifier: Apache-2.0
"""Failures that people met in other projects, as the command line shows them; numbers as in docs/cases.md."""

from support import CliTest, llama_keys, model

LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}


class Cases(CliTest):
    def test_B11_both_claims_of_pairing_are_named(self):
        a, b = self.config(), self.gguf(**llama_keys())
        self.assertEqual([note["kind"] for note in self.json_of("diff", a, b)["notes"]], ["pairing"])
        self.assertIn("pairing half and interleaved", self.succeed("diff", a, b))
        for path, pairing in ((a, "half"), (b, "interleaved")):
            self.assertEqual(self.json_of("plan", path)["ropes"][0]["pairing"], pairing)

    def test_B32_gguf_without_the_factors_of_its_config(self):
        keys = llama_keys(llama__context_length=131072)
        file = self.gguf(**keys)
        plan = self.json_of("plan", file)
        self.assertTrue(any("rope_freqs.weight" in warning for warning in plan["warnings"]), plan["warnings"])
        config = self.config(rope_scaling=LLAMA3, max_position_embeddings=131072)
        (difference,) = self.json_of("diff", config, file, exit_status=1)["differences"]
        self.assertEqual({field["field"] for field in difference["fields"]}, {"scaling"})
        self.assertEqual(difference["layers"], [0, 1, 2, 3])

    def test_B35_scaling_of_a_nested_config_is_stated(self):
        text = {
            "model_type": "mllama_text_model",
            "hidden_size": 4096,
            "num_attention_heads": 32,
            "num_hidden_layers": 40,
            "max_position_embeddings": 131072,
            "rope_theta": 500000.0,
            "rope_scaling": LLAMA3,
        }
        path = self.config(model_type="mllama", text_config=text)
        (rope,) = (rope for rope in self.json_of("plan", path)["ropes"] if rope["role"] == "attention")
        self.assertEqual(rope["scaling"]["type"], "llama3")
        self.assertEqual(float(rope["scaling"]["factor"]), 8)
        bare = self.config("bare.json", model_type="mllama", text_config={**text, "rope_scaling": None})
        scaled_row, bare_row = (
            self.json_of("dump", p, "--layer", 0, "--positions", 2 * 8192)["rows"][0] for p in (path, bare)
        )
        self.assertNotEqual(scaled_row["cos"][40:], bare_row["cos"][40:])
        first = self.json_of("diff", path, bare, exit_status=1)["differences"][0]["first_position"]
        self.assertGreater(first, 0)  # a test at position 0 sees nothing

    def test_B44_the_list_that_a_length_chooses(self):
        path = model("phi-3.5-mini")
        both = self.json_of("plan", path)["ropes"][0]
        self.assertEqual(both["length_dependent"]["switch_length"], 4096)
        short, long = (self.json_of("plan", path, "--length", n)["ropes"][0] for n in (4096, 4097))
        self.assertEqual(short["key"], both["key"])
        self.assertEqual(long["key"], both["length_dependent"]["beyond_key"])
        # How much memory one means to have is no length.
        self.assertEqual(self.json_of("plan", path, "--context", 131072)["ropes"][0]["key"], both["key"])
        self.assertIn("4096", self.succeed("plan", path))
