"""MnemSession against the SDK's SQLiteSession: the same random operations, the same answers."""

from __future__ import annotations

import asyncio
import json
import random
import unittest
from concurrent.futures import ThreadPoolExecutor
from typing import Any

try:
    from agents import Session, SQLiteSession
    from agents.memory.session_settings import SessionSettings
except ImportError as err:
    raise unittest.SkipTest(f"openai-agents is not installed: {err}") from None

from . import support
from .support import MemoryCase

import mnem
from mnem.openai_agents import MnemSession

TEXTS = ["Hello", "Who leads infra?", "", "日本語", "a\0b", "\ud800", "x" * 5000]


class Random:
    """Draws operations. What it draws depends on the seed alone."""

    def __init__(self, seed: int) -> None:
        self.r = random.Random(seed)

    def item(self) -> Any:
        text = self.r.choice(TEXTS)
        return self.r.choice(
            [
                {"role": self.r.choice(["user", "assistant"]), "content": text},
                {"role": "user", "content": [{"type": "input_text", "text": text}, {"type": "input_image"}]},
                {"type": "function_call", "name": "f", "arguments": json.dumps({"x": text}), "call_id": "c"},
                {"type": "function_call_output", "output": 2**70, "call_id": None, "share": 0.1},
                {},
                text,
            ]
        )

    def operation(self) -> tuple[str, Any]:
        kind = self.r.randrange(20)
        if kind < 8:
            items = [self.item() for _ in range(self.r.choice([0, 1, 1, 2, 10]))]
            if self.r.randrange(20) == 0:
                items.append(self.r.choice([object(), {"a": {1, 2}}]))
            return "add_items", items
        if kind < 13:
            return "pop_item", None
        if kind < 19:
            return "get_items", self.r.choice([None, None, 0, 1, 2, 5, 100, -1])
        return "clear_session", None


async def outcome(session: Any, name: str, argument: Any) -> Any:
    try:
        if name == "add_items":
            return await session.add_items(argument)
        return await (session.get_items(argument) if name == "get_items" else getattr(session, name)())
    except (TypeError, ValueError, RuntimeError) as err:
        return type(err).__name__


class Differences(MemoryCase):
    def test_random_operations(self) -> None:
        draw = Random(support.seed())

        async def run() -> None:
            ids = ["one", "two", 'a"b/ü']
            settings = {"one": None, "two": SessionSettings(limit=3), ids[2]: {"limit": 1}}
            mine = {i: MnemSession(i, self.memory, session_settings=settings[i]) for i in ids}  # type: ignore[arg-type]
            theirs = {i: SQLiteSession(i, session_settings=settings[i]) for i in ids}  # type: ignore[arg-type]
            for n in range(support.operations()):
                where = draw.r.choice(ids)
                name, argument = draw.operation()
                got, want = [await outcome(s[where], name, argument) for s in (mine, theirs)]
                self.assertEqual(got, want, (n, where, name, argument))
            for i in ids:
                self.assertEqual(await mine[i].get_items(10**6), await theirs[i].get_items(10**6))
                mine[i].close()
                theirs[i].close()
                for name in ("get_items", "pop_item", "clear_session"):
                    self.assertEqual(await outcome(mine[i], name, None), await outcome(theirs[i], name, None))
                self.assertEqual(await outcome(mine[i], "add_items", []), await outcome(theirs[i], "add_items", []))

        asyncio.run(run())

    def test_protocol(self) -> None:
        self.assertIsInstance(MnemSession("s", self.memory), Session)

    def test_one_commit_and_undo(self) -> None:
        async def run() -> None:
            session = MnemSession("s", self.memory)
            await session.add_items([{"role": "user", "content": f"fact {i}"} for i in range(5)])  # type: ignore[misc]
            self.assertEqual(len(self.memory.log()), 1)
            await session.clear_session()
            self.memory.undo()
            self.assertEqual(len(await session.get_items()), 5)
            with self.assertRaises(mnem.Refused):
                await session.add_items([{"role": "user", "content": "ghp_0123456789abcdefghij0123456789abcdef"}])
            allowed = MnemSession("s", self.memory, allow_secret=["github-pat"])
            await allowed.add_items([{"role": "user", "content": "ghp_0123456789abcdefghij0123456789abcdef"}])

        asyncio.run(run())
        self.assertEqual(self.memory.retrieve("fact 3", type=["SessionItem"]).items[0].type, "SessionItem")

    def test_each_pop_takes_another_item(self) -> None:
        async def fill() -> None:
            await MnemSession("s", self.memory).add_items([{"n": i} for i in range(24)])  # type: ignore[typeddict-item]

        asyncio.run(fill())
        popped: list[Any] = []

        def pop() -> None:
            async def run() -> None:
                session = MnemSession("s", self.memory)
                while (item := await session.pop_item()) is not None:
                    popped.append(item["n"])  # type: ignore[typeddict-item]

            asyncio.run(run())

        with ThreadPoolExecutor(4) as threads:
            for done in [threads.submit(pop) for _ in range(4)]:
                done.result()
        self.assertEqual(sorted(popped), list(range(24)))


if __name__ == "__main__":
    unittest.main()
