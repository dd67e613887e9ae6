# SPDX-FileCopyrightText: the ropecache authors
# SPDX-License-Identifier: Apache-2.0
"""What all tests of the command line share: running it, the data, small GGUF files made on the spot."""

import json
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

CLI = os.environ["ROPECACHE_CLI"]
DATA = pathlib.Path(os.environ["TEST_DATA"])
MODELS = DATA / "models"
EXPECTED = json.loads((DATA / "models-expected.json").read_text())
GOLDEN = json.loads((DATA / "golden-tables.json").read_text())


def layer_list(text):
    """ "0-2,5" -> [0, 1, 2, 5]"""
    layers = []
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        layers += range(int(first), int(last or first) + 1)
    return layers


def model(name):
    return MODELS / f"{name}.json"


class CliTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_cli(self, *arguments, **options):
        """Runs the tool with its streams piped; a hang is a failure."""
        options.setdefault("timeout", 120)
        return subprocess.run(
            [CLI, *map(str, arguments)], capture_output=True, stdin=subprocess.DEVNULL, **options
        )

    def succeed(self, *arguments, exit_status=0):
        result = self.run_cli(*arguments)
        self.assertEqual(result.stderr.decode(), "")
        self.assertEqual(result.returncode, exit_status, result.stdout.decode()[:2000])
        return result.stdout.decode()

    def json_of(self, *arguments, exit_status=0):
        return json.loads(self.succeed(*arguments, "--json", exit_status=exit_status))

    def refuse(self, *arguments, exit_status=2):
        """One line on stderr, nothing on stdout; returns the line without the name of the program."""
        result = self.run_cli(*arguments)
        error = result.stderr.decode()
        self.assertEqual(result.returncode, exit_status, error)
        self.assertEqual(result.stdout, b"")
        self.assertTrue(error.startswith("ropecache: "), error)
        self.assertTrue(error.endswith("\n"), error)
        self.assertEqual(error.count("\n"), 1, error)
        return error[len("ropecache: ") : -1]

    def config(self, name="config.json", **changes):
        """A small Llama config with some keys changed; None removes one."""
        keys = {
            "model_type": "llama",
            "architectures": ["LlamaForCausalLM"],
            "hidden_size": 512,
            "num_attention_heads": 4,
            "num_key_value_heads": 4,
            "num_hidden_layers": 4,
            "max_position_embeddings": 8192,
            "rope_theta": 500000.0,
        }
        keys.update(changes)
        path = self.folder / name
        path.write_text(json.dumps({k: v for k, v in keys.items() if v is not None}))
        return path

    def gguf(self, name="model.gguf", tensors=None, **keys):
        """A GGUF v3 file; keys by Python type: int u32, float f32, str string; tensors as lists of f32."""
        path = self.folder / name
        path.write_bytes(gguf_bytes(keys, tensors))
        return path


def gguf_string(text):
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def gguf_bytes(keys, tensors=None):
    tensors = tensors or {}
    head, data = b"", b""
    for key, value in keys.items():
        head += gguf_string(key.replace("__", "."))
        if isinstance(value, str):
            head += struct.pack("<I", 8) + gguf_string(value)
        elif isinstance(value, float):
            head += struct.pack("<If", 6, value)
        else:
            head += struct.pack("<II", 4, value)
    for name, values in tensors.items():  # one dimension, type f32, aligned to 32 bytes
        head += gguf_string(name) + struct.pack("<IQIQ", 1, len(values), 0, len(data))
        data += struct.pack(f"<{len(values)}f", *values)
        data += b"\0" * (-len(data) % 32)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(keys)) + head
    return head + b"\0" * (-len(head) % 32) * bool(tensors) + data


def llama_keys(**changes):
    keys = {
        "general__architecture": "llama",
        "llama__block_count": 4,
        "llama__context_length": 8192,
        "llama__embedding_length": 512,
        "llama__attention__head_count": 4,
        "llama__attention__head_count_kv": 4,
        "llama__rope__dimension_count": 128,
        "llama__rope__freq_base": 500000.0,
    }
    keys.update(changes)
    return keys
