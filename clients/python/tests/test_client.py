from __future__ import annotations

import asyncio
import http.server
import inspect
import json
import multiprocessing
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import unittest
import unittest.mock
from concurrent.futures import ThreadPoolExecutor
import warnings
import zipfile
from typing import Any

from . import support
from .support import PROGRAM, MemoryCase, kill_server, server_of

import mnem
from mnem import AsyncMemory, Memory, answers
from mnem._link import Connection, RemoteLink


class Verbs(MemoryCase):
    def test_remember_and_recall(self) -> None:
        made = self.memory.remember("Alice leads the infra team", tag=["team"])
        self.assertEqual(made.action, "added")
        found = self.memory.recall("who leads infra")
        self.assertEqual(found.items[0].id, made.id)
        self.assertIn("Alice leads the infra team", found.items[0].rendered)
        self.assertEqual(found.commit, made.commit)
        again = self.memory.remember("Alice leads the infra team")
        self.assertEqual((again.action, again.id), ("duplicate", made.id))

    def test_forget_and_restore(self) -> None:
        made = self.memory.remember("the printer is on floor two")
        self.assertEqual(self.memory.forget(made.id).marked, [made.id])
        self.assertEqual(self.memory.retrieve("printer").items, [])
        self.assertEqual(self.memory.mark("", made.id, remove=True).unmarked, [made.id])
        self.assertEqual(self.memory.retrieve("printer").items[0].id, made.id)
        marked = self.memory.mark("expired", [made.id], reason="moved")
        self.assertEqual(marked.state, "expired")

    def test_history(self) -> None:
        first = self.memory.commit([{"node": {"key": "a", "type": "T", "summary": "one"}}], "first")
        self.assertEqual(first.nodes.added, 1)
        second = self.memory.commit([{"node": {"key": "a", "type": "T", "summary": "two"}}], "second")
        log = self.memory.log()
        self.assertEqual([c.commit for c in log], [second.commit, first.commit])
        self.assertEqual([c.author for c in log], ["ann", "ann"])
        diff = self.memory.diff("HEAD~1", "HEAD")
        self.assertEqual([(f.field, f.old, f.new) for f in diff.nodes[0].fields][:1], [("summary", "one", "two")])
        undone = self.memory.undo()
        self.assertEqual(undone.did, "undone")
        node = self.memory.show("a")
        self.assertEqual(node.summary, "one")
        self.assertEqual(self.memory.show("a", field="summary"), "one")

    def test_branch_and_merge(self) -> None:
        self.memory.commit([{"node": {"key": "a", "type": "T"}}], "first")
        self.memory.branch("side")
        side = self.memory.acting(branch="side", agent="robot")
        side.commit([{"node": {"key": "b", "type": "T"}}], "on the side")
        self.assertEqual({b.name for b in self.memory.branch()}, {"main", "side"})  # type: ignore[union-attr]
        with self.assertRaises(mnem.NotFound):
            self.memory.show("b")
        merged = self.memory.merge("side")
        assert isinstance(merged, answers.MergeAnswer)
        self.assertTrue(merged.fast_forward)
        self.assertEqual(self.memory.log(limit=1)[0].agent, "robot")

    def test_conflict(self) -> None:
        self.memory.commit([{"node": {"key": "a", "type": "T", "summary": "one"}}], "first")
        self.memory.branch("side")
        self.memory.acting(branch="side").commit([{"node": {"key": "a", "type": "T", "summary": "two"}}], "side")
        self.memory.commit([{"node": {"key": "a", "type": "T", "summary": "three"}}], "main")
        with self.assertRaises(mnem.Conflict) as caught:
            self.memory.merge("side")
        self.assertEqual(caught.exception.code, "conflict")
        self.assertEqual(len(caught.exception.answer["conflicts"]), 1)

    def test_session_and_replay(self) -> None:
        self.memory.remember("Alice leads infra")
        with self.memory.session("triage") as seen:
            seen.recall("infra")
        replayed = self.memory.session_replay("triage")
        self.assertEqual((replayed.identical, replayed.receipts), (True, 1))
        self.assertTrue(self.memory.session_list()[0].ended)

    def test_errors(self) -> None:
        with self.assertRaises(mnem.NotFound) as caught:
            self.memory.show("nothing")
        self.assertEqual(caught.exception.code, "not_found")
        self.assertTrue(caught.exception.hint)
        self.assertIn("hint: ", str(caught.exception))
        for call in (
            lambda: self.memory.remember(""),
            lambda: self.memory.remember("x", importance=9),
            lambda: self.memory.remember("\ud800"),
            lambda: self.memory.recall("x", damping=float("nan")),
            lambda: self.memory.commit([{"node": {"key": "a", "type": "T", "props": {"x": object()}}}], "m"),
            lambda: self.memory.commit([{"nonsense": 1}], "m"),
            lambda: self.memory.commit([{"node": {"key": "a", "type": "T"}}]),
            lambda: self.memory.recall("x", limit=-1),
            lambda: self.memory._verb("remember", {"text": "x", "bogus": 1}),
            lambda: self.memory._verb("remember", {"text": 1}),
        ):
            with self.subTest(call=inspect.getsource(call).strip()), self.assertRaises(mnem.InvalidInput):
                call()
        with self.assertRaises(mnem.NotFound):
            self.memory.log()
        with self.assertRaises(mnem.Conflict) as refused:
            self.memory.commit([{"node": {"key": "a", "type": "T"}}], "m", expect="bafyreia" + "a" * 51)
        self.assertIn(refused.exception.code, ("precondition_failed", "conflict"))

    def test_every_verb_is_there(self) -> None:
        doc = json.loads(subprocess.run([PROGRAM, "serve", "--openapi"], capture_output=True, check=True).stdout)
        named = {p.removeprefix("/v1/") for p in doc["paths"] if p.startswith("/v1/")}
        left_out = {"export", "import", "pack_send", "pack_take", "op_watch"}
        self.assertEqual({v for v in named if not hasattr(Memory, v)}, left_out)
        self.assertEqual({v for v in named if not hasattr(AsyncMemory, v)}, left_out)

    def test_generated_file_is_current(self) -> None:
        generator = pathlib.Path(__file__).parent.parent.parent / "generate.py"
        done = subprocess.run([sys.executable, generator, "--mnem", PROGRAM, "--check"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Async(MemoryCase):
    def test_coroutines(self) -> None:
        async def run() -> None:
            async with await AsyncMemory.open(self.path, author="bob", idle=support.IDLE) as memory:
                await asyncio.gather(*(memory.remember(f"fact number {i} about server{i}") for i in range(10)))
                self.assertEqual(len(await memory.log()), 10)
                async with memory.session("s") as seen:
                    await seen.recall("fact")
                self.assertTrue((await memory.session_replay("s")).identical)
                made = await memory.commit([{"node": {"key": "k", "type": "T"}}], "m")
                self.assertEqual(made.nodes.added, 1)
                self.assertEqual(len((await memory.forget("k")).marked), 1)
                with self.assertRaises(mnem.NotFound):
                    await memory.show("nothing")

        asyncio.run(run())


class Servers(MemoryCase):
    def test_one_server_for_all(self) -> None:
        other = self.open()
        self.assertEqual(server_of(other), server_of(self.memory))
        code = "import sys; from tests.support import *; m = Memory.open(sys.argv[1]); print(server_of(m))"
        if self.tcp:
            code = code.replace("sys.argv[1]", "sys.argv[1], tcp=True")
        root = pathlib.Path(__file__).parent.parent
        command = [sys.executable, "-c", code, self.path]
        with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            while process.poll() is None:  # on a busy machine that takes longer than an idle server stays
                self.memory.status()
                time.sleep(0.1)
            out, err = process.communicate()
        self.assertEqual(out.strip(), str(server_of(self.memory)), err)

    def test_server_does_not_take_its_starter_for_the_author(self) -> None:
        with tempfile.TemporaryDirectory() as directory, unittest.mock.patch.dict(os.environ, MNEM_AUTHOR="eve"):
            first = Memory.open(directory, idle=support.IDLE, tcp=self.tcp, task="start")
            self.addCleanup(first.close)
            first.remember("a fact")
            del os.environ["MNEM_AUTHOR"]
            second = Memory.open(directory, idle=support.IDLE, tcp=self.tcp)
            self.addCleanup(second.close)
            second.acting(author="bob").remember("another fact about zebras")
            second.remember("the third fact: apples")
            authors = [c.author for c in first.log()]
            self.assertEqual(authors[1:], ["bob", "eve"])
            configured = json.loads((pathlib.Path(directory) / ".mnem" / "config.json").read_bytes())
            self.assertEqual(authors[0], configured["author"])
            self.assertEqual([c.task for c in first.log()], [None, None, "start"])

    def test_idle_server_ends_and_is_started_again(self) -> None:
        self.memory.remember("before")
        memory = Memory.open(self.path, idle=1, tcp=self.tcp)
        self.addCleanup(memory.close)
        pid = server_of(self.memory)
        for _ in range(200):
            try:
                os.kill(pid, 0)
            except ProcessLookupError:
                break
            time.sleep(0.1)
        else:
            self.fail("the server does not end")
        self.memory.remember("something else, later")
        self.assertNotEqual(server_of(self.memory), pid)
        self.assertEqual(len(self.memory.log()), 2)

    def test_killed_server(self) -> None:
        """Nothing that was acknowledged is lost, and each write is made once."""
        made = []
        for i in range(6):
            made.append(self.memory.commit([{"node": {"key": f"k{i}", "type": "T"}}], f"commit {i}").commit)
            if i % 2:
                kill_server(self.memory)
        self.assertEqual([c.commit for c in self.memory.log()], made[::-1])

    def test_killed_while_many_write(self) -> None:
        self.many_write(getattr(signal, "SIGKILL", signal.SIGTERM))

    def test_terminated_while_many_write(self) -> None:
        self.many_write(signal.SIGTERM)

    def many_write(self, how: int) -> None:
        """Four threads write, one of which ends the server again and again."""

        def write(worker: int) -> None:
            memory = self.open()
            for i in range(25):
                memory.commit([{"node": {"key": f"w{worker}-{i}", "type": "T"}}], f"w{worker}-{i}")
                if worker == 0 and i % 5 == 4:
                    kill_server(memory, how)

        with ThreadPoolExecutor(4) as threads:
            list(threads.map(write, range(4)))
        messages = [c.message for c in self.memory.log()]
        self.assertEqual(sorted(messages), sorted(f"w{w}-{i}" for w in range(4) for i in range(25)))

    def test_removed_and_made_again(self) -> None:
        """The server of a removed memory answers for the new one at its path."""
        self.memory.remember("the old one")
        shutil.rmtree(self.path)
        memory = self.open()
        memory.remember("the new one")
        self.assertEqual([c.title for c in memory.log()], ['remembered: "the new one"'])
        self.memory.remember("a zebra")
        self.assertEqual(len(memory.log()), 2)


class ServersOverTCP(Servers):
    tcp = True

    def test_token(self) -> None:
        link = self.memory._link
        place = link.place  # type: ignore[attr-defined]
        content = json.loads(place.start_file.read_bytes())
        if os.name == "posix":
            self.assertEqual(place.start_file.stat().st_mode & 0o777, 0o600)
        for token in ("", "mnem_" + "a" * 8 + "_" + "a" * 52):
            with self.assertRaises(mnem.Refused) as caught:
                Memory.open(content["url"], token=token)
            self.assertEqual(caught.exception.code, "unauthorized")
        memory = Memory.open(content["url"], token=content["token"])
        memory.remember("by token")
        self.assertIsNone(memory.log()[0].agent)
        memory.close()

    def test_stale_start_file(self) -> None:
        """A port that another server has now is not taken for ours."""
        place = self.memory._link.place  # type: ignore[attr-defined]
        kill_server(self.memory)

        class Stranger(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.end_headers()

            do_POST = do_GET

            def log_message(self, *_: Any) -> None:
                pass

        with http.server.HTTPServer(("127.0.0.1", 0), Stranger) as stranger:
            threading.Thread(target=stranger.serve_forever, daemon=True).start()
            place.start_file.write_text(json.dumps({"url": f"http://127.0.0.1:{stranger.server_port}", "token": "t"}))
            self.memory.remember("not to strangers")
            stranger.shutdown()
        self.assertEqual(len(self.memory.log()), 1)


class LostAnswers(MemoryCase):
    """The answer to a write is lost after the server made it."""

    def lose(self, times: int, killed: bool, before: bool = False) -> None:
        ask = Connection.ask
        test = self
        left = [times]

        def losing(self: Connection, method: str, path: str, *args: Any) -> Any:
            loses = path in ("/v1/commit", "/v1/remember", "/v1/forget", "/v1/undo") and left[0] > 0
            if loses and before:
                left[0] -= 1
                kill_server(test.memory)
            reply = ask(self, method, path, *args)
            if loses and not before:
                left[0] -= 1
                if killed:
                    kill_server(test.memory)
                raise ConnectionResetError("the answer was lost")
            return reply

        Connection.ask = losing  # type: ignore[assignment]
        self.addCleanup(setattr, Connection, "ask", ask)

    def test_server_stays(self) -> None:
        self.lose(2, killed=False)
        made = self.memory.commit([{"node": {"key": "a", "type": "T"}}], "m")
        self.assertEqual([c.commit for c in self.memory.log()], [made.commit])

    def test_server_is_killed(self) -> None:
        self.lose(1, killed=True)
        made = self.memory.commit([{"node": {"key": "a", "type": "T"}}], "m")
        log = self.memory.log()
        self.assertEqual([c.commit for c in log], [made.commit])
        self.assertEqual((made.nodes.added, made.branch, made.parents), (1, "main", []))

    def test_remember(self) -> None:
        self.lose(1, killed=True)
        made = self.memory.remember("Alice leads infra", without=["diff"])
        self.assertEqual(made.action, "added")
        self.assertEqual([c.commit for c in self.memory.log()], [made.commit])
        self.assertEqual(self.memory.recall("infra").items[0].id, made.id)

    def test_no_answer_can_be_told(self) -> None:
        made = self.memory.remember("Alice leads infra")
        self.lose(1, killed=True)
        with self.assertRaises(mnem.AnswerLost) as caught:
            self.memory.forget(made.id)
        self.assertEqual(caught.exception.commit, self.memory.log()[0].commit)
        self.assertEqual(len(self.memory.log()), 2)

    def test_never_made(self) -> None:
        self.lose(1, killed=True, before=True)
        self.memory.commit([{"node": {"key": "a", "type": "T"}}], "m")
        self.assertEqual(len(self.memory.log()), 1)

    def test_undo_is_made_once(self) -> None:
        for i in range(3):
            self.memory.commit([{"node": {"key": f"k{i}", "type": "T"}}], "m")
        self.lose(1, killed=True)
        with self.assertRaises(mnem.AnswerLost):
            self.memory.undo()
        self.assertEqual(len(self.memory.log()), 2)


class Versions(unittest.TestCase):
    def test_other_version_is_said_once(self) -> None:
        link = RemoteLink("http://127.0.0.1:1", "", 1)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for version in ("devel", mnem.__version__, "v" + mnem.__version__, "9.9.9", "9.9.9"):
                link.compare(version)
        self.assertEqual([w.category for w in caught], [mnem.VersionWarning])
        self.assertIn("9.9.9", str(caught[0].message))

    def test_answer_that_lacks_a_member(self) -> None:
        with self.assertRaises(KeyError):
            mnem._verbs.read_RecallAnswer({})


class Distributions(unittest.TestCase):
    root = pathlib.Path(__file__).parent.parent

    def build(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "MNEM_PROGRAM": program}
        code = "import sys, build_backend as b; print(getattr(b, sys.argv[1])(*sys.argv[2:]))"
        command = [sys.executable, "-c", code, *arguments]
        return subprocess.run(command, cwd=self.root, env=env, capture_output=True, text=True)

    def test_wheel(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            program = os.path.join(directory, "program")
            pathlib.Path(program).write_bytes(b"\x7fELF")
            for platform, script in (("manylinux2014_x86_64.musllinux_1_1_x86_64", "mnem"), ("win_arm64", "mnem.exe")):
                done = self.build("", "write_wheel", directory, program, platform)
                self.assertEqual(done.returncode, 0, done.stderr)
                with zipfile.ZipFile(done.stdout.strip()) as wheel:
                    names = {i.filename: i for i in wheel.infolist()}
                    info = f"mnem_memory-{mnem.__version__}"
                    entry = names[f"{info}.data/scripts/{script}"]
                    self.assertEqual(entry.external_attr >> 16, 0o100755)
                    self.assertEqual(wheel.read(entry), b"\x7fELF")
                    record = wheel.read(f"{info}.dist-info/RECORD").decode()
                    self.assertEqual({line.split(",")[0] for line in record.splitlines()}, set(names))
                    tags = wheel.read(f"{info}.dist-info/WHEEL").decode().split("Tag: ")[1:]
                    self.assertEqual([t.strip() for t in tags], [f"py3-none-{p}" for p in platform.split(".")])
                    self.assertIn("mnem/py.typed", names)
            again = self.build("", "write_wheel", directory, program, "win_arm64")
            self.assertEqual(again.returncode, 0)

    def test_source_distribution_needs_a_program(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            done = self.build("", "build_sdist", directory)
            self.assertEqual(done.returncode, 0, done.stderr)
            with tarfile.open(os.path.join(directory, done.stdout.strip())) as archive:
                names = {n.split("/", 1)[1] for n in archive.getnames()}
            self.assertLessEqual(
                {"pyproject.toml", "build_backend.py", "src/mnem/_verbs.py", "LICENSE", "PKG-INFO"}, names
            )
            done = self.build("", "build_wheel", directory)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("set MNEM_PROGRAM", done.stderr)

    @unittest.skipIf(sys.version_info < (3, 11), "no tomllib")
    def test_metadata_agrees_with_pyproject(self) -> None:
        import tomllib

        project = tomllib.loads((self.root / "pyproject.toml").read_text())["project"]
        text = self.build("", "metadata").stdout
        for line in (
            f"Name: {project['name']}", f"Version: {project['version']}", f"Summary: {project['description']}",
            f"License-Expression: {project['license']}", f"Requires-Python: {project['requires-python']}",
            *(f'Requires-Dist: {r[0]} ; extra == "{e}"' for e, r in project["optional-dependencies"].items()),
        ):  # fmt: skip
            self.assertIn(line + "\n", text)
        self.assertEqual(project["version"], mnem.__version__)


class Programs(unittest.TestCase):
    def test_no_program(self) -> None:
        root = pathlib.Path(__file__).parent.parent
        code = "import mnem; mnem.Memory.open('/nonexistent/x')"
        env = {"PATH": "", "PYTHONPATH": str(root / "src"), "HOME": "/nonexistent"}
        done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
        self.assertIn("no_program", done.stderr)
        self.assertIn("hint: ", done.stderr)

    def test_server_that_cannot_start(self) -> None:
        if not PROGRAM:
            self.skipTest("MNEM_PROGRAM names no program")
        with self.assertRaises(mnem.NotFound):
            Memory.open("/nonexistent/memory", create=False)
        with self.assertRaises(mnem.MnemError):
            Memory.open(__file__)
        with self.assertRaises(mnem.NotRunning):
            Memory.open("http://127.0.0.1:1")
        with self.assertRaises(ValueError):
            Memory.open("http://")


def remembers(path: str, worker: int) -> int:
    with Memory.open(path, idle=support.IDLE) as memory:
        for i in range(25):
            memory.remember(f"worker {worker} saw machine m{worker}x{i} at rack {worker * 100 + i}", without=["diff"])
    return 25


class Processes(MemoryCase):
    def test_processes_lose_nothing(self) -> None:
        """8 processes remember 25 facts each: 200 of 200."""
        with multiprocessing.get_context("spawn").Pool(8) as pool:
            done = pool.starmap(remembers, [(self.path, w) for w in range(8)])
        self.assertEqual(sum(done), 200)
        ids = set()
        after = None
        while True:
            page = self.memory.ls(type=["fact"], limit=1000, after=after)
            ids |= {n.id for n in page.nodes}
            if not (after := page.next):
                break
        self.assertEqual(len(ids), 200)

    def test_fork(self) -> None:
        if not hasattr(os, "fork"):
            self.skipTest("no fork")
        self.memory.remember("before the fork")
        child = os.fork()
        if child == 0:
            try:
                self.memory.remember("in the child, another thing")
                os._exit(0)
            finally:
                os._exit(1)
        self.memory.remember("in the parent: a third fact")
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(len(self.memory.log()), 3)


if __name__ == "__main__":
    unittest.main()
