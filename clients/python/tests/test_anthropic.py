"""MnemMemoryTool against the SDK's tool over local files: the same random commands, the same texts."""

from __future__ import annotations

import asyncio
import os
import pathlib
import random
import re
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from typing import Any

try:
    from anthropic.lib.tools import BetaAbstractMemoryTool, ToolError
    from anthropic.lib.tools._beta_builtin_memory_tool import BetaLocalFilesystemMemoryTool
except ImportError as err:
    raise unittest.SkipTest(f"anthropic is not installed: {err}") from None

from . import support
from .support import MemoryCase

from mnem.anthropic import AsyncMnemMemoryTool, MnemMemoryTool

NAMES = ["a", "b", "notes.md", ".hidden", "für Elise", "d", "e f"]
TEXTS = [
    "",
    "one\n",
    "one\ntwo\nthree\nfour\nfive\nsix",
    "one one\n\none",
    "a\r\nb\r\n",
    "日本\n",
    "\n",
    "x" * 1500,
    "t\0x",
]


class Random:
    """Draws commands. What it draws depends on the seed alone."""

    def __init__(self, seed: int) -> None:
        self.r = random.Random(seed)

    def path(self) -> str:
        if self.r.randrange(25) == 0:
            return self.r.choice(
                ["", "/", "/etc/passwd", "memories/a", "/memories/../x", "/memories/a/../../b", "/memoriesa"]
            )
        root = self.r.choice(["/memories"] * 9 + ["/memories/"])
        names = [self.r.choice(NAMES) for _ in range(self.r.choice([0, 1, 1, 1, 2, 2, 3, 4]))]
        if self.r.randrange(12) == 0:
            names.insert(0, self.r.choice([".", "..", "", "a/.."]))
        return "/".join([root, *names])

    def command(self) -> dict[str, Any]:
        kind = self.r.randrange(20)
        if kind < 5:
            return {"command": "create", "path": self.path(), "file_text": self.r.choice(TEXTS)}
        if kind < 10:
            ranges = [None, None, [1, 2], [2, -1], [0, 0], [5, 2], [-3, 3], [1, 99], [1]]
            return {"command": "view", "path": self.path(), "view_range": self.r.choice(ranges)}
        if kind < 13:
            old, new = self.r.choice(["one", "two", "", "e\nf", "\r", "x", "ee"]), self.r.choice(["", "ONE", "1\n2\n3"])
            return {"command": "str_replace", "path": self.path(), "old_str": old, "new_str": new}
        if kind < 16:
            line = self.r.choice([0, 1, 2, 6, 7, -1])
            return {"command": "insert", "path": self.path(), "insert_line": line, "insert_text": self.r.choice(TEXTS)}
        if kind < 17:
            return {"command": "delete", "path": self.path()}
        return {"command": "rename", "old_path": self.path(), "new_path": self.path()}


def outcome(tool: BetaAbstractMemoryTool, command: dict[str, Any]) -> tuple[str, str]:
    try:
        return "ok", str(tool.call(command))
    except ToolError as err:
        return "error", str(err.content)
    except OSError as err:  # of the local tool alone
        return "system", str(err)


def without_sizes(text: str) -> str:
    """Leaves out the sizes of directories, which depend on the file system."""
    if not text.startswith("Here're the files"):
        return text
    head, own, *rest = text.split("\n")
    return "\n".join([head, re.sub(r"^\S+", "-", own), *(re.sub(r"^\S+(?=\t.*/$)", "-", line) for line in rest)])


