"""A LangGraph store in a memory: every batch of puts is one commit.

    from mnem import Memory
    from mnem.langgraph import MnemStore

    store = MnemStore(Memory.open("notes"))
    graph = builder.compile(store=store)

It answers as InMemoryStore does, with these differences:

- A query ranks items as mnem's retrieve does, by words and meaning, without an index configuration. Items that
  it does not find follow without a score, as InMemoryStore has items without vectors follow. index chooses
  the text that is searched; index=False leaves an item without a score.
- Items come in the order in which they were first put, across namespaces. InMemoryStore goes namespace by namespace, in
  the order in which these were first named. So a filter that compares what cannot be compared may raise the error of
  another item.
- Namespaces are listed while they have items. InMemoryStore also lists those that were only read from, or emptied.
- created_at is the time of the first put; InMemoryStore sets it at each put.
- Values are read back from JSON: a tuple is a list then, and names are texts. What json.dumps refuses raises its
  TypeError; a value beyond about 900 kB raises InvalidInput. InMemoryStore keeps the objects themselves.
- Items read are copies: changing one does not change the store.
- ttl is supported. A read with refresh_ttl, the default, writes the new times of expiry of all items that it read in
  one commit. Items that expired are never returned (omit_expired is always on); sweep_ttl() removes them in one commit.
- A put that looks like it holds a credential raises Refused, unless allow_secret names the rule.
- Labels and keys with a lone surrogate raise InvalidInput. batch() checks labels, as put() does.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, cast

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    get_text_at_path,
    tokenize_path,
    validate_op_namespace,
)

from ._client import Memory
from ._records import Path, Put, Record, Records

__all__ = ["MnemStore"]

SCORE = 65536
"""The score of mnem that is 1.0."""


class MnemStore(BaseStore):
    """A BaseStore of LangGraph in a memory. Safe for concurrent use.

    kind is the type of the nodes; stores of different kinds do not see each other. fields are the paths whose text
    queries search, by default the whole value. now returns the time in seconds, for tests.
    """

    supports_ttl = True
    __slots__ = ("_fields", "_now", "_records", "ttl_config")

    def __init__(
        self,
        memory: Memory,
        *,
        kind: str = "StoreItem",
        fields: list[str] | None = None,
        ttl: TTLConfig | None = None,
        allow_secret: Sequence[str] | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._records = Records(memory, kind, f"{kind}/", allow_secret)
        self._fields = fields or ["$"]
        self._now = now
        self.ttl_config = ttl

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Answers all reads from before the puts, then makes one commit of the puts."""
        results: list[Result] = []
        puts: dict[Path, PutOp] = {}
        read: dict[Path, Record] = {}
        for op in ops:
            if isinstance(op, (GetOp, SearchOp, PutOp, ListNamespacesOp)):
                validate_op_namespace(op)
            result: Result = None
            if isinstance(op, GetOp):
                result = self._get(op, read)
            elif isinstance(op, SearchOp):
                result = self._search(op, read)
            elif isinstance(op, ListNamespacesOp):
                result = self._namespaces(op)
            elif isinstance(op, PutOp):
                puts[(*op.namespace, op.key)] = op
            else:
                raise ValueError(f"Unknown operation type: {type(op)}")
            results.append(result)
        self._refresh({path: r for path, r in read.items() if path not in puts})
        if puts:
            changes = {path: self._put(op) for path, op in puts.items()}
            self._records.write(changes, message(puts))
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """batch on a thread."""
        listed = list(ops)
        return await asyncio.get_running_loop().run_in_executor(None, self.batch, listed)

    def sweep_ttl(self) -> int:
        """Removes expired items in one commit and returns their number."""
        gone = [r for r in self._records.list() if self._expired(r)]
        self._records.write({r.path: None for r in gone}, f"remove {len(gone)} expired items")
        return len(gone)

    def _expired(self, record: Record) -> bool:
        expires = record.props.get("expires")
        return expires is not None and expires <= self._now() * 1e6

    def _alive(self, under: Path) -> list[Record]:
        return [r for r in self._records.list(under) if not self._expired(r)]

    def _get(self, op: GetOp, read: dict[Path, Record]) -> Item | None:
        record = self._records.get((*op.namespace, op.key))
        if record is None or self._expired(record):
            return None
        if op.refresh_ttl:
            read[record.path] = record
        return Item(**members(record))

    def _search(self, op: SearchOp, read: dict[Path, Record]) -> list[SearchItem]:
        found = [r for r in self._alive(op.namespace_prefix) if len(r.path) > len(op.namespace_prefix)]
        found = [r for r in found if matches(r.value, op.filter)]
        scores: dict[str, float] = {}
        if op.query:
            searched = {r.id for r in found if r.props["searched"]}
            hits = self._records.search(op.query, op.namespace_prefix)
            scores = {id: score / SCORE for id, score in hits if id in searched}
            rank = {id: i for i, id in enumerate(scores)}
            found.sort(key=lambda r: rank.get(r.id, len(rank)))
        page = found[op.offset : op.offset + op.limit]
        if op.refresh_ttl:
            read.update({r.path: r for r in page})
        return [SearchItem(**members(r), score=scores.get(r.id)) for r in page]

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        namespaces = {r.path[:-1] for r in self._alive(())}
        for condition in op.match_conditions or ():
            namespaces = {n for n in namespaces if fits(condition, n)}
        if op.max_depth is not None:
            namespaces = {n[: op.max_depth] for n in namespaces}
        return sorted(namespaces)[op.offset : op.offset + op.limit]

    def _put(self, op: PutOp) -> Put | None:
        if op.value is None:
            return None
        value = json.loads(json.dumps(dict(op.value)))
        more: dict[str, Any] = {"searched": op.index is not False}
        if op.ttl is not None:
            more["ttl"] = round(op.ttl * 60e6)
            more["expires"] = round(self._now() * 1e6) + more["ttl"]
        text = None
        if op.index is not False:
            paths = op.index if op.index is not None else self._fields
            text = "\n".join(t for p in paths for t in get_text_at_path(value, tokenize_path(p) if p != "$" else p))
        return Put(value, text, more)

    def _refresh(self, read: dict[Path, Record]) -> None:
        """Writes the new times of expiry of items that were read."""
        changes: dict[Path, Put] = {}
        for path, record in read.items():
            if (ttl := record.props.get("ttl")) is not None:
                more = {"searched": record.props["searched"], "ttl": ttl, "expires": round(self._now() * 1e6) + ttl}
                changes[path] = Put(record.value, None, more)
        if changes:
            self._records.extend(changes, f"refresh the ttl of {len(changes)} items")


