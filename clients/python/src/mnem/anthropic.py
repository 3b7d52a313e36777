"""The memory tool of Anthropic's SDK over a memory: files under /memories are nodes, every change is a commit.

    from anthropic import Anthropic
    from mnem import Memory
    from mnem.anthropic import MnemMemoryTool

    tool = MnemMemoryTool(Memory.open("notes"))
    Anthropic().beta.messages.run_tools(model=…, messages=[…], tools=[tool]).until_done()

It answers as the SDK's BetaLocalFilesystemMemoryTool does, texts and errors included, with these differences:

- A directory has the size 4K; that of a file system depends on the system.
- Where the local tool lets an OSError through (a file in place of a directory on the way, a directory moved into
  itself, a name that is too long for the system), this one raises a ToolError that says so, or has no such bound.
- An operation that fails changes nothing. The local rename leaves directories that it made for the new path, and its
  create an empty file if the text has no UTF-8 form.
- There are no links, so no path leads out by one.
- A file may have 900 kB or, if its text has few escapes, up to 4 MB. Text that looks like a credential is refused
  with a ToolError, unless allow_secret names the rule.
- Deleted files stay in the history of the memory: undo and revert bring them back, purge erases them.
- A renamed file keeps its history.
"""

from __future__ import annotations

import asyncio
import posixpath
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError

from ._client import Memory
from ._errors import AnswerLost, Conflict, InvalidInput, NotFound, Refused
from ._records import attempts
from ._verbs import ShowAnswer

if TYPE_CHECKING:
    from anthropic.types.beta import (
        BetaCacheControlEphemeralParam,
        BetaMemoryTool20250818CreateCommand,
        BetaMemoryTool20250818DeleteCommand,
        BetaMemoryTool20250818InsertCommand,
        BetaMemoryTool20250818RenameCommand,
        BetaMemoryTool20250818StrReplaceCommand,
        BetaMemoryTool20250818ViewCommand,
    )

__all__ = ["AsyncMnemMemoryTool", "MnemMemoryTool"]

ROOT = "/memories"
FILE, DIRECTORY = "MemoryFile", "MemoryDirectory"
MAX_LINES = 999_999
WIDTH = len(str(MAX_LINES))
DIRECTORY_SIZE = 4096


@dataclass
class Entry:
    """A file or directory. The path of the root is empty."""

    path: str
    id: str
    directory: bool
    size: int