class Differences(MemoryCase):
    def setUp(self) -> None:
        super().setUp()
        directory = tempfile.TemporaryDirectory(prefix="mnem-test-")
        self.addCleanup(directory.cleanup)
        self.root = pathlib.Path(directory.name) / "memories"
        self.mine = MnemMemoryTool(self.memory)
        self.theirs = BetaLocalFilesystemMemoryTool(directory.name)

    def directories(self) -> set[str]:
        return {os.path.join(at, d) for at, below, _ in os.walk(self.root) for d in below}

    def test_random_commands(self) -> None:
        draw = Random(support.seed())
        for n in range(support.operations()):
            command = draw.command()
            before = self.directories()
            got, want = outcome(self.mine, command), outcome(self.theirs, command)
            if want[0] == "system":
                self.assertEqual(got[0], "error", (n, command, want))
            else:
                self.assertEqual((got[0], without_sizes(got[1])), (want[0], without_sizes(want[1])), (n, command))
            if want[0] != "ok":  # the local tool may leave directories
                for left in sorted(self.directories() - before, reverse=True):
                    os.rmdir(left)
            if n % 500 == 499:
                self.compare_trees()
        self.compare_trees()
        self.assertEqual(self.mine.clear_all_memory(), self.theirs.clear_all_memory())
        self.compare_trees()

    def compare_trees(self) -> None:
        files = {}
        for at, below, names in os.walk(self.root):
            for name in names:
                path = os.path.join(at, name)
                files[os.path.relpath(path, self.root)] = pathlib.Path(path).read_bytes().decode()
            for name in below:
                files[os.path.relpath(os.path.join(at, name), self.root)] = None  # type: ignore[assignment]
        page: Any = self.memory.ls(type=["MemoryFile", "MemoryDirectory"], limit=0)
        mine = {}
        for node in page.nodes:
            found: Any = self.memory.show(node.id)
            mine[node.props["path"]] = None if node.type == "MemoryDirectory" else found.content or ""
        self.assertEqual(len(mine), len(page.nodes))
        self.assertEqual(mine, files)

    def test_system_errors_are_told(self) -> None:
        self.mine.call({"command": "create", "path": "/memories/f", "file_text": "x"})
        self.mine.call({"command": "create", "path": "/memories/d/g", "file_text": "x"})
        for command in (
            {"command": "create", "path": "/memories/f/x", "file_text": ""},
            {"command": "create", "path": "/memories/f/x/y", "file_text": ""},
            {"command": "rename", "old_path": "/memories/d", "new_path": "/memories/d/e"},
            {"command": "rename", "old_path": "/memories/d", "new_path": "/memories/f/e"},
            {"command": "view", "path": "/memories/a\0"},
            {"command": "create", "path": "/memories/s", "file_text": "ghp_0123456789abcdefghij0123456789abcdef"},
            {"command": "create", "path": "/memories/s", "file_text": "x" * 5_000_000},
        ):
            commits = len(self.memory.log())
            with self.assertRaises(ToolError):
                self.mine.call(command)
            self.assertEqual(len(self.memory.log()), commits)
        for tool in (self.mine, self.theirs):
            with self.assertRaises(UnicodeEncodeError):
                tool.call({"command": "create", "path": "/memories/u", "file_text": "\ud800"})

    def test_history(self) -> None:
        self.mine.call({"command": "create", "path": "/memories/a.md", "file_text": "Alice leads infra\n"})
        self.mine.call({"command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/b.md"})
        self.assertEqual(
            [c.message for c in self.memory.log()], ["rename /memories/a.md to /memories/b.md", "create /memories/a.md"]
        )
        self.assertEqual(self.memory.recall("who leads infra").items[0].type, "MemoryFile")
        self.memory.undo()
        self.assertIn("/memories/a.md", str(self.mine.call({"command": "view", "path": "/memories"})))
        node: Any = self.memory.show("/memories/a.md")
        self.assertEqual(node.content, "Alice leads infra\n")

    def test_async_and_concurrent(self) -> None:
        async def run() -> None:
            tool = AsyncMnemMemoryTool(self.memory)
            made = [
                tool.call({"command": "create", "path": f"/memories/{i % 5}", "file_text": str(i)}) for i in range(20)
            ]
            done = await asyncio.gather(*made, return_exceptions=True)
            self.assertEqual(sum(isinstance(d, str) for d in done), 5)
            self.assertEqual(sum(isinstance(d, ToolError) for d in done), 15)
            self.assertEqual(tool.to_dict(), self.mine.to_dict())
            await tool.clear_all_memory()
            with self.assertRaises(ToolError):
                await tool.call({"command": "view", "path": "/memories/1"})

        asyncio.run(run())

    def test_lines_of_many(self) -> None:
        self.mine.call({"command": "create", "path": "/memories/log", "file_text": ""})

        def write(worker: int) -> None:
            tool = MnemMemoryTool(self.memory)
            for i in range(5):
                tool.call(
                    {"command": "insert", "path": "/memories/log", "insert_line": 0, "insert_text": f"{worker}-{i}"}
                )

        with ThreadPoolExecutor(4) as threads:
            list(threads.map(write, range(4)))
        node: Any = self.memory.show("/memories/log")
        self.assertEqual(sorted(node.content.split()), sorted(f"{w}-{i}" for w in range(4) for i in range(5)))


if __name__ == "__main__":
    unittest.main()
