"""MnemStore against LangGraph's InMemoryStore: the same random operations, the same answers."""

from __future__ import annotations

import asyncio
import random
import unittest
from typing import Any

try:
    from langgraph.graph import END, START, StateGraph
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        InvalidNamespaceError,
        ListNamespacesOp,
        MatchCondition,
        PutOp,
        SearchOp,
    )
    from langgraph.store.memory import InMemoryStore
except ImportError as err:
    raise unittest.SkipTest(f"langgraph is not installed: {err}") from None

from typing_extensions import TypedDict

from . import support
from .support import MemoryCase

import mnem
from mnem.langgraph import MnemStore

LABELS = ["users", "docs", "ann", "bob", "für Elise", 'a"b', "*", "x" * 300]
KEYS = ["k1", "k2", "prefs", "a/b", "", "日本", "y" * 300]
WORDS = ["zebra", "apple", "infra", "billing", "Stripe"]


class Random:
    """Draws operations. What it draws depends on the seed alone."""

    def __init__(self, seed: int) -> None:
        self.r = random.Random(seed)

    def namespace(self) -> tuple[str, ...]:
        return tuple(self.r.choice(LABELS) for _ in range(self.r.randint(1, 3)))

    def value(self, depth: int = 0) -> Any:
        kind = self.r.randrange(8 if depth < 2 else 6)
        if kind == 6:
            return [self.value(depth + 1) for _ in range(self.r.randrange(3))]
        if kind == 7:
            return {self.r.choice("abc"): self.value(depth + 1) for _ in range(self.r.randrange(3))}
        return [self.r.randint(-5, 5), self.r.choice(WORDS), 1.5, None, True, self.r.choice([2**70, "\ud800", "a\0"])][
            kind
        ]

    def item(self) -> dict[str, Any]:
        return {self.r.choice("abc"): self.value() for _ in range(self.r.randint(0, 3))} | {"n": self.r.randint(0, 9)}

    def filter(self) -> dict[str, Any] | None:
        operator = self.r.choice(["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"])
        return self.r.choice(
            [None, None, {"n": self.r.randint(0, 9)}, {"n": {operator: self.r.randint(0, 9)}}, {"a": self.value()},
             {"a": {operator: self.value()}}, {"n": {"$odd": 1}}]
        )  # fmt: skip

    def operation(self) -> Any:
        kind = self.r.randrange(10)
        if kind < 4:
            index: Any = self.r.choice([None, None, False, ["a"], ["b.a", "c[*]"]])
            return PutOp(self.namespace(), self.r.choice(KEYS), self.item(), index)
        if kind < 5:
            return PutOp(self.namespace(), self.r.choice(KEYS), None)
        if kind < 7:
            return GetOp(self.namespace(), self.r.choice(KEYS))
        if kind < 9:
            prefix = self.namespace()[: self.r.randrange(4)]
            query = self.r.choice([None, None, self.r.choice(WORDS)])
            return SearchOp(prefix, self.filter(), self.r.randint(0, 12), self.r.randint(0, 3), query)
        conditions = tuple(
            MatchCondition(self.r.choice(["prefix", "suffix"]), self.namespace()) for _ in range(self.r.randrange(2))
        )
        depth = self.r.choice([None, None, 1, 2])
        return ListNamespacesOp(conditions, depth, self.r.randint(0, 12), self.r.randint(0, 2))


def outcome(store: BaseStore, ops: list[Any]) -> Any:
    try:
        return store.batch(ops)
    except (TypeError, ValueError) as err:
        return type(err).__name__


def plain(item: Any) -> Any:
    return None if item is None else (item.namespace, item.key, item.value)