class Tree:
    """The files and directories at one commit."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.commit = "none"
        self.entries: dict[str, Entry] = {"": Entry("", "", True, DIRECTORY_SIZE)}
        try:
            page = memory.ls(type=[FILE, DIRECTORY], limit=0)
        except NotFound:  # no commit yet
            return
        self.commit = page.commit or "none"
        for node in page.nodes:
            path = str(node.props["path"])
            size = DIRECTORY_SIZE if node.type == DIRECTORY else int(node.props["size"])
            self.entries[path] = Entry(path, node.id, node.type == DIRECTORY, size)

    def find(self, path: str) -> Entry | None:
        return self.entries.get(path)

    def file(self, shown: str) -> Entry:
        """Returns the file at a path that a command named."""
        entry = self.find(resolve(shown))
        if entry is None:
            raise ToolError(f"The path {shown} does not exist. Please provide a valid path.")
        if entry.directory:
            raise ToolError(f"The path {shown} is not a file.")
        return entry

    def below(self, path: str) -> list[Entry]:
        """Returns the entries in a directory, at any depth."""
        start = path + "/" if path else ""
        return [e for p, e in self.entries.items() if p and p.startswith(start)]

    def children(self, path: str) -> list[Entry]:
        return sorted((e for e in self.below(path) if posixpath.dirname(e.path) == path), key=lambda e: e.path)

    def text(self, entry: Entry) -> str:
        node = cast(ShowAnswer, self.memory.show("id:" + entry.id, at=self.commit))
        return node.content or ""

    def parents(self, path: str, shown: str) -> list[dict[str, Any]]:
        """Returns the lines that make the missing directories above a path."""
        lines = []
        parent = posixpath.dirname(path)
        while parent and (entry := self.find(parent)) is None:
            lines.append(directory_line(parent))
            parent = posixpath.dirname(parent)
        if parent and entry is not None and not entry.directory:
            raise ToolError(f"The path {shown} is not possible: {ROOT}/{parent} is a file.")
        return lines[::-1]


class Files:
    """The commands of the tool."""

    def __init__(self, memory: Memory, allow_secret: Sequence[str] | None) -> None:
        self.memory, self.allow_secret = memory, list(allow_secret or ()) or None

    def change(self, message: str, change: Callable[[Tree], tuple[list[dict[str, Any]], str]]) -> str:
        """Commits the lines of a change against the newest tree, and returns its answer."""
        for _ in attempts():
            tree = Tree(self.memory)
            lines, answer = change(tree)
            if not lines:
                return answer
            try:
                self.memory.commit(lines, message, expect=tree.commit, allow_secret=self.allow_secret)
            except Conflict:
                continue
            except AnswerLost:
                pass
            except (InvalidInput, Refused) as err:
                raise ToolError(str(err)) from err
            return answer
        raise ToolError("The memory is changed by others all the time. Please try again.")

    def view(self, path: str, view_range: Sequence[int] | None) -> str:
        tree = Tree(self.memory)
        entry = tree.find(resolve(path))
        if entry is None:
            raise ToolError(f"The path {path} does not exist. Please provide a valid path.")
        if entry.directory:
            return listing(tree, entry, path)
        lines = tree.text(entry).split("\n")
        if len(lines) > MAX_LINES:
            raise ToolError(f"File {path} exceeds maximum line limit of 999,999 lines.")
        first = 1
        if view_range and len(view_range) == 2:
            start = max(1, view_range[0]) - 1
            end = len(lines) if view_range[1] == -1 else view_range[1]
            lines, first = lines[start:end], start + 1
        return f"Here's the content of {path} with line numbers:\n" + numbered(lines, first)

    def create(self, path: str, text: str) -> str:
        text.encode()  # as the local tool refuses lone surrogates

        def change(tree: Tree) -> tuple[list[dict[str, Any]], str]:
            where = resolve(path)
            lines = tree.parents(where, path)
            if tree.find(where) is not None:
                raise ToolError(f"File {path} already exists")
            return [*lines, file_line(uuid.uuid4().hex, where, text)], f"File created successfully at: {path}"

        return self.change(f"create {path}", change)

    def str_replace(self, path: str, old: str, new: str) -> str:
        def change(tree: Tree) -> tuple[list[dict[str, Any]], str]:
            entry = tree.file(path)
            text = tree.text(entry)
            count = text.count(old)
            if count == 0:
                raise ToolError(f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}.")
            if count > 1:
                raise ToolError(
                    f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: "
                    f"{', '.join(map(str, occurrences(text, old)))}. Please ensure it is unique"
                )
            at = text[: text.find(old)].count("\n")
            changed = text.replace(old, new)
            changed.encode()
            lines = changed.split("\n")
            start, end = max(0, at - 2), min(len(lines), at + 3)
            return [file_line(entry.id, entry.path, changed)], (
                "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"
                + numbered(lines[start:end], start + 1)
            )

        return self.change(f"edit {path}", change)

    def insert(self, path: str, at: int, text: str) -> str:
        def change(tree: Tree) -> tuple[list[dict[str, Any]], str]:
            entry = tree.file(path)
            lines = tree.text(entry).split("\n")
            if lines[-1] == "":
                lines.pop()
            if at < 0 or at > len(lines):
                raise ToolError(
                    f"Invalid `insert_line` parameter: {at}. It should be within the range [0, {len(lines)}]."
                )
            lines.insert(at, text.rstrip("\n"))
            changed = "\n".join(lines)
            changed += "" if changed.endswith("\n") else "\n"
            changed.encode()
            return [file_line(entry.id, entry.path, changed)], f"The file {path} has been edited."

        return self.change(f"edit {path}", change)

    def delete(self, path: str) -> str:
        def change(tree: Tree) -> tuple[list[dict[str, Any]], str]:
            where = resolve(path)
            if not where:
                raise ToolError("Cannot delete the /memories directory itself")
            entry = tree.find(where)
            if entry is None:
                raise ToolError(f"The path {path} does not exist")
            gone = [entry, *(tree.below(where) if entry.directory else ())]
            return [{"remove": {"node": e.id}} for e in gone], f"Successfully deleted {path}"

        return self.change(f"delete {path}", change)

    def rename(self, old: str, new: str) -> str:
        def change(tree: Tree) -> tuple[list[dict[str, Any]], str]:
            source, target = resolve(old), resolve(new)
            if not source:
                raise ToolError("Cannot rename the /memories directory itself")
            if tree.find(target) is not None:
                raise ToolError(f"The destination {new} already exists")
            entry = tree.find(source)
            if entry is None:
                raise ToolError(f"The path {old} does not exist")
            lines = tree.parents(target, new)
            if target.startswith(source + "/"):
                raise ToolError(f"The path {old} cannot be moved into itself: {new}")
            moved = [entry, *(tree.below(source) if entry.directory else ())]
            for e in moved:
                path = target + e.path[len(source) :]
                lines.append({"node": {"id": e.id, "summary": f"{ROOT}/{path}", "props": {"path": path}}})
            return lines, f"Successfully renamed {old} to {new}"

        return self.change(f"rename {old} to {new}", change)

    def clear(self) -> str:
        def change(tree: Tree) -> tuple[list[dict[str, Any]], str]:
            return [{"remove": {"node": e.id}} for e in tree.below("")], "All memory cleared"

        return self.change("clear all memory", change)


class MnemMemoryTool(BetaAbstractMemoryTool):
    """The memory tool over a memory. Safe for concurrent use."""

    def __init__(
        self,
        memory: Memory,
        *,
        allow_secret: Sequence[str] | None = None,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._files = Files(memory, allow_secret)

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        return self._files.view(command.path, command.view_range)

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        return self._files.create(command.path, command.file_text)

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        return self._files.str_replace(command.path, command.old_str, command.new_str)

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        return self._files.insert(command.path, command.insert_line, command.insert_text)

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        return self._files.delete(command.path)

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        return self._files.rename(command.old_path, command.new_path)

    def clear_all_memory(self) -> str:
        return self._files.clear()


class AsyncMnemMemoryTool(BetaAsyncAbstractMemoryTool):
    """The memory tool over a memory, for asyncio. Commands run on threads."""

    def __init__(
        self,
        memory: Memory,
        *,
        allow_secret: Sequence[str] | None = None,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._files = Files(memory, allow_secret)

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        return await asyncio.to_thread(self._files.view, command.path, command.view_range)

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        return await asyncio.to_thread(self._files.create, command.path, command.file_text)

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        return await asyncio.to_thread(self._files.str_replace, command.path, command.old_str, command.new_str)

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        return await asyncio.to_thread(self._files.insert, command.path, command.insert_line, command.insert_text)

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        return await asyncio.to_thread(self._files.delete, command.path)

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        return await asyncio.to_thread(self._files.rename, command.old_path, command.new_path)

    async def clear_all_memory(self) -> str:
        return await asyncio.to_thread(self._files.clear)


def resolve(path: str) -> str:
    """Returns a path below the root without "." and "..": empty for the root."""
    if not path.startswith(ROOT):
        raise ToolError(f"Path must start with /memories, got: {path}")
    relative = path[len(ROOT) :].lstrip("/")
    if "\x00" in relative:
        raise ToolError(f"Path {path!r} has a NUL")
    parts: list[str] = []
    for part in relative.split("/"):
        if part == "..":
            if not parts:
                raise ToolError(f"Path {path} would escape /memories directory")
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def file_line(id: str, path: str, text: str) -> dict[str, Any]:
    node: dict[str, Any] = {
        "id": str(uuid.UUID(id)), "type": FILE, "summary": f"{ROOT}/{path}",
        "props": {"path": path, "size": len(text.encode())},
    }  # fmt: skip
    node.update({"content": text} if text else {"unset": ["content"]})
    return {"node": node}


def directory_line(path: str) -> dict[str, Any]:
    node = {"id": str(uuid.uuid4()), "type": DIRECTORY, "summary": f"{ROOT}/{path}", "props": {"path": path}}
    return {"node": node}


def listing(tree: Tree, entry: Entry, path: str) -> str:
    items: list[tuple[int, str]] = []

    def collect(under: Entry, prefix: str, depth: int) -> None:
        for child in tree.children(under.path):
            name = posixpath.basename(child.path)
            if name.startswith("."):
                continue
            shown = f"{prefix}/{name}" if prefix else name
            items.append((child.size, shown + "/" * child.directory))
            if child.directory and depth < 2:
                collect(child, shown, depth + 1)

    collect(entry, "", 1)
    lines = [f"{size_text(entry.size)}\t{path}", *(f"{size_text(size)}\t{path}/{name}" for size, name in items)]
    header = f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:"
    return header + "\n" + "\n".join(lines)


def numbered(lines: list[str], first: int) -> str:
    return "\n".join(f"{str(first + i).rjust(WIDTH)}\t{line}" for i, line in enumerate(lines))


def occurrences(text: str, wanted: str) -> list[int]:
    """Returns the numbers of the lines in which a text begins."""
    lines, start = [], 0
    while (at := text.find(wanted, start)) != -1:
        lines.append(text[:at].count("\n") + 1)
        start = at + 1
    return lines


def size_text(size: int) -> str:
    """Returns a size as the local tool writes it: 0B, 700B, 1.5K, 2M."""
    if size == 0:
        return "0B"
    power = min((size.bit_length() - 1) // 10, 3)
    value = size / 1024**power
    return (f"{int(value)}" if value == int(value) else f"{value:.1f}") + "BKMG"[power]
