"""A session of the OpenAI Agents SDK in a memory: items added together are one commit.

    from agents import Agent, Runner
    from mnem import Memory
    from mnem.openai_agents import MnemSession

    session = MnemSession("conversation-1", Memory.open("notes"))
    await Runner.run(agent, "Hello", session=session)

It answers as SQLiteSession does, with these differences:

- Items that look like they hold a credential raise Refused, unless allow_secret names the rule.
- An item beyond about 900 kB raises InvalidInput.
- A cancelled call does not wait for its write, which is still made.
- Removed items stay in the history of the memory: undo and revert bring them back, purge erases them.
- Several sessions of one id in several processes share the items; each pop takes another one.
- The SDK's compaction of SQLiteSession, which reads its tables, is not there.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from agents.memory.session_settings import SessionSettings, coerce_session_settings, resolve_session_limit

from ._client import Memory
from ._records import Path, Put, Record, Records

if TYPE_CHECKING:
    from agents.items import TResponseInputItem

__all__ = ["MnemSession"]


class MnemSession:
    """A Session of the OpenAI Agents SDK in a memory. Safe for concurrent use."""

    session_settings: SessionSettings | None

    def __init__(
        self,
        session_id: str,
        memory: Memory,
        *,
        session_settings: SessionSettings | dict[str, Any] | None = None,
        allow_secret: Sequence[str] | None = None,
    ) -> None:
        self.session_id = session_id
        settings = SessionSettings() if session_settings is None else coerce_session_settings(session_settings)
        self.session_settings = settings
        self._records = Records(memory, "SessionItem", "SessionItem/", allow_secret)
        self._closed = False

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Returns the newest items, at most limit, the oldest first. A negative limit is none."""
        self._check()
        limit = resolve_session_limit(limit, self.session_settings)
        if limit == 0:
            return []
        items = [r.value for r in await asyncio.to_thread(self._list)]
        return items if limit is None or limit < 0 else items[-limit:]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Adds items in one commit."""
        self._check()
        if items:
            await asyncio.to_thread(self._add, items)

    async def pop_item(self) -> TResponseInputItem | None:
        """Removes the newest item and returns it, None if there is none."""
        self._check()
        return await asyncio.to_thread(self._pop)

    async def clear_session(self) -> None:
        """Removes all items in one commit."""
        self._check()
        await asyncio.to_thread(self._clear)

    def close(self) -> None:
        """Refuses further calls. The memory stays open."""
        self._closed = True

    def _check(self) -> None:
        if self._closed:
            raise RuntimeError("MnemSession is closed")

    def _list(self) -> list[Record]:
        return self._records.list((self.session_id,))

    def _add(self, items: list[Any]) -> None:
        changes: dict[Path, Put | None] = {
            (self.session_id, uuid.uuid4().hex): Put(item, text_of(item)) for item in items
        }
        self._records.write(changes, f"add {len(items)} items to a session", fresh=True)

    def _pop(self) -> Any:
        while items := self._list():
            if self._records.write({items[-1].path: None}, "pop an item of a session"):
                return items[-1].value
        return None

    def _clear(self) -> None:
        items = self._list()
        self._records.write({r.path: None for r in items}, f"clear a session of {len(items)} items")


def text_of(item: Any) -> str | None:
    """Returns the text of a message, by which recall finds it."""
    content = item.get("content") if isinstance(item, dict) else None
    if isinstance(content, str):
        return content or None
    if not isinstance(content, list):
        return None
    parts = [p["text"] for p in content if isinstance(p, dict) and isinstance(p.get("text"), str)]
    return "\n".join(parts) or None
