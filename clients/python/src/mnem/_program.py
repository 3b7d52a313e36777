"""Finds the program mnem, and starts the server that all processes of a user share."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import pathlib
import queue
import shutil
import stat
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
import urllib.parse
from collections.abc import Iterator

from ._errors import Busy, MnemError, NotFound, NotRunning, of_problem

WINDOWS = sys.platform == "win32"

CALLER = ("MNEM_AUTHOR", "MNEM_AGENT", "MNEM_TASK", "MNEM_BRANCH", "MNEM_SESSION")
"""Variables that say who asks. Each request names them; the shared server must not have those of one process."""

BUSY = 6
"""The exit code of a server whose socket or start file another one has."""

START_TIMEOUT = 60.0
"""Seconds that a server has to begin to listen."""


def program() -> str:
    """Returns the path of mnem: $MNEM_PROGRAM, the one installed with this package, or the one in PATH."""
    if named := os.environ.get("MNEM_PROGRAM"):
        return named
    name = "mnem.exe" if WINDOWS else "mnem"
    package = pathlib.Path(__file__).resolve().parent
    places = [sysconfig.get_path("scripts"), str(pathlib.Path(sys.executable).parent), str(package.parent / "bin")]
    with contextlib.suppress(KeyError):  # Python built without a scheme for users
        places.append(sysconfig.get_path("scripts", scheme=sysconfig.get_preferred_scheme("user")))
    for place in places:
        path = os.path.join(place, name)
        if is_program(path):
            return path
    if found := shutil.which("mnem"):
        return found
    raise MnemError(
        "no_program",
        "the program mnem is not installed",
        "install a wheel of mnem-memory for this platform, put mnem in PATH, or set MNEM_PROGRAM",
    )


def is_program(path: str) -> bool:
    """Reports whether a path leads to an executable file that is not a script of Python."""
    try:
        with open(path, "rb") as file:
            return os.access(path, os.X_OK) and file.read(2) != b"#!"
    except OSError:
        return False


def run_directory() -> pathlib.Path:
    """Returns the directory of sockets and locks, which only this user may enter."""
    if WINDOWS:
        base = os.environ.get("LOCALAPPDATA") or tempfile.gettempdir()
        path = pathlib.Path(base) / "mnem" / "run"
        path.mkdir(parents=True, exist_ok=True)
        return path
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime and os.path.isdir(runtime) and os.stat(runtime).st_uid == os.getuid():
        path = pathlib.Path(runtime) / "mnem"
    else:
        path = pathlib.Path(tempfile.gettempdir()) / f"mnem-run-{os.getuid()}"
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode=0o700)
    info = path.lstat()
    if not stat.S_ISDIR(info.st_mode) or info.st_uid != os.getuid() or info.st_mode & 0o077:
        raise NotRunning("not_running", f"{path} is not a directory of this user alone", "remove it")
    return path


@contextlib.contextmanager
def locked(path: pathlib.Path) -> Iterator[None]:
    """Holds a lock that the system releases when the process ends."""
    with open(path, "a+b") as file:
        if sys.platform == "win32":
            import msvcrt

            while True:
                try:
                    msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
                    break
                except OSError:  # it waits ten seconds
                    continue
            try:
                yield
            finally:
                file.seek(0)
                msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def digest(text: str) -> str:
    return hashlib.sha256(os.fsencode(text)).hexdigest()[:20]


def ensure(repository: str, create: bool) -> None:
    """Makes an empty repository in a directory that has none.

    A server may still run for a removed one: it then answers for the new one.
    """
    directory = os.path.join(repository, ".mnem")
    # What init writes last: before that, another process is making it.
    if os.path.exists(os.path.join(directory, ".gitignore")) or (not create and os.path.exists(directory)):
        return
    if not create:
        raise NotFound("not_found", f"there is no memory in {repository}", "open it with create=True to make one")
    with locked(run_directory() / f"{digest(repository)}.lock"):
        if not os.path.exists(directory):
            init(repository)


class Place:
    """The files of one shared server: its socket or start file, its lock and its log."""

    def __init__(self, repository: str, tcp: bool) -> None:
        name = digest(repository)
        directory = run_directory()
        self.repository, self.tcp = repository, tcp
        self.socket = directory / f"{name}.sock"
        self.start_file = directory / f"{name}.json"
        self.lock = directory / f"{name}.lock"
        self.log = directory / f"{name}.log"

    def arguments(self, idle: float) -> list[str]:
        where = ["--addr", "unix:" + str(self.socket)]
        if self.tcp:
            where = ["--addr", "127.0.0.1:0", "--token-file", str(self.start_file)]
        return [
            program(), "serve", "--repo", self.repository, *where, "--limit", f"idle={max(1, round(idle))}s",
            "--limit", "rate=1000000", "--log", "none", "--json",
        ]  # fmt: skip

    @property
    def shown(self) -> str:
        """The repository without what a URL may keep secret."""
        parts = urllib.parse.urlsplit(self.repository)
        return f"{parts.scheme}://{parts.hostname}{parts.path}" if parts.netloc else self.repository

    def start(self, idle: float) -> subprocess.Popen[bytes]:
        """Starts a server and waits until it listens. The caller holds the lock."""
        kwargs: dict[str, object] = {"start_new_session": True}
        if sys.platform == "win32":
            kwargs = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.DETACHED_PROCESS}
        own = {*CALLER, "MNEM_STAGE", "MNEM_REPO", "SOURCE_DATE_EPOCH"}
        environment = {name: value for name, value in os.environ.items() if name not in own}
        with open(self.log, "wb") as log:
            process = subprocess.Popen(  # type: ignore[call-overload]
                self.arguments(idle), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log,
                cwd=self.log.parent, env=environment, close_fds=True, **kwargs,
            )  # fmt: skip
        said: queue.Queue[bytes] = queue.Queue()

        def watch() -> None:
            said.put(process.stdout.readline())
            process.stdout.close()
            process.wait()  # so that no zombie stays

        threading.Thread(target=watch, name="mnem-serve", daemon=True).start()
        try:
            line = said.get(timeout=START_TIMEOUT)
        except queue.Empty:
            process.kill()
            raise NotRunning("not_running", f"mnem serve did not start within {START_TIMEOUT:.0f} s") from None
        if not line.startswith(b'{"url"'):
            raise self.failure(process.wait(timeout=START_TIMEOUT))
        return process  # type: ignore[no-any-return]

    def failure(self, code: int) -> MnemError:
        """Returns the error that a server ended with before it listened."""
        if code == BUSY:
            return Busy("busy", "another mnem serve has this memory")
        if code <= 0:
            return Busy("busy", f"mnem serve was ended by signal {-code}" if code else "mnem serve was asked to end")
        text = self.log.read_bytes()
        for line in reversed(text.splitlines()):
            if line.startswith(b'{"error"'):
                return of_problem(0, line)
        return NotRunning("not_running", f"mnem serve ended with {code}: {text[-500:].decode('utf-8', 'replace')}")


def init(repository: str) -> None:
    """Makes an empty repository."""
    done = subprocess.run(
        [program(), "init", "--repo", repository, "--json"], capture_output=True, timeout=START_TIMEOUT
    )
    if done.returncode == 0:
        return
    for line in reversed(done.stderr.splitlines()):
        if line.startswith(b'{"error"'):
            raise of_problem(0, line)
    raise NotRunning("not_running", f"mnem init ended with {done.returncode}")


def read_start_file(path: pathlib.Path) -> tuple[str, str] | None:
    """Returns URL and token of a server, None if the file has none."""
    try:
        content = json.loads(path.read_bytes())
        return str(content["url"]), str(content["token"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def pause(attempt: int) -> None:
    """Waits 5 ms, then longer up to half a second."""
    time.sleep(min(0.005 * 2**attempt, 0.5))
