"""mnem: git for an AI agent's memory.

from mnem import Memory

with Memory.open("notes") as memory:
    memory.remember("Alice leads the infra team", tag=["team"])
    for item in memory.recall("who leads infra").items:
        print(item.rendered)
"""

from ._client import AsyncMemory, Memory
from ._errors import (
    AnswerLost,
    Busy,
    Conflict,
    Corrupt,
    InvalidInput,
    MnemError,
    NotFound,
    NotRunning,
    Refused,
    VersionWarning,
)
from ._version import __version__

__all__ = [
    "AnswerLost",
    "AsyncMemory",
    "Busy",
    "Conflict",
    "Corrupt",
    "InvalidInput",
    "Memory",
    "MnemError",
    "NotFound",
    "NotRunning",
    "Refused",
    "VersionWarning",
    "__version__",
]
