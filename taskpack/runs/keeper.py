"""Runs a command and leaves nothing of it behind: `python keeper.py LIFELINE GRACE COMMAND…`, where nothing else of taskpack is imported.

The command gets a session of its own. When it ends, when the descriptor LIFELINE is closed at its other end (whoever asked for the command is gone, be
it by kill -9), or on SIGTERM, all that it started is killed, even what left its session: as the reaper of its descendants this process inherits
them. In the last two cases the command first has GRACE seconds after a SIGTERM. Exits as the command did; 128 and the signal's number where one ended it.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

_SET_CHILD_SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER of <linux/prctl.h>."""
_LEAST_GRACE_S = 0.05


def main(lifeline: int, grace_s: float, command: list[str]) -> int:
    """Runs the command to its end, or to the lifeline's."""
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    asked, ask = os.pipe()
    signal.signal(signal.SIGTERM, lambda *_: os.write(ask, b"."))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    child = os.fork()
    if child == 0:
        _become(command)
    handle = os.pidfd_open(child)
    ready, _, _ = select.select([handle, lifeline, asked], [], [])
    if handle not in ready:
        os.kill(child, signal.SIGTERM)
        select.select([handle], [], [], max(grace_s, _LEAST_GRACE_S))
    return _end_all(child)


def _become(command: list[str]) -> None:
    os.setsid()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, f"error: {command[0]} cannot be run: {error.strerror}\n".encode())
        os._exit(127)


def _end_all(first: int) -> int:
    """Kills descendants until there are none; returns how the first one ended."""
    code = 0
    while True:
        for pid in _children():
            if pid != first or _is_running(pid):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return code
        if pid == first:
            code = os.waitstatus_to_exitcode(status)
            code = 128 - code if code < 0 else code
        elif pid == 0:
            time.sleep(0.002)


def _children() -> list[int]:
    """Processes whose parent is this one."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_bytes().rpartition(b")")[2].split()
        except OSError:
            continue  # it has ended meanwhile
        if int(fields[1]) == os.getpid():
            found.append(int(path.parent.name))
    return found


def _is_running(pid: int) -> bool:
    """Whether it has not ended by itself: a process that has keeps the code it ended with."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]))
