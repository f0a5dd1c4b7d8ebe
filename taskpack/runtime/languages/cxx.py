"""The C++ compiler of this machine, for every language that goes through one."""

from __future__ import annotations

import functools
import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from ..contract import CompileFailed, Unprepared

MISSING = "no C++ compiler: install g++ (Debian and Ubuntu: apt-get install g++) or clang++, or set CXX"

_LOG_LIMIT = 16_000


@functools.cache
def compiler() -> tuple[str, ...] | None:
    """The command to start, as words: $CXX (which may hold a launcher or flags) comes before g++ and clang++. None where there is none.

    Raises Unprepared where $CXX names none.
    """
    said = os.environ.get("CXX", "").strip()
    if said:
        try:
            wanted = shlex.split(said)
        except ValueError as error:
            raise Unprepared(f"CXX is `{said}`, which is no command: {error}") from error
        if not shutil.which(wanted[0]):
            raise Unprepared(f"CXX is `{said}`, and there is no command `{wanted[0]}`: set another, or none")
        return tuple(wanted)
    return next(((name,) for name in ("g++", "clang++") if shutil.which(name)), None)


@functools.cache
def version(command: tuple[str, ...]) -> str:
    """The first line of `--version`."""
    done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False)
    return done.stdout.partition("\n")[0].strip()


def compile_units(command: Sequence[str], folder: Path) -> None:
    """Runs a compiler in `folder`; raises CompileFailed with its first error as the reason and what it printed as the log."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", env={**os.environ, "LC_ALL": "C"}, check=False)
    if done.returncode:
        log = done.stderr[:_LOG_LIMIT]
        raise CompileFailed(_first_error(log) or f"{command[0]} ended with status {done.returncode}", log)


def _first_error(log: str) -> str:
    return next((line.strip() for line in log.splitlines() if "error:" in line or "undefined reference" in line), "")
