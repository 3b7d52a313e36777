"""What the tests share: memories in temporary directories, and the process that serves one."""

from __future__ import annotations

import atexit
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import struct
import sys
import tempfile
import unittest
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "src"))

from mnem import Memory  # noqa: E402
from mnem._link import LocalLink, UnixConnection  # noqa: E402

PROGRAM = os.environ.get("MNEM_PROGRAM", "")
IDLE = 4.0
"""Seconds after which servers of tests end by themselves."""

LONG = bool(os.environ.get("MNEM_LONG"))


if os.name == "posix" and "MNEM_TEST_RUN" not in os.environ:
    # Sockets, locks and logs of tests; processes that tests start have them there too.
    os.environ["MNEM_TEST_RUN"] = os.environ["XDG_RUNTIME_DIR"] = tempfile.mkdtemp(prefix="mnem-run-")
    atexit.register(shutil.rmtree, os.environ["MNEM_TEST_RUN"], ignore_errors=True)


def server_of(memory: Memory) -> int:
    """Returns the id of the process that serves a memory."""
    link = memory._link
    assert isinstance(link, LocalLink)
    if link.place.tcp:
        return int(json.loads(link.place.start_file.read_bytes())["pid"])
    connection = link.take()
    try:
        assert isinstance(connection.http, UnixConnection)
        size = struct.calcsize("3i")
        peer = connection.http.sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
        return int(struct.unpack("3i", peer)[0])
    finally:
        link.give(connection)


def kill_server(memory: Memory, how: int = getattr(signal, "SIGKILL", signal.SIGTERM)) -> None:
    os.kill(server_of(memory), how)


class MemoryCase(unittest.TestCase):
    """A test with a memory of its own."""

    tcp = False

    def setUp(self) -> None:
        if not PROGRAM:
            self.skipTest("MNEM_PROGRAM names no program")
        directory = tempfile.TemporaryDirectory(prefix="mnem-test-", ignore_cleanup_errors=True)
        self.addCleanup(directory.cleanup)
        self.path = os.path.join(directory.name, "memory")
        self.memory = self.open()

    def open(self, **options: object) -> Memory:
        chosen: dict[str, Any] = {"author": "ann", "idle": IDLE, "tcp": self.tcp, **options}
        memory = Memory.open(self.path, **chosen)
        self.addCleanup(memory.close)
        return memory


def operations(plain: int = 500, long: int = 10_000) -> int:
    """Returns how many random operations a differential test makes."""
    return long if LONG else plain


def seed() -> int:
    """Returns the seed of a test, which MNEM_SEED repeats."""
    chosen = int(os.environ.get("MNEM_SEED") or random.SystemRandom().randrange(1 << 32))
    print(f"MNEM_SEED={chosen}", file=sys.stderr)
    return chosen