class Differences(MemoryCase):
    def setUp(self) -> None:
        super().setUp()
        self.store = MnemStore(self.memory)
        self.reference = InMemoryStore()
        self.made: list[tuple[tuple[str, ...], str]] = []  # in the order in which items were first put

    def same(self, op: Any, mine: Any, theirs: Any) -> None:
        """Compares answers, except for the differences that MnemStore lists."""
        if isinstance(op, GetOp):
            self.assertEqual(plain(mine), plain(theirs), op)
            if mine is not None:
                self.assertLessEqual(mine.created_at, mine.updated_at)
        elif isinstance(op, SearchOp):
            everything = self.reference.search(op.namespace_prefix, filter=op.filter, limit=10**6)
            everything.sort(key=lambda i: self.made.index((i.namespace, i.key)))
            if op.query:  # the order is mnem's own
                self.assertEqual(len(mine), len(theirs), op)
                ours = self.store.search(op.namespace_prefix, query=op.query, filter=op.filter, limit=10**6)
                self.assertCountEqual(map(repr, map(plain, ours)), map(repr, map(plain, everything)), op)
                self.assertEqual(mine, ours[op.offset : op.offset + op.limit])
            else:
                page = everything[op.offset : op.offset + op.limit]
                self.assertEqual([plain(i) for i in mine], [plain(i) for i in page], op)
        elif isinstance(op, ListNamespacesOp):
            # The reference also lists namespaces that have no items.
            full = ListNamespacesOp(op.match_conditions, None, 10_000, 0)
            named: Any = self.reference.batch([full])[0]
            empty = {n for n in named if not self.reference._data[n]}
            for namespace in empty:
                del self.reference._data[namespace]
            self.assertEqual(mine, self.reference.batch([op])[0], op)
        else:
            self.assertIsNone(mine)

    def test_random_operations(self) -> None:
        draw = Random(support.seed())
        left = support.operations()
        while left > 0:
            ops = [draw.operation() for _ in range(draw.r.choice([1, 1, 1, 2, 5, 20]))]
            left -= len(ops)
            mine, theirs = outcome(self.store, ops), outcome(self.reference, ops)
            if isinstance(theirs, str):
                self.assertIsInstance(mine, str, ops)  # the order of items decides whose error it is
                continue
            # Reads are answered from before the puts, so the reference is compared in that state.
            puts = {(op.namespace, op.key): op for op in ops if isinstance(op, PutOp)}
            if not puts:
                for op, mine_one, theirs_one in zip(ops, mine, theirs):
                    self.same(op, mine_one, theirs_one)
                continue
            for op, mine_one, theirs_one in zip(ops, mine, theirs):
                if isinstance(op, (GetOp, PutOp)):
                    self.same(op, mine_one, theirs_one)
            for place, put in puts.items():
                if put.value is None and place in self.made:
                    self.made.remove(place)
                elif put.value is not None and place not in self.made:
                    self.made.append(place)
        search = SearchOp((), None, 10**6, 0)
        self.same(search, *(s.batch([search])[0] for s in (self.store, self.reference)))

    def test_reads_of_a_batch_come_before_its_puts(self) -> None:
        answers = self.store.batch([PutOp(("a",), "k", {"x": 1}), GetOp(("a",), "k"), SearchOp(("a",))])
        self.assertEqual(answers, [None, None, []])
        self.assertEqual(len(self.memory.log()), 1)

    def test_a_batch_is_one_commit(self) -> None:
        self.store.batch([PutOp(("a",), f"k{i}", {"x": i}) for i in range(20)])
        self.assertEqual([c.message for c in self.memory.log()], ["put 20 store items"])
        self.memory.undo()
        self.assertEqual(self.store.search(("a",)), [])

    def test_bad_input(self) -> None:
        for store in (self.store, self.reference):
            for namespace in ((), ("a.b",), ("",), ("langgraph",), (1,)):
                with self.assertRaises(InvalidNamespaceError):
                    store.put(namespace, "k", {"a": 1})  # type: ignore[arg-type]
        with self.assertRaises(TypeError):
            self.store.put(("a",), "k", {"a": object()})
        with self.assertRaises(mnem.InvalidInput):
            self.store.put(("a",), "k", {"a": "x" * 2_000_000})
        with self.assertRaises(mnem.InvalidInput):
            self.store.put(("\ud800",), "k", {"a": 1})
        with self.assertRaises(mnem.Refused):
            self.store.put(("a",), "k", {"token": "ghp_0123456789abcdefghij0123456789abcdef"})
        with self.assertRaises(InvalidNamespaceError):
            self.store.batch([PutOp(("a.b",), "k", {"a": 1})])
        self.assertEqual(self.store.list_namespaces(), [])

    def test_query_ranks(self) -> None:
        for i, text in enumerate(["the zebra eats grass", "Stripe charges customers", "apples are red"]):
            self.store.put(("docs",), f"k{i}", {"text": text})
        self.store.put(("docs",), "hidden", {"text": "zebra zebra"}, index=False)
        found = self.store.search(("docs",), query="who charges customers")
        self.assertEqual(found[0].key, "k1")
        self.assertIsNotNone(found[0].score)
        found = self.store.search(("docs",), query="zebra")
        self.assertEqual(found[0].key, "k0")
        self.assertEqual([i.score for i in found if i.key == "hidden"], [None])

    def test_async(self) -> None:
        async def run() -> None:
            await asyncio.gather(*(self.store.aput(("a",), f"k{i}", {"i": i}) for i in range(10)))
            self.assertEqual(len(await self.store.asearch(("a",), limit=100)), 10)
            item = await self.store.aget(("a",), "k3")
            assert item is not None
            self.assertEqual(item.value, {"i": 3})
            await self.store.adelete(("a",), "k3")
            self.assertIsNone(await self.store.aget(("a",), "k3"))
            self.assertEqual(await self.store.alist_namespaces(), [("a",)])

        asyncio.run(run())


