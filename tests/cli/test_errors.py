# SPDX-FileCopyrightText: the ropecache authors
# SPDX-License-Identifier: Apache-2.0
"""Bad input and bad usage: exit status 2, one line that names file, key and value, no hang."""

import os

from support import CliTest, gguf_bytes, llama_keys, model

COMMANDS = {
    "plan": lambda path: ("plan", path),
    "diff": lambda path: ("diff", path, path),
    "dump": lambda path: ("dump", path, "--layer", 0, "--positions", 0),
    "verify": lambda path: ("verify", path, "--samples", 10),
}


class HostileFiles(CliTest):
    def refuse_everywhere(self, path, *words):
        for command in COMMANDS.values():
            error = self.refuse(*command(path))
            self.assertIn(str(path), error)
            for word in words:
                self.assertIn(word, error)

    def written(self, data, name="file"):
        path = self.folder / name
        path.write_bytes(data)
        return path

    def test_missing(self):
        self.refuse_everywhere(self.folder / "none.json")

    def test_folder_without_a_config(self):
        self.refuse_everywhere(self.folder, "config.json")

    def test_pipe(self):
        path = self.folder / "pipe"
        os.mkfifo(path)
        self.refuse_everywhere(path, "save it to one first")

    def test_standard_input(self):
        self.assertIn("standard input is not read", self.refuse("plan", "-"))

    def test_dev_null(self):
        self.refuse_everywhere("/dev/null")

    def test_endless_device(self):
        self.refuse_everywhere("/dev/zero")

    def test_unreadable(self):
        loop = self.folder / "loop"
        loop.symlink_to(loop)  # holds for root as well
        self.refuse_everywhere(loop)

    def test_empty(self):
        self.refuse_everywhere(self.written(b""))

    def test_neither_format(self):
        self.refuse_everywhere(self.written(b"PK\x03\x04 not a model"))

    def test_json_that_is_no_object(self):
        for text in (b"[]", b"3", b'"x"', b"null"):
            self.refuse("plan", self.written(text))

    def test_json_cut_anywhere(self):
        data = self.config().read_bytes()
        for length in range(0, len(data), 7):
            self.refuse("plan", self.written(data[:length]))

    def test_gguf_cut_anywhere(self):
        data = gguf_bytes(llama_keys())
        for length in range(0, len(data) - 1, 5):
            self.refuse("plan", self.written(data[:length]))

    def test_gguf_with_counts_from_nowhere(self):
        data = bytearray(gguf_bytes(llama_keys()))
        for at in (8, 16, 24):  # tensors, keys, length of the first key
            broken = bytearray(data)
            broken[at : at + 8] = b"\xff" * 8
            self.refuse("plan", self.written(bytes(broken)))

    def test_deep_json(self):
        self.refuse("plan", self.written(b'{"a":' * 100000))

    def test_control_bytes_do_not_reach_the_terminal(self):
        path = self.config(model_type="\x1b[31mllama\x1b[0m\nsecond line")
        result = self.run_cli("plan", path)
        for stream in (result.stdout, result.stderr):
            self.assertNotIn(b"\x1b", stream)

    def test_what_is_hidden_in_a_name_is_spelled_out(self):
        for name, shown in (("a\u202eb", "a\\u202eb"), ("a\x9bb", "a\\u009bb"), ("a\nb", "a\\x0ab")):
            self.assertIn(shown, self.refuse("plan", self.folder / name))
        self.assertIn(r"a\xffb", self.refuse("plan", os.fsencode(self.folder) + b"/a\xffb"))

    def test_names_in_other_alphabets_stay_readable(self):
        for name in ("Mod\u00e8le", "\u6a21\u578b", "\u043c\u043e\u0434\u0435\u043b\u044c"):
            self.assertIn(name, self.refuse("plan", self.folder / name))
            self.assertIn(name, self.succeed("plan", self.config(name)))
            self.assertIn(name, self.succeed("diff", self.config(name), self.config(name)))

    def test_long_values_are_cut(self):
        long = "m" * (1 << 20)
        self.assertLess(len(self.refuse("plan", self.config(rope_scaling={"rope_type": long}))), 1000)
        self.assertLess(len(self.refuse("plan", long[:100000])), 10000)
        self.assertLess(len(self.refuse("plan", model("llama-2-7b"), long[:100000])), 10000)
        self.assertLess(len(self.refuse("dump", model("llama-2-7b"), "--layer", 0, "--positions", long[:100000])), 1000)
        result = self.run_cli("plan", self.config(model_type=long))
        self.assertLess(len(result.stdout + result.stderr), 10000)


