"""A process that has imported torch and forks a run of a harness for each line it reads, so that a run costs no second import.

Request: {"words": [harness, option, …], "stdout": path, "stderr": path, "env": {}, "is_plain": bool}. Answer: {"code", "left"}: `left` names the
processes that outlived the run (this one adopts orphans, so none can hide).
"""

from __future__ import annotations

import ctypes
import json
import os
import runpy
import signal
import sys
from pathlib import Path

import torch  # noqa: F401

_SUBREAPER, _NEW_USER = 36, 0x10000000


def _children() -> list[int]:
    return [int(word) for task in Path("/proc/self/task").iterdir() for word in (task / "children").read_text().split()]


def _refuse_namespaces() -> None:
    """A user namespace that allows no others: the runtime has to do without."""
    uid, gid = os.getuid(), os.getgid()
    assert ctypes.CDLL(None).unshare(_NEW_USER) == 0
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
    Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
    Path("/proc/sys/user/max_user_namespaces").write_text("0")


def _run(request: dict[str, object]) -> None:
    for name, number in ((os.devnull, 0), (str(request["stdout"]), 1), (str(request["stderr"]), 2)):
        descriptor = os.open(name, os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.environ.update(request["env"])  # type: ignore[call-overload]
    if request["is_plain"]:
        _refuse_namespaces()
    sys.argv = list(request["words"])  # type: ignore[call-overload]
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as ending:
        sys.stdout.flush()
        os._exit(ending.code if isinstance(ending.code, int) else 1)


def serve() -> None:
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    for line in sys.stdin:
        pid = os.fork()
        if not pid:
            try:
                _run(json.loads(line))
            except BaseException:  # noqa: BLE001  a child never goes on as its parent
                sys.excepthook(*sys.exc_info())
            finally:
                os._exit(99)
        _, status = os.waitpid(pid, 0)
        left = _children()
        names = [(Path("/proc") / str(child) / "cmdline").read_bytes().replace(b"\0", b" ").decode() for child in left]
        for child in left:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        sys.stdout.write(json.dumps({"code": os.waitstatus_to_exitcode(status), "left": names}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    serve()