class Expiry(MemoryCase):
    def test_ttl(self) -> None:
        now = [1000.0]
        store = MnemStore(self.memory, ttl={"default_ttl": 10, "refresh_on_read": True}, now=lambda: now[0])
        store.put(("a",), "ten", {"x": 1})
        store.put(("a",), "one", {"x": 2}, ttl=1)
        store.put(("a",), "ever", {"x": 3}, ttl=None)
        now[0] += 59
        commits = len(self.memory.log())
        self.assertIsNotNone(store.get(("a",), "one"))  # which lives another minute
        self.assertEqual(self.memory.log(limit=1)[0].message, "refresh the ttl of 1 items")
        self.assertIsNotNone(store.get(("a",), "ten", refresh_ttl=False))
        self.assertIsNotNone(store.get(("a",), "ever"))
        self.assertEqual(len(self.memory.log()), commits + 1)
        now[0] += 59
        self.assertEqual(len(store.search(("a",), refresh_ttl=False)), 3)
        now[0] += 1
        self.assertIsNone(store.get(("a",), "one"))
        self.assertEqual([i.key for i in store.search(("a",))], ["ten", "ever"])
        self.assertEqual(store.sweep_ttl(), 1)
        self.assertEqual(store.sweep_ttl(), 0)
        now[0] += 600
        self.assertEqual([i.key for i in store.search(("a",))], ["ever"])
        store.put(("a",), "ten", {"x": 4})  # alive again
        self.assertEqual([i.key for i in store.search(("a",))], ["ten", "ever"])
        self.assertEqual(store.list_namespaces(), [("a",)])


class State(TypedDict):
    question: str
    answer: str


class Graphs(MemoryCase):
    def test_store_of_a_graph(self) -> None:
        """A graph without checkpoints remembers through the store."""

        def remember(state: State, *, store: BaseStore) -> dict[str, str]:
            store.put(("facts",), "lead", {"text": "Alice leads infra"})
            return {}

        def answer(state: State, *, store: BaseStore) -> dict[str, str]:
            return {"answer": store.search(("facts",), query=state["question"])[0].value["text"]}

        builder = StateGraph(State)
        builder.add_node("remember", remember)
        builder.add_node("answer", answer)
        builder.add_edge(START, "remember")
        builder.add_edge("remember", "answer")
        builder.add_edge("answer", END)
        graph = builder.compile(store=MnemStore(self.memory))
        done = graph.invoke({"question": "who leads infra", "answer": ""})
        self.assertEqual(done["answer"], "Alice leads infra")


if __name__ == "__main__":
    unittest.main()
