"""A harness in a process of its own: its events as they come, its result at the end, its refusals as errors."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from taskpack.errors import Exit, IntegrityError, TargetAbsent, TaskpackError, UsageError

from .kept import started

Event = dict[str, Any]

_REFUSALS: dict[int, type[TaskpackError]] = {Exit.USAGE: UsageError, Exit.NOT_FOUND: TargetAbsent, Exit.INTEGRITY: IntegrityError}
_PATIENCE_S = 20
"""After an interruption, for the harness to end its workers."""


class HarnessError(RuntimeError):
    """A harness ended in a way that it must never end in: a bug of ours."""


def require_torch() -> None:
    """Raises TargetAbsent where this Python cannot judge."""
    if not sys.platform.startswith("linux"):
        raise TargetAbsent(f"judging needs Linux, and this is {sys.platform}", hint="`taskpack check` and `taskpack build` work here")
    if importlib.util.find_spec("torch") is None:
        raise TargetAbsent(f"judging needs PyTorch, and {sys.executable} has none", hint="pip install 'taskpack[run]'")


def read_plan(harness: Path) -> dict[str, Any]:
    """The plan that the harness was compiled from."""
    with zipfile.ZipFile(harness) as archive:
        plan: dict[str, Any] = json.loads(archive.read("plan.json"))
    return plan


def judge(harness: Path, options: Sequence[str], listen: Callable[[Event], None]) -> tuple[dict[str, Any], int]:
    """The result and the exit code (0 or 1) of a harness; `listen` hears every event meanwhile. Raises what its refusal means.

    The harness ends with the call, and with this process, whatever ends them.
    """
    result: dict[str, Any] | None = None
    with tempfile.TemporaryFile() as words:
        reader, writer = os.pipe()
        command = [sys.executable, str(harness), *options, "--events-fd", str(writer)]
        with os.fdopen(reader, "rb") as stream, ExitStack() as stack:
            try:
                kept = started(command, grace_s=_PATIENCE_S, pass_fds=[writer], stdin=subprocess.DEVNULL, stdout=words, stderr=words)
                process = stack.enter_context(kept)
            finally:
                os.close(writer)
            for event in _events(stream):
                result = event["result"] if event["event"] == "result" else result
                listen(event)
            code = process.wait()
        if code == Exit.INTERRUPTED:
            raise KeyboardInterrupt
        if code not in (Exit.OK, Exit.FAILED) or result is None:
            raise _refusal(code, _tail(words))
    return result, code


def _events(stream: IO[bytes]) -> Iterator[Event]:
    for line in stream:
        yield json.loads(line)


def _refusal(code: int, words: str) -> Exception:
    if code in _REFUSALS:
        return _REFUSALS[code](words.rpartition("error: ")[2].strip() or "the harness gave no reason")
    broke = HarnessError(f"the harness ended with {code}")
    broke.add_note(f"It said:\n{words}")
    return broke


def _tail(words: IO[bytes]) -> str:
    size = words.seek(0, os.SEEK_END)
    words.seek(max(0, size - 8192))
    return words.read().decode(errors="replace")
