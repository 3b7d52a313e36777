"""The fixture, in a run of pytest of its own."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import pytest  # noqa: F401
except ImportError as err:
    raise unittest.SkipTest(f"pytest is not installed: {err}") from None

from .support import PROGRAM

TESTS = """
def test_one(mnem_memory):
    mnem_memory.remember("Alice leads infra")
    assert len(mnem_memory.log()) == 1

def test_two(mnem_memory, mnem_memory_path):
    assert mnem_memory.ls().nodes == []
    assert (mnem_memory_path / ".mnem").is_dir()
"""


class Fixture(unittest.TestCase):
    def test_each_test_has_a_memory(self) -> None:
        if not PROGRAM:
            self.skipTest("MNEM_PROGRAM names no program")
        source = pathlib.Path(__file__).parent.parent / "src"
        with tempfile.TemporaryDirectory(prefix="mnem-test-") as directory:
            file = pathlib.Path(directory) / "test_it.py"
            file.write_text(TESTS)
            done = subprocess.run(
                [sys.executable, "-m", "pytest", "-q", "-p", "mnem.pytest_plugin", "-p", "no:cacheprovider", file],
                env={**os.environ, "PYTHONPATH": str(source)}, cwd=directory, capture_output=True, text=True,
            )  # fmt: skip
        self.assertIn("2 passed", done.stdout, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
