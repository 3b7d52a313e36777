"""Memory and AsyncMemory: the verbs of mnem as methods."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import functools
import hashlib
import http.client
import json
import os
import time
import uuid
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from . import _program, _verbs
from ._errors import AnswerLost, Busy, InvalidInput, MnemError, NotRunning, of_problem
from ._link import Connection, Link, LocalLink, RemoteLink, Reply
from ._verbs import CommitAnswer, MarkAnswer, READERS, RememberAnswer

IDLE = 300.0
"""Seconds after which a shared server ends if no process asks."""

TIMEOUT = 320.0
"""Seconds that one request may take: a little more than the server allows it."""

MAX_LOOKED_AT = 1000
"""Operations among which a lost write is looked for."""

SENT_AGAIN = 8
"""Times that a request is sent in all, if the server ends each time."""

M = TypeVar("M", bound="Memory")
A = TypeVar("A", bound="AsyncMemory")


class Memory(_verbs.Verbs):
    """A memory. Safe for concurrent use by threads, and after a fork.

    Each verb is a method with the parameters of the command; answers are dataclasses of mnem.answers.
    Errors are MnemError. A write is never made twice, even if the server is killed in the middle.
    """

    def __init__(self, link: Link, headers: Mapping[str, str] | None = None) -> None:
        self._link = link
        self._headers = dict(headers or {})

    @classmethod
    def open(
        cls: type[M],
        path: str | os.PathLike[str] = ".",
        *,
        create: bool = True,
        token: str | None = None,
        author: str | None = None,
        agent: str | None = None,
        task: str | None = None,
        tcp: bool | None = None,
        idle: float = IDLE,
        timeout: float = TIMEOUT,
    ) -> M:
        """Opens the memory in a directory, in a database (postgres://…), or at the URL of a server (http://…).

        For a directory or database the server of this user is reached, or started if none runs: one for
        all processes, which ends when idle for so many seconds. create makes a memory if there is none. author,
        agent and task are recorded with changes (by default MNEM_AUTHOR, MNEM_AGENT, MNEM_TASK); MNEM_BRANCH and
        MNEM_SESSION count too. token is for a
        server at a URL (MNEM_TOKEN). tcp reaches a local server on a loopback port with a token, as always on
        Windows, in place of a Unix socket.
        """
        env = os.environ.get
        given = {"MNEM_AUTHOR": author, "MNEM_AGENT": agent, "MNEM_TASK": task}
        headers = {n.replace("MNEM_", "Mnem-").title(): given.get(n) or env(n) for n in _program.CALLER}
        name = os.fspath(path)
        link: Link
        if name.startswith(("http://", "https://")):
            link = RemoteLink(name, token or env("MNEM_TOKEN") or "", timeout)
        else:
            if not name.startswith(("postgres://", "postgresql://")):
                name = os.path.realpath(os.path.expanduser(name))
            use_tcp = _program.WINDOWS if tcp is None else tcp
            link = LocalLink(name, create=create, tcp=use_tcp, idle=idle, timeout=timeout)
        link.give(link.take())
        return cls(link, {k: v for k, v in headers.items() if v})

    def acting(
        self: M,
        *,
        author: str | None = None,
        agent: str | None = None,
        task: str | None = None,
        branch: str | None = None,
        session: str | None = None,
    ) -> M:
        """Returns the same memory for another author, agent, task, branch that is written to, or session."""
        given = {"Author": author, "Agent": agent, "Task": task, "Branch": branch, "Session": session}
        headers = {"Mnem-" + k: v for k, v in given.items() if v is not None}
        return type(self)(self._link, {**self._headers, **headers})

    def close(self) -> None:
        """Closes connections. The shared server ends by itself."""
        self._link.close()

    def __enter__(self: M) -> M:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def server_version(self) -> str:
        """The version of the program that answers."""
        connection = self._link.take()
        self._link.give(connection)
        return connection.version

    # Verbs with a shorter form than the table has.

    def commit(
        self, changes: Iterable[Mapping[str, Any]] = (), message: str | None = None, **options: Any
    ) -> CommitAnswer:
        """Commits change lines: mappings with one member node, edge, embedding or remove.

        options are those of the verb: amend, base, branch, dry_run, expect, expect_node, stage, strict, time,
        allow_secret. Without changes the stage is committed. Conflicts raise Conflict, whose answer has them.
        """
        lines = list(changes)
        arguments = {**options, "message": message, "lines": lines or None}
        return self._verb("commit", arguments)  # type: ignore[no-any-return]

    def forget(self, nodes: str | Iterable[str] = (), **options: Any) -> MarkAnswer:  # type: ignore[override]
        """Marks memories as forgotten: by ids or keys, or by where, type and before. restore takes it back."""
        return self._verb("forget", {**options, "nodes": listed(nodes)})  # type: ignore[no-any-return]

    def mark(self, kind: str, nodes: str | Iterable[str] = (), **options: Any) -> MarkAnswer:  # type: ignore[override]
        """Marks nodes as superseded, expired, retired or forgotten; remove=True takes the mark off."""
        return self._verb("mark", {**options, "kind": kind, "nodes": listed(nodes)})  # type: ignore[no-any-return]

    @contextlib.contextmanager
    def session(self: M, name: str, *, follow: bool = False, at: str | None = None) -> Iterator[M]:
        """Starts a session, which records what recall and retrieve answer; replay repeats it.

        with memory.session("triage") as seen:
            seen.recall("who leads infra")
        """
        self.session_start(name, follow=follow or None, at=at)
        try:
            yield self.acting(session=name)
        finally:
            self.session_end(name)

    # How a verb is asked.

    def _verb(self, name: str, arguments: dict[str, Any]) -> Any:
        read, stream = READERS[name]
        arguments = encoded(arguments)
        try:
            reply = self._request("/v1/" + name, as_json(arguments))
        except AnswerLost as lost:
            return self._answer_of(name, arguments, lost)
        try:
            answer = json.loads(reply.body)
            return [read(a) for a in answer] if stream else read(answer)
        except (ValueError, KeyError, TypeError, AttributeError) as err:
            detail = f"the answer of {name} is not as expected: {err!r}"
            raise MnemError("bad_answer", detail, "are client and server of the same version?") from err

    def _request(self, path: str, body: bytes) -> Reply:
        """Sends a request until it is answered, with a key by which a write is made once."""
        key = uuid.uuid4().hex
        sent_to: str | None = None  # the process that a request without an answer went to
        deadline = time.monotonic() + self._link.timeout
        for attempt in range(1_000_000):
            connection = self._link.take(fresh=sent_to is not None)
            try:
                if sent_to is not None and connection.instance != sent_to:
                    self._look_for(connection, key)
                    sent_to = None
                headers = {**self._headers, "Content-Type": "application/json", "Idempotency-Key": key}
                reply = connection.ask("POST", path, body, headers)
            except (OSError, http.client.HTTPException) as err:
                connection.close()
                sent_to = sent_to or connection.instance
                if attempt >= SENT_AGAIN or time.monotonic() > deadline or isinstance(err, TimeoutError):
                    raise NotRunning("not_running", f"the server ended before it answered: {err}") from err
                continue
            except BaseException:
                connection.close()
                raise
            self._link.give(connection)
            if reply.status == 200 or is_answer(reply):
                return reply
            error = of_problem(reply.status, reply.body)
            if not isinstance(error, Busy) or time.monotonic() > deadline or "lets a request take" in error.detail:
                raise error
            if error.code in ("busy", "interrupted") and "Retry-After" not in reply.headers:
                # The server, or the process that had the memory open, ended: the log tells whether it wrote.
                if attempt >= SENT_AGAIN:
                    raise error
                connection = self._link.take()
                self._look_for(connection, key)
                self._link.give(connection)
                key = uuid.uuid4().hex
            _program.pause(attempt)
        raise AssertionError("unreachable")

    def _look_for(self, connection: Connection, key: str) -> None:
        """Raises AnswerLost if the operation log has a write with a key."""
        word = "key=" + hashlib.sha256(key.encode()).hexdigest()[:16]
        if self._link_has_no_log(connection):
            return
        reply = connection.ask(
            "POST", "/v1/op_log", json.dumps({"limit": MAX_LOOKED_AT}).encode(), {"Content-Type": "application/json"}
        )
        if reply.status != 200:
            raise of_problem(reply.status, reply.body)
        for operation in json.loads(reply.body):
            if word in operation["command"]:
                raise AnswerLost(operation)

    @staticmethod
    def _link_has_no_log(connection: Connection) -> bool:
        return not connection.instance  # an older server, which logs no keys

    def _answer_of(self, name: str, arguments: dict[str, Any], lost: AnswerLost) -> Any:
        """Returns the answer of a write that was made, as the memory tells it."""
        if name == "commit" and lost.commit is not None:
            made = self.log(at=lost.commit, limit=1)[0]
            return CommitAnswer(
                branch=next((r["ref"].removeprefix("refs/heads/") for r in lost.operation["refs"]), ""),
                commit=made.commit, dry_run=False, duplicates=0, edges=made.edges, graph=made.graph, no_change=False,
                nodes=made.nodes, parents=made.parents, unchanged=0,
            )  # fmt: skip
        if name == "remember" and lost.commit is not None:
            found: RememberAnswer = self._verb(
                "remember", {**arguments, "dry_run": True, "without": None, "supersedes": None}
            )
            if found.action == "duplicate":
                return dataclasses.replace(found, action="added", commit=lost.commit, dry_run=False, no_change=False)
        raise lost


class AsyncMemory(_verbs.AsyncVerbs):
    """A memory for asyncio, with the methods of Memory as coroutines.

    Requests run on threads of its own. A cancelled coroutine does not stop a write that was sent.
    """

    def __init__(self, memory: Memory, threads: ThreadPoolExecutor) -> None:
        self._memory, self._threads = memory, threads

    @classmethod
    async def open(cls: type[A], path: str | os.PathLike[str] = ".", **options: Any) -> A:
        """Opens a memory. The options are those of Memory.open."""
        threads = ThreadPoolExecutor(max_workers=16, thread_name_prefix="mnem")
        loop = asyncio.get_running_loop()
        memory = await loop.run_in_executor(threads, functools.partial(Memory.open, path, **options))
        return cls(memory, threads)

    @classmethod
    def of(cls: type[A], memory: Memory) -> A:
        """Returns an open memory for asyncio."""
        return cls(memory, ThreadPoolExecutor(max_workers=16, thread_name_prefix="mnem"))

    def acting(self: A, **who: Any) -> A:
        """Returns the same memory for another author, agent, task, branch or session."""
        return type(self)(self._memory.acting(**who), self._threads)

    async def close(self) -> None:
        """Closes connections and threads."""
        self._threads.shutdown(wait=False)
        self._memory.close()

    async def __aenter__(self: A) -> A:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _run(self, call: Any, *args: Any, **options: Any) -> Any:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, functools.partial(call, *args, **options))

    async def _verb(self, name: str, arguments: dict[str, Any]) -> Any:
        return await self._run(self._memory._verb, name, arguments)

    async def commit(
        self, changes: Iterable[Mapping[str, Any]] = (), message: str | None = None, **options: Any
    ) -> CommitAnswer:
        """See Memory.commit."""
        return await self._run(self._memory.commit, changes, message, **options)  # type: ignore[no-any-return]

    async def forget(self, nodes: str | Iterable[str] = (), **options: Any) -> MarkAnswer:  # type: ignore[override]
        """See Memory.forget."""
        return await self._run(self._memory.forget, nodes, **options)  # type: ignore[no-any-return]

    async def mark(  # type: ignore[override]
        self, kind: str, nodes: str | Iterable[str] = (), **options: Any
    ) -> MarkAnswer:
        """See Memory.mark."""
        return await self._run(self._memory.mark, kind, nodes, **options)  # type: ignore[no-any-return]

    @contextlib.asynccontextmanager
    async def session(self: A, name: str, *, follow: bool = False, at: str | None = None) -> AsyncIterator[A]:
        """See Memory.session."""
        await self.session_start(name, follow=follow or None, at=at)
        try:
            yield self.acting(session=name)
        finally:
            await self.session_end(name)


def is_answer(reply: Reply) -> bool:
    """Reports whether a reply is an answer with bad news, such as a replay that differs."""
    return reply.status == 409 and reply.headers.get_content_type() == "application/json"


def listed(nodes: str | Iterable[str]) -> list[str] | None:
    return ([nodes] if isinstance(nodes, str) else list(nodes)) or None


def as_json(value: Any) -> bytes:
    """Returns a value as JSON. Texts with lone surrogates, and numbers that are not finite, have no such form."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except (ValueError, TypeError, RecursionError) as err:
        raise InvalidInput("invalid_input", f"no JSON form: {err}") from err


def encoded(arguments: dict[str, Any]) -> dict[str, Any]:
    """Returns arguments as the server knows them, without those that are not given."""
    return {
        name.removesuffix("_"): list(value) if isinstance(value, (tuple, set, frozenset)) else value
        for name, value in arguments.items()
        if value is not None and name != "self" and not name.startswith("__")
    }
