"""Connections to a server: a local one, which is started when none answers, or a remote one."""

from __future__ import annotations

import http.client
import json
import os
import socket
import ssl
import subprocess
import threading
import time
import urllib.parse
import warnings

from . import _program
from ._errors import Busy, MnemError, NotFound, NotRunning, VersionWarning, of_problem
from ._version import __version__

MAX_IDLE = 16
"""Connections that are kept open between requests."""


class Reply:
    """A response that was read."""

    __slots__ = ("body", "headers", "status")

    def __init__(self, status: int, headers: http.client.HTTPMessage, body: bytes) -> None:
        self.status, self.headers, self.body = status, headers, body


class Connection:
    """One connection to one process of a server."""

    def __init__(self, http_connection: http.client.HTTPConnection, base: str, token: str) -> None:
        self.http, self.base = http_connection, base
        self.fixed = {"Accept": "application/json"}
        if token:
            self.fixed["Authorization"] = "Bearer " + token
        self.instance = ""
        self.version = ""

    def ask(self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None) -> Reply:
        self.http.request(method, self.base + path, body, {**self.fixed, **(headers or {})})
        response = self.http.getresponse()
        return Reply(response.status, response.headers, response.read())

    def greet(self) -> None:
        """Finds out which process answers, and its version."""
        reply = self.ask("GET", "/v1/version")
        if reply.status != 200:
            raise of_problem(reply.status, reply.body)
        try:
            self.version = str(json.loads(reply.body)["version"])
        except (ValueError, KeyError, TypeError):
            raise of_problem(reply.status, reply.body) from None
        self.instance = reply.headers.get("Mnem-Instance", "")

    def close(self) -> None:
        self.http.close()


class UnixConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Link:
    """A pool of connections. Safe for concurrent use, and after a fork."""

    def __init__(self, timeout: float) -> None:
        self.timeout = timeout
        self.guard = threading.Lock()
        self.idle: list[Connection] = []
        self.pid = os.getpid()
        self.warned = False

    def dial(self) -> Connection:
        """Returns a new connection; raises OSError if nothing answers."""
        raise NotImplementedError

    def renew(self) -> Connection:
        """Returns a new connection after nothing answered."""
        return self.dial()

    def take(self, fresh: bool = False) -> Connection:
        """Returns a connection, an open one unless fresh."""
        with self.guard:
            if self.pid != os.getpid():
                self.pid, fresh = os.getpid(), True  # the connections belong to the parent
            if fresh:
                stale, self.idle = self.idle, []
                for connection in stale:
                    connection.close()
            elif self.idle:
                return self.idle.pop()
        try:
            connection = self.dial()
        except (OSError, http.client.HTTPException):
            connection = self.renew()
        self.compare(connection.version)
        return connection

    def give(self, connection: Connection) -> None:
        with self.guard:
            if len(self.idle) < MAX_IDLE and self.pid == os.getpid():
                self.idle.append(connection)
                return
        connection.close()

    def compare(self, version: str) -> None:
        """Warns once if client and server differ. A development build has no version to compare."""
        if self.warned or version in ("devel", "(devel)", __version__) or version.lstrip("v") == __version__:
            return
        self.warned = True
        warnings.warn(
            f"mnem-memory {__version__} talks to mnem {version}: members of answers may differ. "
            "Update one of them; a shared server ends by itself when no process uses it.",
            VersionWarning,
            stacklevel=2,
        )

    def close(self) -> None:
        with self.guard:
            idle, self.idle = self.idle, []
        for connection in idle:
            connection.close()


class RemoteLink(Link):
    """A server at a URL, which this client does not start."""

    def __init__(self, url: str, token: str, timeout: float) -> None:
        super().__init__(timeout)
        parts = urllib.parse.urlsplit(url)
        if not parts.hostname:
            raise ValueError(f"{url!r} has no host")
        self.url, self.parts, self.token = url, parts, token

    def dial(self) -> Connection:
        host, port = self.parts.hostname or "", self.parts.port
        opened: http.client.HTTPConnection
        if self.parts.scheme == "https":
            opened = http.client.HTTPSConnection(host, port, timeout=self.timeout, context=ssl.create_default_context())
        else:
            opened = http.client.HTTPConnection(host, port, timeout=self.timeout)
        connection = Connection(opened, self.parts.path.rstrip("/"), self.token)
        try:
            connection.greet()
        except BaseException:
            connection.close()
            raise
        return connection

    def renew(self) -> Connection:
        for attempt in range(6):
            _program.pause(attempt + 2)
            try:
                return self.dial()
            except (OSError, http.client.HTTPException) as err:
                last = err
        raise NotRunning("not_running", f"{self.url}: {last}", "start 'mnem serve' there")


class LocalLink(Link):
    """The server of a memory on this machine, which all processes of the user share."""

    def __init__(self, repository: str, *, create: bool, tcp: bool, idle: float, timeout: float) -> None:
        super().__init__(timeout)
        self.repository, self.create, self.idle_time = repository, create, idle
        if "://" not in repository:
            _program.ensure(repository, create)
        self.place = _program.Place(repository, tcp)

    def dial(self) -> Connection:
        opened: http.client.HTTPConnection
        if self.place.tcp:
            found = _program.read_start_file(self.place.start_file)
            if found is None:
                raise FileNotFoundError(self.place.start_file)
            url, token = found
            parts = urllib.parse.urlsplit(url)
            opened = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=self.timeout)
        else:
            token = ""
            opened = UnixConnection(str(self.place.socket), self.timeout)
        connection = Connection(opened, "", token)
        try:
            connection.greet()
        except MnemError as err:
            connection.close()
            if err.code in ("unauthorized", "bad_answer"):  # the port belongs to another program now
                raise ConnectionError(str(err)) from err
            raise
        except BaseException:
            connection.close()
            raise
        return connection

    def renew(self) -> Connection:
        """Starts the server unless another process just did."""
        with _program.locked(self.place.lock):
            for attempt in range(12):
                try:
                    return self.dial()
                except (OSError, http.client.HTTPException):
                    pass
                try:
                    self.start()
                except Busy:  # a client that does not know this lock started one, or one is about to end
                    _program.pause(attempt)
            try:
                return self.dial()
            except (OSError, http.client.HTTPException) as err:
                raise NotRunning("not_running", f"mnem serve started but does not answer: {err}") from err

    def start(self) -> None:
        """Starts a server and waits until it has opened the memory; makes one in a database if there is none."""
        try:
            self.wait(self.place.start(self.idle_time))
        except NotFound:
            if not self.create or "://" not in self.repository:
                raise
            _program.init(self.repository)
            self.wait(self.place.start(self.idle_time))

    def wait(self, server: subprocess.Popen[bytes]) -> None:
        """Waits until a server is ready. Raises the error that it ended with instead."""
        deadline = time.monotonic() + _program.START_TIMEOUT
        for attempt in range(1_000_000):
            try:
                connection = self.dial()
                ready = connection.ask("GET", "/readyz").status == 200
                connection.close()
                if ready:
                    return
            except (OSError, http.client.HTTPException):
                pass
            code = server.poll()
            if code is not None:
                raise self.place.failure(code)
            if time.monotonic() > deadline:
                raise NotRunning("not_running", f"mnem serve did not open {self.place.shown} in time")
            _program.pause(attempt)
