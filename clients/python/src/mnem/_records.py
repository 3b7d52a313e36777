"""Records of adapters: nodes of one type with a path of labels, a JSON value, and text that they are found by."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from ._client import Memory, as_json
from ._errors import InvalidInput, NotFound
from ._program import pause
from ._verbs import ShowAnswer

Path = tuple[str, ...]

MAX_KEY = 400
"""Bytes of a path that the key of its node has in full; longer ones are hashed. A key may have 512."""

FEW = 8
"""Records that are read one by one rather than with all others."""

PATIENCE = 60.0
"""Seconds for which a write is repeated if others change the same records. A server reads the last commit on disk, and
refuses to remove what a write still under way has removed."""


@dataclass
class Record:
    """A record as the memory has it."""

    path: Path
    value: Any
    created: str
    updated: str
    props: dict[str, Any]
    id: str

    @property
    def order(self) -> int:
        """Records that were made earlier have a smaller one."""
        return int(self.props["order"])


@dataclass
class Put:
    """A record to write: more are further properties, text is searched by queries."""

    value: Any
    text: str | None = None
    more: Mapping[str, Any] | None = None


class Records:
    """The records of one type under a prefix of keys."""

    def __init__(self, memory: Memory, kind: str, prefix: str, allow_secret: Sequence[str] | None = None) -> None:
        self.memory, self.kind, self.prefix = memory, kind, prefix
        self.allow_secret = list(allow_secret or ()) or None
        self.last_order = 0

    def key(self, path: Path) -> str:
        """Returns the key of the node of a record."""
        name = as_json(list(path)).decode()
        if len(name.encode()) > MAX_KEY or "\x00" in name:
            name = hashlib.sha256(name.encode()).hexdigest()
        return self.prefix + name

    def get(self, path: Path) -> Record | None:
        try:
            node = cast(ShowAnswer, self.memory.show("key:" + self.key(path)))
        except NotFound:
            return None
        return self.record(node.props, node.created, node.updated, node.id)

    def record(self, props: dict[str, Any], created: str, updated: str | None, id: str) -> Record:
        value = json.loads(props["value"]) if "value" in props else None
        return Record(tuple(json.loads(props["path"])), value, created, updated or created, props, id)

    def list(self, under: Path = ()) -> list[Record]:
        """Returns the records whose paths begin with labels, in the order in which they were made."""
        where = [f"label{i} = {json.dumps(label, ensure_ascii=False)}" for i, label in enumerate(under)]
        try:
            page = self.memory.ls(type=[self.kind], where=where or None, limit=0)
        except NotFound:  # no commit yet
            return []
        found = [self.record(n.props, n.created, n.updated, n.id) for n in page.nodes]
        return sorted((r for r in found if r.path[: len(under)] == under), key=lambda r: r.order)

    def existing(self, paths: Iterable[Path]) -> dict[Path, Record]:
        wanted = list(paths)
        if len(wanted) <= FEW:
            found = ((path, self.get(path)) for path in wanted)
            return {path: record for path, record in found if record is not None}
        everything = {r.path: r for r in self.list()}
        return {path: everything[path] for path in wanted if path in everything}

    def next_order(self) -> int:
        """Returns a number that grows with time, in microseconds."""
        self.last_order = max(time.time_ns() // 1000, self.last_order + 1)
        return self.last_order

    def write(self, changes: Mapping[Path, Put | None], message: str, fresh: bool = False) -> bool:
        """Puts and removes records in one commit; None removes. Returns whether anything changed.

        fresh says that no record exists yet.
        """
        for again in attempts():
            existing = {} if fresh else self.existing(changes)
            lines = []
            for path, put in changes.items():
                old = existing.get(path)
                if put is not None:
                    lines.append({"node": self.line(path, put, old)})
                elif old is not None:
                    lines.append({"remove": {"node": self.key(path)}})
            if not lines:
                return False
            try:
                return not self.memory.commit(lines, message, allow_secret=self.allow_secret).no_change
            except InvalidInput as err:
                if "no node" not in err.detail or not again:
                    raise  # else another process removed one of them
        raise AssertionError("unreachable")

    def extend(self, changes: Mapping[Path, Put], message: str) -> None:
        """Changes further properties of records alone. Records that were removed since are left out."""
        for again in attempts():
            lines = [
                {"node": {"key": self.key(path), "props": dict(put.more or {})}}
                for path, put in changes.items()
                if path in self.existing(changes)
            ]
            if not lines:
                return
            try:
                self.memory.commit(lines, message, allow_secret=self.allow_secret)
                return
            except InvalidInput as err:
                if "type" not in err.detail or not again:
                    raise  # else another process removed one of them

    def line(self, path: Path, put: Put, old: Record | None) -> dict[str, Any]:
        props = {
            **{f"label{i}": label for i, label in enumerate(path)},
            **(put.more or {}),
            "order": old.order if old else self.next_order(),
            "path": as_json(list(path)).decode(),
            "value": value_text(put.value),
        }
        line: dict[str, Any] = {"key": self.key(path), "type": self.kind, "props": props, "replace": True}
        if put.text:
            line["content"] = clean(put.text)
        return line

    def search(self, query: str, under: Path = ()) -> Sequence[tuple[str, int]]:
        """Returns ids and scores of the records that a query finds, best first."""
        where = [f"label{i} = {json.dumps(label, ensure_ascii=False)}" for i, label in enumerate(under)]
        try:
            answer = self.memory.retrieve(query, type=[self.kind], where=where or None, limit=1000, budget=0)
        except NotFound:
            return []
        return [(item.id, item.score) for item in answer.items]


def attempts() -> Iterator[bool]:
    """Yields whether there is time for another attempt after this one, and pauses between them."""
    deadline = time.monotonic() + PATIENCE
    for attempt in range(1_000_000):
        again = time.monotonic() < deadline
        yield again
        if not again:
            return
        pause(attempt)


def value_text(value: Any) -> str:
    """Returns a value as JSON, as json.dumps reads and refuses it."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # lone surrogates, which escapes can say
        return json.dumps(value)
    return text


def clean(text: str) -> str:
    """Returns a text that is searched, without lone surrogates."""
    return text.encode("utf-8", "replace").decode()
