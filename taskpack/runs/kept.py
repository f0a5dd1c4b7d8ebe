"""Starts commands under the keeper, so that none of them outlives whoever asked for it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_KEEPER = Path(__file__).with_name("keeper.py")


@contextmanager
def started(command: Sequence[str], *, grace_s: float, pass_fds: Sequence[int] = (), **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    """The keeper of a command (its exit code is the command's); at the end of the block, or of this process, the command and all that it started end.

    `options` are those of Popen.
    """
    lifeline, ours = os.pipe()
    words = [sys.executable, "-I", "-S", str(_KEEPER), str(lifeline), str(grace_s), *command]
    try:
        process = subprocess.Popen(words, pass_fds=[lifeline, *pass_fds], **options)
    except BaseException:
        os.close(ours)
        raise
    finally:
        os.close(lifeline)
    try:
        yield process
    finally:
        os.close(ours)
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream:
                stream.close()