def members(record: Record) -> dict[str, Any]:
    """Returns the arguments of Item. Item takes times as datetime or text."""
    return {
        "value": record.value,
        "key": record.path[-1],
        "namespace": record.path[:-1],
        "created_at": moment(record.created),
        "updated_at": moment(record.updated),
    }


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def message(puts: dict[Path, PutOp]) -> str:
    removed = sum(op.value is None for op in puts.values())
    parts = [f"put {len(puts) - removed}"] * (removed < len(puts)) + [f"delete {removed}"] * (removed > 0)
    return " and ".join(parts) + " store items"


def fits(condition: MatchCondition, namespace: tuple[str, ...]) -> bool:
    """Reports whether a namespace begins or ends with a path; "*" stands for any label."""
    path = condition.path
    if len(namespace) < len(path):
        return False
    if condition.match_type == "prefix":
        pairs = zip(namespace, path)
    elif condition.match_type == "suffix":
        pairs = zip(reversed(namespace), reversed(path))
    else:
        raise ValueError(f"Unsupported match type: {condition.match_type}")
    return all(p == "*" or n == p for n, p in pairs)


def matches(value: dict[str, Any], wanted: dict[str, Any] | None) -> bool:
    return not wanted or all(compare(value.get(key), want) for key, want in wanted.items())


def compare(value: Any, want: Any) -> bool:
    """Compares a member with what a filter wants of it: operators, members, items or an equal value."""
    if isinstance(want, dict):
        if any(k.startswith("$") for k in want):
            return all(operate(value, operator, to) for operator, to in want.items())
        return isinstance(value, dict) and all(compare(value.get(k), v) for k, v in want.items())
    if isinstance(want, (list, tuple)):
        same = isinstance(value, (list, tuple)) and len(value) == len(want)
        return same and all(compare(v, w) for v, w in zip(value, want))
    return cast(bool, value == want)


def operate(value: Any, operator: str, to: Any) -> bool:
    if operator == "$eq":
        return cast(bool, value == to)
    if operator == "$ne":
        return cast(bool, value != to)
    if operator == "$gt":
        return float(value) > float(to)
    if operator == "$gte":
        return float(value) >= float(to)
    if operator == "$lt":
        return float(value) < float(to)
    if operator == "$lte":
        return float(value) <= float(to)
    raise ValueError(f"Unsupported operator: {operator}")
