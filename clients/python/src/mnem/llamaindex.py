"""A memory block of LlamaIndex in a memory: what leaves the chat history is found again by what it says.

    from llama_index.core.memory import Memory
    from mnem import Memory as Mnem
    from mnem.llamaindex import MnemMemoryBlock

    block = MnemMemoryBlock(memory=Mnem.open("notes"))
    memory = Memory.from_defaults(session_id="chat-1", memory_blocks=[block])

It does what VectorMemoryBlock does, with these differences:

- Nothing but the memory is needed: no vector store and no embedding model.
- Every message is a node, with its role and session as properties; VectorMemoryBlock stores what came at once as one
  text.
- All of the memory is searched, facts that others remembered too. kinds=["Message"] limits it to messages, session_only
  to those of the session that asks.
- The newest message of the user is the query; VectorMemoryBlock takes five of any role.
- It returns nothing if the memory knows nothing about the messages; VectorMemoryBlock returns the nearest rows.
- Truncation drops the last items rather than everything.
- Messages that look like they hold a credential are left out, unless allow_secret names the rule.
"""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock
from llama_index.core.bridge.pydantic import Field
from llama_index.core.memory.memory import BaseMemoryBlock

from ._client import Memory
from ._errors import NotFound, Refused
from ._records import clean

__all__ = ["MnemMemoryBlock"]

MESSAGE = "Message"

MAX_SUMMARY = 4000
"""Characters of a message that an answer shows; the whole text of a longer one is its content."""

CHARACTERS = 4
"""Characters that a token has, about."""


class MnemMemoryBlock(BaseMemoryBlock[str]):
    """A memory block over a memory."""

    name: str = Field(default="Mnem", description="The name of the memory block.")
    memory: Any = Field(description="The open memory, a mnem.Memory.")
    budget: int = Field(default=1000, description="How many tokens the block returns at most.")
    context_window: int = Field(default=1, description="How many of the newest messages of the user are the query.")
    kinds: list[str] | None = Field(default=None, description="The types of nodes that are found; all by default.")
    session_only: bool = Field(default=False, description="Whether messages of other sessions are left out.")
    allow_secret: list[str] | None = Field(default=None, description="Rules of credentials that may be written.")

    async def _aget(
        self, messages: list[ChatMessage] | None = None, session_id: str | None = None, **block_kwargs: Any
    ) -> str:
        asked = [m for m in messages or () if m.role == MessageRole.USER]
        query = "\n".join(filter(None, map(text_of, asked[-self.context_window :])))
        return await asyncio.to_thread(self._recall, query, session_id) if query else ""

    def _recall(self, query: str, session_id: str | None) -> str:
        memory: Memory = self.memory
        where = (
            [f"session_id = {json.dumps(session_id, ensure_ascii=False)}"]
            if self.session_only and session_id is not None
            else None
        )
        try:
            found = memory.recall(clean(query), budget=self.budget, type=self.kinds, where=where)
        except NotFound:  # no commit yet
            return ""
        if found.verdict == "unknown":
            return ""
        return "\n".join(item.rendered.rstrip("\n") + "\n" for item in found.items)

    async def _aput(self, messages: list[ChatMessage]) -> None:
        lines = [line for line in map(line_of, messages) if line is not None]
        if lines:
            await asyncio.to_thread(self._commit, lines)

    def _commit(self, lines: Sequence[dict[str, Any]]) -> None:
        memory: Memory = self.memory
        try:
            memory.commit(lines, f"keep {len(lines)} messages", allow_secret=self.allow_secret)
        except Refused:
            if len(lines) == 1:
                return
            for line in lines:  # so that the others are kept
                self._commit([line])

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Drops the last items."""
        items = content.split("\n\n")
        dropped = 0
        while items and dropped < tokens_to_truncate * CHARACTERS:
            dropped += len(items.pop()) + 2
        return "\n\n".join(items) + "\n" if items else None


def text_of(message: ChatMessage) -> str:
    return "".join(block.text for block in message.blocks if isinstance(block, TextBlock))


def line_of(message: ChatMessage) -> dict[str, Any] | None:
    """Returns the change line of a message, None for one without text."""
    # The base class notes the session in the message itself.
    session_id = message.additional_kwargs.pop("session_id", None)
    text = clean(text_of(message))
    if not text.strip():
        return None
    props = {"role": message.role.value}
    if session_id is not None:
        props["session_id"] = str(session_id)
    node: dict[str, Any] = {"id": str(uuid.uuid4()), "type": MESSAGE, "summary": text, "props": props}
    if len(text) > MAX_SUMMARY:
        node.update(summary=text[:MAX_SUMMARY], content=text)
    return {"node": node}
