"""Builds the distributions of mnem-memory, without other packages.

A wheel carries the program mnem as a script, so that installing it gives the command. The program is the one that
MNEM_PROGRAM names, or bin/mnem next to this file; build_wheels.py compiles one for each platform.
"""

from __future__ import annotations

import base64
import hashlib
import io
import os
import pathlib
import sysconfig
import tarfile
import zipfile
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
NAME, DISTRIBUTION = "mnem-memory", "mnem_memory"
EXTRAS = {
    "langgraph": "langgraph>=1.0",
    "openai-agents": "openai-agents>=0.4",
    "anthropic": "anthropic>=0.75",
    "llamaindex": "llama-index-core>=0.14",
}
HINT = (
    "no program mnem to put into the wheel: install a wheel for your platform (pip install --only-binary :all: "
    "mnem-memory), or compile mnem with Go ('go build ./cmd/mnem') and set MNEM_PROGRAM to its path"
)
TIME = (1980, 1, 1, 0, 0, 0)  # so that equal contents are equal files


def version() -> str:
    names: dict[str, Any] = {}
    exec((HERE / "src" / "mnem" / "_version.py").read_text(encoding="utf-8"), names)
    return str(names["__version__"])


def metadata() -> str:
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {NAME}",
        f"Version: {version()}",
        "Summary: git for an AI agent's memory: remember, recall, branch, merge, undo, replay",
        "License-Expression: Apache-2.0",
        "Requires-Python: >=3.10",
        "Classifier: Programming Language :: Python :: 3",
        "Classifier: Typing :: Typed",
        "Description-Content-Type: text/markdown",
    ]
    for extra, requirement in EXTRAS.items():
        lines += [f"Provides-Extra: {extra}", f'Requires-Dist: {requirement} ; extra == "{extra}"']
    return "\n".join(lines) + "\n\n" + (HERE / "README.md").read_text(encoding="utf-8")


def license_text() -> bytes:
    for place in (HERE, HERE.parent.parent):
        if (place / "LICENSE").is_file():
            return (place / "LICENSE").read_bytes()
    raise FileNotFoundError("LICENSE")


def sources() -> list[pathlib.Path]:
    package = HERE / "src" / "mnem"
    return sorted(p for p in package.rglob("*") if p.suffix == ".py" or p.name == "py.typed")


def write_wheel(directory: str | os.PathLike[str], program: str | None, platform: str) -> pathlib.Path:
    """Writes a wheel; without a program it leads to the sources here, for an editable installation."""
    info = f"{DISTRIBUTION}-{version()}.dist-info"
    tag = f"py3-none-{platform}"
    files: list[tuple[str, bytes, int]] = []
    if program is None:
        files.append((f"{DISTRIBUTION}.pth", f"{HERE / 'src'}\n".encode(), 0o644))
    else:
        files += [(f"mnem/{p.relative_to(HERE / 'src' / 'mnem').as_posix()}", p.read_bytes(), 0o644) for p in sources()]
        script = "mnem.exe" if "win" in platform and "darwin" not in platform else "mnem"
        files.append((f"{DISTRIBUTION}-{version()}.data/scripts/{script}", pathlib.Path(program).read_bytes(), 0o755))
    tags = "".join(f"Tag: py3-none-{p}\n" for p in platform.split("."))
    wheel = f"Wheel-Version: 1.0\nGenerator: mnem\nRoot-Is-Purelib: {str(program is None).lower()}\n{tags}"
    files += [
        (f"{info}/METADATA", metadata().encode(), 0o644),
        (f"{info}/WHEEL", wheel.encode(), 0o644),
        (f"{info}/entry_points.txt", b"[pytest11]\nmnem = mnem.pytest_plugin\n", 0o644),
        (f"{info}/licenses/LICENSE", license_text(), 0o644),
    ]
    target = pathlib.Path(directory) / f"{DISTRIBUTION}-{version()}-{tag}.whl"
    record = ""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content, mode in files:
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record += f"{name},sha256={digest},{len(content)}\n"
            add(archive, name, content, mode)
        add(archive, f"{info}/RECORD", f"{record}{info}/RECORD,,\n".encode(), 0o644)
    return target


def add(archive: zipfile.ZipFile, name: str, content: bytes, mode: int) -> None:
    entry = zipfile.ZipInfo(name, TIME)
    entry.create_system = 3  # Unix, whose modes installers read
    entry.external_attr = (0o100000 | mode) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, content)


def find_program() -> str:
    name = "mnem.exe" if os.name == "nt" else "mnem"
    for path in (os.environ.get("MNEM_PROGRAM"), str(HERE / "bin" / name)):
        if path and os.path.isfile(path):
            return path
    raise SystemExit(HINT)


def here() -> str:
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")


# The functions of PEP 517 and PEP 660.


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    return []


get_requires_for_build_sdist = get_requires_for_build_editable = get_requires_for_build_wheel


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: Any = None) -> str:
    return write_wheel(wheel_directory, find_program(), here()).name


def build_editable(wheel_directory: str, config_settings: Any = None, metadata_directory: Any = None) -> str:
    return write_wheel(wheel_directory, None, "any").name


def build_sdist(sdist_directory: str, config_settings: Any = None) -> str:
    root = f"{DISTRIBUTION}-{version()}"
    files = {p.relative_to(HERE).as_posix(): p.read_bytes() for p in sources()}
    for name in ("pyproject.toml", "README.md", "build_backend.py"):
        files[name] = (HERE / name).read_bytes()
    files["LICENSE"], files["PKG-INFO"] = license_text(), metadata().encode()
    target = pathlib.Path(sdist_directory) / f"{root}.tar.gz"
    with tarfile.open(target, "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for name, content in sorted(files.items()):
            entry = tarfile.TarInfo(f"{root}/{name}")
            entry.size, entry.mode = len(content), 0o644
            archive.addfile(entry, io.BytesIO(content))
    return target.name
