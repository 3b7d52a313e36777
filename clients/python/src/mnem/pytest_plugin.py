"""Fixtures of pytest: an empty memory for each test.

def test_agent(mnem_memory):
    mnem_memory.remember("Alice leads infra")
    assert mnem_memory.recall("infra").items
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from mnem import Memory

IDLE = 5.0
"""Seconds after which the server of a test's memory ends."""


@pytest.fixture
def mnem_memory_path(tmp_path: Path) -> Path:
    """The directory of mnem_memory. Override it for a memory that is there already."""
    return tmp_path / "memory"


@pytest.fixture
def mnem_memory(mnem_memory_path: Path) -> Iterator[Memory]:
    """A mnem.Memory in a temporary directory."""
    from mnem import Memory

    with Memory.open(mnem_memory_path, idle=IDLE, author="test") as memory:
        yield memory