class Values(CliTest):
    def test_error_names_file_key_value_and_expectation(self):
        path = self.config(rope_scaling={"rope_type": "warp", "factor": 2.0})
        error = self.refuse("plan", path)
        self.assertTrue(error.startswith(f"{path}: "), error)
        for word in ("rope_scaling", "warp", "expected"):
            self.assertIn(word, error)

    def test_the_key_of_a_value_no_rope_can_have(self):
        for changes, end in (
            ({"rope_theta": 0.25}, "rope_theta 0.25"),
            ({"head_dim": 127}, "head_dim 127"),
            ({"rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 9.0, "high_freq_factor": 4.0,
                               "original_max_position_embeddings": 8192}}, "rope_scaling.high_freq_factor 4.0"),
        ):
            with self.subTest(end):
                self.assertTrue(self.refuse("plan", self.config(**changes)).endswith(f"; in the file: {end}"))

    def test_a_rope_that_is_not_described(self):
        for model_type in ("neomme", "dinov3_vit"):
            path = self.config(model_type=model_type)
            for command in (("plan", path), ("verify", path), ("diff", path, path)):
                self.assertIn(f"model_type {model_type}: its rope is not listed", self.refuse(*command))

    def test_values_no_rope_can_have(self):
        cases = {
            "rope_theta": (0.0, -1.0, "many", 1.0),
            "num_attention_heads": (0, -4, 3.5),
            "num_hidden_layers": (-1, "four", 10**12),
        }
        for key, values in cases.items():
            for value in values:
                with self.subTest(f"{key}={value}"):
                    error = self.refuse("plan", self.config(**{key: value}))
                    self.assertIn(key.removeprefix("rope_"), error)
                    self.assertIn("expected", error)

    def test_missing_factor(self):
        error = self.refuse("plan", self.config(rope_scaling={"rope_type": "linear"}))
        self.assertIn("rope_scaling.factor: missing, expected", error)

    def test_a_misspelt_key_is_named_beside_the_missing_one(self):
        linear = {"rope_type": "linear", "factr": 2.0}
        self.assertIn('rope_scaling.factor: missing (there is "factr")', self.refuse("plan", self.config(rope_scaling=linear)))
        lists = {"rope_type": "longrope", "short_factor": [1.0] * 64, "long_factors": [1.0] * 64, "factor": 2.0}
        self.assertIn('long_factor: missing (there is "long_factors")', self.refuse("plan", self.config(rope_scaling=lists)))
        other = {"rope_type": "linear", "scale": 2.0}
        for key, standard in (("hidden_size", 4096), ("num_attention_heads", 32), ("max_position_embeddings", 2048)):
            wrong = key.replace("s", "", 1)
            plan = self.json_of("plan", self.config(**{key: None, wrong: 4}))
            self.assertEqual([w.partition(".json: ")[2] for w in plan["warnings"]], [f"{wrong} has no effect; for {key} {standard} is taken"])
        self.assertNotIn("there is", self.refuse("plan", self.config(rope_scaling=other)))


class Usage(CliTest):
    def test_no_command(self):
        self.assertIn("expected a command: plan, diff, dump, verify, plot or bench", self.refuse())

    def test_unknown_command(self):
        for words in (("paint", "x"), ("",), ("paint",)):
            error = self.refuse(*words)
            self.assertIn("no such command, expected plan, diff, dump, verify, plot or bench", error)
            self.assertIn(words[0] or '""', error)

    def test_arguments_too_many_are_named_in_order(self):
        self.assertIn("not expected: b c d", self.refuse("plan", "a", "b", "c", "d"))

    def test_help_is_a_command_too(self):
        self.assertEqual(self.succeed("help"), self.succeed("--help"))
        self.assertEqual(self.succeed("help", "dump"), self.succeed("dump", "--help"))
        self.assertIn("4096 rows", self.succeed("help", "dump"))

    def test_help_lists_every_command(self):
        text = self.succeed("--help")
        for command in ("plan", "diff", "dump", "verify", "plot", "bench"):
            self.assertIn(command, text)

    def test_missing_file_argument(self):
        for command in ("plan", "dump", "verify", "plot"):
            self.assertIn("FILE is required", self.refuse(command))
        self.assertIn("A is required", self.refuse("diff"))
        self.assertIn("B is required", self.refuse("diff", model("llama-2-7b")))

    def test_unknown_option(self):
        self.assertIn("--speed", self.refuse("plan", model("llama-2-7b"), "--speed"))

    def test_values_out_of_range(self):
        for option, value in (("--length", 0), ("--length", -5), ("--length", "many"), ("--context", 0), ("--context", 2**63)):
            with self.subTest(f"{option} {value}"):
                self.assertIn(option, self.refuse("plan", model("llama-2-7b"), option, value))

    def test_unknown_role(self):
        error = self.refuse("plan", model("llama-2-7b"), "--role", "smell")
        self.assertIn("smell", error)
        self.assertIn("attention", error)

    def test_help_of_each_command(self):
        for command in ("plan", "diff", "dump", "verify"):
            text = self.succeed(command, "--help")
            self.assertIn("--json", text)
            self.assertIn("--length", text)

    def test_version(self):
        self.assertRegex(self.succeed("--version"), r"^ropecache \d+\.\d+\.\d+\n$")
