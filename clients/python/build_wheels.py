#!/usr/bin/env python3
"""Compiles mnem for each platform and writes wheels, and the source distribution, into a directory.

python3 build_wheels.py dist                      all platforms
python3 build_wheels.py dist linux/amd64 …        some
python3 build_wheels.py dist --program PATH linux/amd64     with a program that is there already
"""

from __future__ import annotations

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import build_backend

ROOT = build_backend.HERE.parent.parent
MAX_WHEEL = 60 << 20

# Programs are static, so one wheel serves glibc and musl.
PLATFORMS = {
    "linux/amd64": "manylinux2014_x86_64.musllinux_1_1_x86_64",
    "linux/arm64": "manylinux2014_aarch64.musllinux_1_1_aarch64",
    "darwin/amd64": "macosx_11_0_x86_64",
    "darwin/arm64": "macosx_11_0_arm64",
    "windows/amd64": "win_amd64",
    "windows/arm64": "win_arm64",
}


def compile_program(target: str, into: str) -> str:
    system, architecture = target.split("/")
    program = os.path.join(into, "mnem")
    environment = {**os.environ, "CGO_ENABLED": "0", "GOOS": system, "GOARCH": architecture}
    command = ["go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, "./cmd/mnem"]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)
    return program


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("targets", nargs="*", default=list(PLATFORMS), metavar="target")
    parser.add_argument("--program", help="put this program into the wheels in place of a new one")
    options = parser.parse_args()
    options.directory.mkdir(parents=True, exist_ok=True)
    for target in options.targets:
        if target not in PLATFORMS:
            parser.error(f"{target} is none of {', '.join(PLATFORMS)}")
        with tempfile.TemporaryDirectory() as temporary:
            program = options.program or compile_program(target, temporary)
            wheel = build_backend.write_wheel(options.directory, program, PLATFORMS[target])
        size = wheel.stat().st_size
        print(f"{size / 1e6:6.1f} MB  {wheel.name}")
        if size > MAX_WHEEL:
            print(f"{wheel.name} is larger than {MAX_WHEEL >> 20} MiB", file=sys.stderr)
            return 1
    print(build_backend.build_sdist(str(options.directory)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
