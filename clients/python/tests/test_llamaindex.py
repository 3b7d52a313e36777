"""MnemMemoryBlock in LlamaIndex's Memory."""

from __future__ import annotations

import asyncio
import random
import unittest
from typing import Any

try:
    from llama_index.core.base.llms.types import ChatMessage, ImageBlock, TextBlock
    from llama_index.core.memory import Memory as ChatMemory
except ImportError as err:
    raise unittest.SkipTest(f"llama-index-core is not installed: {err}") from None

from . import support
from .support import MemoryCase

from mnem.llamaindex import MnemMemoryBlock

WORDS = "zebra apple infra billing stripe printer floor garden river Tuesday".split()


class Blocks(MemoryCase):
    def messages(self) -> list[Any]:
        page: Any = self.memory.ls(type=["Message"], limit=0)
        nodes: list[Any] = [self.memory.show(n.id) for n in page.nodes]
        return [(n.content or n.summary, n.props) for n in nodes]

    def test_random_messages(self) -> None:
        """Every message with a text is stored once, with its role and session."""
        draw = random.Random(support.seed())
        block = MnemMemoryBlock(memory=self.memory)
        want: list[Any] = []

        async def run() -> None:
            for _ in range(support.operations(60, 1000)):
                session = draw.choice([None, "one", 'two "2"'])
                batch = []
                for _ in range(draw.choice([0, 1, 2, 7])):
                    text = " ".join(draw.choices(WORDS, k=draw.choice([0, 3, 40, 1000])))
                    role = draw.choice(["user", "assistant", "system"])
                    blocks: list[Any] = draw.choice(
                        [[TextBlock(text=text)], [TextBlock(text=text), ImageBlock(url="http://x/y.png")]]
                    )
                    batch.append(ChatMessage(role=role, blocks=blocks))
                    if text:
                        want.append((text, {"role": role} | ({"session_id": session} if session else {})))
                await block.aput(batch, session_id=session)
                for message in batch:
                    self.assertNotIn("session_id", message.additional_kwargs)
                await block.aget(batch, session_id=session)

        asyncio.run(run())
        key = repr
        self.assertEqual(sorted(self.messages(), key=key), sorted(want, key=key))

    def test_it_recalls(self) -> None:
        self.memory.remember("The printer is on floor two")

        async def run() -> None:
            block = MnemMemoryBlock(memory=self.memory)
            self.assertEqual(await block.aget([]), "")
            await block.aput([ChatMessage(role="user", content="Alice leads infra")], session_id="one")
            ask = [ChatMessage(role="user", content="where is the printer?")]
            self.assertIn("floor two", await block.aget(ask))
            self.assertEqual(await block.aget([ChatMessage(role="user", content="who runs the cafeteria?")]), "")
            ask = [ChatMessage(role="user", content="who leads infra?")]
            self.assertIn("Alice", await block.aget(ask))
            only = MnemMemoryBlock(memory=self.memory, session_only=True)
            self.assertIn("Alice", await only.aget(ask, session_id="one"))
            self.assertEqual(await only.aget(ask, session_id="two"), "")
            kinds = MnemMemoryBlock(memory=self.memory, kinds=["Message"])
            self.assertEqual(await kinds.aget([ChatMessage(role="user", content="printer")]), "")

        asyncio.run(run())

    def test_empty_memory_and_secrets(self) -> None:
        async def run() -> None:
            block = MnemMemoryBlock(memory=self.memory)
            self.assertEqual(await block.aget([ChatMessage(role="user", content="anything")]), "")
            secret = "ghp_0123456789abcdefghij0123456789abcdef"
            await block.aput([ChatMessage(role="user", content=t) for t in (secret, "kept\ud800", " ")])
            self.assertEqual([m[0] for m in self.messages()], ["kept?"])

        asyncio.run(run())

    def test_truncation(self) -> None:
        block = MnemMemoryBlock(memory=self.memory)

        async def run() -> None:
            self.assertEqual(await block.atruncate("one\n\ntwo\n", 1), "one\n")
            self.assertIsNone(await block.atruncate("one\n\ntwo\n", 100))

        asyncio.run(run())

    def test_in_a_chat_memory(self) -> None:
        async def run() -> None:
            memory = ChatMemory.from_defaults(
                session_id="chat", token_limit=60, chat_history_token_ratio=0.5, token_flush_size=20,
                memory_blocks=[MnemMemoryBlock(memory=self.memory, budget=200)],
            )  # fmt: skip
            for i, word in enumerate(WORDS):
                await memory.aput(ChatMessage(role="user", content=f"The {word} has the number {i * 111}."))
                await memory.aput(ChatMessage(role="assistant", content="I see."))
            self.assertIn("The zebra has the number 0.", [m[0] for m in self.messages()])
            await memory.aput(ChatMessage(role="user", content="What number has the apple?"))
            given = "\n".join(str(m.content) for m in await memory.aget())
            self.assertIn("111", given)

        asyncio.run(run())


if __name__ == "__main__":
    unittest.main()
