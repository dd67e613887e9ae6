# SPDX-FileCopyrightText: the ropecache authors
# SPDX-License-Identifier: Apache-2.0
"""docs/cli.md and the tool say the same: fields of --json, options, columns."""

import json
import re

from support import DATA, MODELS, CliTest, llama_keys, model

PAGE = (DATA.parent.parent / "docs/cli.md").read_text()
SECTIONS = {part.split("\n", 1)[0]: part for part in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]}
FIELD = re.compile(r"^\| `([^`]+)` \|", re.MULTILINE)
MAPS = ("used", "defaults", "ignored", "reasons")  # keys of the file


def fields_of(command):
    return set(FIELD.findall(SECTIONS[command]))


def paths(value, path=""):
    """ "ropes[].layers[]": every leaf, and every null in place of an object."""
    if isinstance(value, dict):
        for key, inner in value.items():
            at = f"{path}.{key}" if path else key
            yield from [at] if at in MAPS else paths(inner, at)
    elif isinstance(value, list):
        yield f"{path}[]"
        for inner in value:
            yield from paths(inner, f"{path}[]")
    else:
        yield path


class Fields(CliTest):
    def check(self, command, outputs):
        found = {path for output in outputs for path in paths(output)}
        # A list of objects is known by what its elements hold.
        found = {path for path in found if not any(other.startswith(path + ".") for other in found if path.endswith("[]"))}
        found.discard("[]")
        self.assertEqual(sorted(found), sorted(fields_of(command)))

    def scaled(self, name, model_type="llama", **scaling):
        return self.config(f"{name}.json", model_type=model_type, rope_scaling=scaling)

    def test_plan(self):
        longrope = {"short_factor": [1.0] * 64, "long_factor": [2.0] * 64, "original_max_position_embeddings": 4096}
        files = sorted(path for path in MODELS.iterdir() if path.suffix == ".json")
        files += [
            self.scaled("ntk", rope_type="ntk", factor=2.0, mixed_b=0.5),
            self.scaled("dynamic", rope_type="dynamic", factor=2.0),
            self.scaled("yarn", rope_type="yarn", factor=4.0, attn_factor=2.0, extrapolation_factor=0.5, mscale=2.0,
                        mscale_all_dim=1.0, original_max_position_embeddings=2048),
            self.scaled("slope", rope_type="telechat3-yarn", factor=4.0, original_max_position_embeddings=2048),
            self.scaled("phimoe", "phimoe", rope_type="longrope", short_mscale=1.2, long_mscale=1.3, **longrope),
            self.config("unknown.json", model_type="lama9"),
            self.gguf("divisors.gguf", {"rope_freqs.weight": [1.0] * 63 + [2.0]}, **llama_keys()),
        ]
        self.check("plan", [self.json_of("plan", path) for path in files])

    def test_diff(self):
        a, b = self.config("a.json"), self.gguf("b.gguf", **llama_keys(llama__rope__freq_base=1e4))
        odd = self.config("odd.json", model_type="lama9")
        outputs = [self.json_of("diff", *pair, exit_status=1) for pair in ((a, b), (odd, b), (b, odd))]
        self.check("diff", outputs)

    def test_dump(self):
        odd = self.config(model_type="lama9")
        self.check("dump", [
            self.json_of("dump", odd, "--layer", 0, "--positions", 1),
            self.json_of("dump", model("qwen3-vl-4b"), "--layer", 0, "--axis-positions", "1,2,3"),
        ])

    def test_verify(self):
        none = self.config("none.json", model_type="gpt2", rope_theta=None)
        odd = self.config("odd.json", model_type="lama9")
        self.check("verify", [self.json_of("verify", path, "--samples", 10) for path in (none, odd)])

    def test_bench(self):
        if b"built without" in self.run_cli("bench", "--section", "rows", "--seconds", "0.0001").stderr:
            self.skipTest("no Google Benchmark")
        listed = {name.removeprefix("[].") for name in fields_of("bench")}
        for section in ("rows", "growth"):
            for one in self.json_of("bench", "--section", section, "--seconds", "0.0001"):
                self.assertEqual(listed - set(one), set())

    def test_types_are_those_of_the_page(self):
        rope = self.json_of("plan", self.scaled("linear", rope_type="linear", factor=8.0))["ropes"][0]
        self.assertIn('`theta` is\n`"500000"` and `scaling.factor` is `8.0`', PAGE)
        self.assertEqual((rope["theta"], json.dumps(rope["scaling"]["factor"])), ("500000", "8.0"))


class Words(CliTest):
    def test_options(self):
        for command in ("plan", "diff", "dump", "verify", "plot", "bench"):
            text = self.succeed(command, "--help")
            options = set(re.findall(r"--[a-z-]+", text)) - {"--help"}
            if command == "plot":
                options -= {"--out"}  # -o
            named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", SECTIONS[command]))
            self.assertEqual(sorted(named), sorted(options), command)

    def test_columns(self):
        words = {word.strip() for row in re.findall(r"^\| ([^|`]+) \|", SECTIONS["Words"], re.MULTILINE) for word in re.split("[,:]", row)}
        for path in sorted(path for path in MODELS.iterdir() if path.suffix == ".json"):
            heads = [line for line in self.succeed("plan", path).splitlines() if line.startswith("  layers  ")]
            for head in heads:
                self.assertEqual(set(re.split("  +", head.strip())) - words, {"layers"}, path)

    def test_exit_statuses(self):
        self.assertEqual(re.findall(r"^\| (\d) \|", PAGE, re.MULTILINE), ["0", "1", "2", "3"])

    def test_scalings_are_written_so(self):
        shown = re.findall(r"`([^`]+)`", " ".join(re.findall(r"^\| (`.+?`) \|", SECTIONS["Words"], re.MULTILINE)))
        given = {
            "linear /8": {"rope_type": "linear", "factor": 8.0},
            "dynamic x2 beyond 8192": {"rope_type": "dynamic", "factor": 2.0},
            "ntk-alpha 1000": {"rope_type": "dynamic", "alpha": 1000.0},
            "ntk x4 mixed_b 0.5": {"rope_type": "ntk", "factor": 4.0, "mixed_b": 0.5},
            "yarn x4 of 32768, betas 32 1": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768},
            "llama3 x8 of 8192, bands 1 4": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
                                             "high_freq_factor": 4.0, "original_max_position_embeddings": 8192},
            "longrope beyond 4096": {"rope_type": "longrope", "factor": 2.0, "original_max_position_embeddings": 4096,
                                     "short_factor": [1.0] * 64, "long_factor": [2.0] * 64},
            "proportional 0.25 of the head": {"rope_type": "proportional", "partial_rotary_factor": 0.25},
        }
        self.assertEqual(sorted(set(shown) - {"divisors from the file"}), sorted(given))
        for words, scaling in given.items():
            self.assertIn(words, self.succeed("plan", self.config(rope_scaling=scaling)), words)
