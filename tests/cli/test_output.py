# SPDX-FileCopyrightText: the ropecache authors
# SPDX-License-Identifier: Apache-2.0
"""Where output goes: pipes, terminals, full disks, readers that leave."""

import os
import pty
import subprocess

from support import CLI, CliTest, model

ESCAPE = b"\x1b"


class Colour(CliTest):
    def on_a_terminal(self, *arguments, **environment):
        """What the tool writes when its stdout is a terminal."""
        try:
            master, slave = pty.openpty()
        except OSError as error:
            self.skipTest(f"no pseudo-terminal here: {error}")
        env = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | {"TERM": "xterm"} | environment
        with subprocess.Popen([CLI, *map(str, arguments)], stdout=slave, stderr=subprocess.DEVNULL, env=env) as child:
            os.close(slave)
            written = b""
            while True:
                try:
                    piece = os.read(master, 65536)
                except OSError:  # the last writer left
                    break
                if not piece:
                    break
                written += piece
            os.close(master)
            self.assertEqual(child.wait(), 0)
        return written

    def test_a_terminal_gets_colour(self):
        self.assertIn(ESCAPE, self.on_a_terminal("plan", model("llama-2-7b")))

    def test_no_color_is_honoured(self):
        self.assertNotIn(ESCAPE, self.on_a_terminal("plan", model("llama-2-7b"), NO_COLOR="1"))

    def test_dumb_terminal(self):
        self.assertNotIn(ESCAPE, self.on_a_terminal("plan", model("llama-2-7b"), TERM="dumb"))

    def test_json_is_never_coloured(self):
        self.assertNotIn(ESCAPE, self.on_a_terminal("plan", model("llama-2-7b"), "--json"))

    def test_pipes_get_plain_text(self):
        for arguments in (
            ("plan", model("gemma-3-4b")),
            ("diff", model("gemma-3-4b"), model("gemma-3-4b")),
            ("dump", model("gemma-3-4b"), "--layer", 0, "--positions", 1),
            ("verify", model("smollm2-135m"), "--samples", 10),
            ("--help",),
        ):
            result = self.run_cli(*arguments)
            self.assertNotIn(ESCAPE, result.stdout + result.stderr)
            self.assertEqual(result.stderr, b"")


class Streams(CliTest):
    def write_to(self, target, *arguments):
        return subprocess.run([CLI, *map(str, arguments)], stdout=target, stderr=subprocess.PIPE, timeout=60)

    def test_full_disk_is_a_failure(self):
        for arguments in (("plan", model("llama-2-7b")), ("--help",), ("--version",)):
            with open("/dev/full", "wb") as full:
                result = self.write_to(full, *arguments)
            self.assertEqual(result.returncode, 3)
            self.assertRegex(result.stderr.decode(), r"^ropecache: standard output: .+\n$")

    def test_closed_output_is_a_failure(self):
        command = f'exec "{CLI}" plan "{model("llama-2-7b")}" >&-'
        result = subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(result.returncode, 3)

    def test_a_reader_that_leaves(self):
        reader, writer = os.pipe()
        os.close(reader)
        try:
            result = self.write_to(writer, "dump", model("llama-2-7b"), "--layer", 0, "--positions", "0-999")
        finally:
            os.close(writer)
        self.assertEqual((result.returncode, result.stderr), (0, b""))

    def test_output_ends_with_a_line_end(self):
        for json in ((), ("--json",)):
            self.assertTrue(self.succeed("plan", model("llama-2-7b"), *json).endswith("\n"))
        self.assertEqual(self.succeed("plan", model("llama-2-7b"), "--json").count("\n"), 1)
