"""The warm parent: a process that has imported torch and nothing of a pack, from which every worker is forked under a keeper of its own.

judge → zygote → keeper → (in namespaces: process 1 →) worker. The keeper holds one end of a *leash*: when the judge says so, or closes
its end, or dies in whatever way, the keeper kills the worker with all its descendants, says how the worker ended, and ends itself.
When the judge's control socket closes, the zygote waits for the keepers, removes the run's folder and ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import socket
import struct
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from . import isolation, protocol, worker
from .languages import language

_STATUS = struct.Struct("<i")
_PATIENCE_S = 1.0
"""For keepers to see that the judge has gone. One whose leash is still held (the judge was ended while it forked) sees it never."""


@dataclass
class Process:
    """A worker as the judge holds it: four descriptors and the keeper's id."""

    keeper: int
    channel: socket.socket
    leash: socket.socket
    stdout: int
    stderr: int
    scratch: Path


@dataclass
class Zygote:
    """The judge's handle on the warm parent."""

    pid: int
    control: socket.socket
    root: Path
    isolation: str

    def spawn(self, role: str, scratch: Path, memory_mib: int) -> Process:
        """A worker for `role`, waiting for its first request. `scratch` must exist, below `root`."""
        channel, worker_channel = socket.socketpair()
        leash, keeper_leash = socket.socketpair()
        (out, worker_out), (err, worker_err) = os.pipe(), os.pipe()
        ends = [worker_channel.detach(), keeper_leash.detach(), worker_out, worker_err]
        protocol.send(self.control, {"role": role, "scratch": str(scratch), "memory_mib": memory_mib}, ends)
        for end in ends:
            os.close(end)
        answer = protocol.receive(self.control)
        if answer is None:
            raise RuntimeError("the warm parent has ended")
        return Process(answer[0]["keeper"], channel, leash, out, err, scratch)

    def close(self) -> None:
        """Ends what was forked and removes the run's folder; returns when nothing is left."""
        self.control.close()
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, 0)


def start(root: Path, hidden: tuple[Path, ...], languages: tuple[str, ...], device: str, forget: Callable[[], None]) -> Zygote:
    """Forks the warm parent. The caller must not have run a torch operation or drawn a secret; `forget` clears, in the child, what the caller's frames hold."""
    control, theirs = socket.socketpair()
    pid = os.fork()
    if not pid:
        with _last_words():
            control.close()
            forget()
            _Parent(theirs, root, hidden).serve(languages, device)
    theirs.close()
    hello = protocol.receive(control)
    if hello is None:
        raise RuntimeError("the warm parent could not start")
    return Zygote(pid, control, root, hello[0]["isolation"])


@contextlib.contextmanager
def _last_words() -> Iterator[None]:
    """A forked process never returns into its parent's code: what goes wrong is printed, and it ends."""
    try:
        yield
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        sys.stderr.flush()
        os._exit(70)


@dataclass
class _Parent:
    control: socket.socket
    root: Path
    hidden: tuple[Path, ...]
    level: str = isolation.PROCESS

    def serve(self, languages: tuple[str, ...], device: str) -> NoReturn:
        isolation.ignore_signals()
        isolation.adopt_orphans()
        self._close_others()
        try:
            for name in languages:
                with contextlib.suppress(ImportError):  # the judge asks `missing` itself, and says what to install
                    language(name).preload(device)
            isolation.forget_harness()
            self.level = self._strongest_level()
            protocol.send(self.control, {"isolation": self.level})
            while request := protocol.receive(self.control):
                self._fork_keeper(*request)
        finally:
            self._end()

    def _close_others(self) -> None:
        """Leaves no descriptor of the judge's for a worker to find, in /proc, at its forebears: only where our own last words go."""
        silence = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1):
            os.dup2(silence, number)
        os.closerange(3, self.control.fileno())
        os.closerange(self.control.fileno() + 1, 65536)

    def _fork_keeper(self, request: dict[str, object], ends: list[int]) -> None:
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        pid = os.fork()
        if not pid:
            with _last_words():
                self.control.close()
                _Keeper(self, *ends).keep(str(request["role"]), Path(str(request["scratch"])), int(str(request["memory_mib"])))
        for end in ends:
            os.close(end)
        protocol.send(self.control, {"keeper": pid})

    def _strongest_level(self) -> str:
        """Tries the whole way into namespaces once, with a process that ends at once."""
        scratch = self.root / "trial"
        scratch.mkdir()
        pid = os.fork()
        if not pid:
            with _last_words(), contextlib.suppress(OSError):
                isolation.enter_namespaces()
                inner = os.fork()
                if not inner:
                    isolation.mount_worker_view(self.root, scratch, self.hidden, 16)
                    os._exit(0)
                os._exit(os.waitstatus_to_exitcode(os.waitpid(inner, 0)[1]))
        _, status = os.waitpid(pid, 0)
        scratch.rmdir()
        return isolation.NAMESPACES if status == 0 else isolation.PROCESS

    def _end(self) -> NoReturn:
        ends = time.monotonic() + _PATIENCE_S
        with contextlib.suppress(ChildProcessError):
            while time.monotonic() < ends:  # the keepers have seen the judge go, too
                os.waitpid(-1, os.WNOHANG)
                time.sleep(0.002)
        isolation.kill_descendants()
        shutil.rmtree(self.root, ignore_errors=True)
        os._exit(0)


@dataclass
class _Keeper:
    """Between the zygote and one worker: the process that knows all the worker's descendants."""

    parent: _Parent
    channel: int
    leash: int
    stdout: int
    stderr: int

    def keep(self, role: str, scratch: Path, memory_mib: int) -> NoReturn:
        os.setsid()
        isolation.adopt_orphans()
        is_namespaced = self.parent.level == isolation.NAMESPACES
        if is_namespaced:
            isolation.enter_namespaces()
        report, report_end = os.pipe()
        own = os.getpid()
        pid = os.fork()
        if not pid:
            with _last_words():
                for descriptor in (self.leash, report):
                    os.close(descriptor)
                isolation.die_with_parent(0 if is_namespaced else own)
                if is_namespaced:
                    self._be_process_one(report_end, role, scratch, memory_mib)
                os.close(report_end)
                self._work(role, scratch, memory_mib)
        for descriptor in (self.channel, self.stdout, self.stderr, report_end):
            os.close(descriptor)
        self._wait(pid, report, is_namespaced)

    def _wait(self, pid: int, report: int, is_namespaced: bool) -> NoReturn:
        watch = select.poll()
        watch.register(os.pidfd_open(pid), select.POLLIN)
        watch.register(self.leash, select.POLLIN)
        watch.poll()
        if is_namespaced:  # with process 1 the kernel ends all the others; /proc here is theirs, and its ids mean nothing outside
            os.kill(pid, signal.SIGKILL)
            statuses = dict([os.waitpid(pid, 0)])
        else:
            statuses = isolation.kill_descendants()
        told = os.read(report, _STATUS.size)
        status = _STATUS.unpack(told)[0] if len(told) == _STATUS.size else statuses.get(pid, 9)
        with contextlib.suppress(OSError):  # the judge may be gone
            os.write(self.leash, json.dumps({"status": status}).encode())
        os._exit(0)

    def _be_process_one(self, report: int, role: str, scratch: Path, memory_mib: int) -> NoReturn:
        """Mounts the worker's view, forks the worker, reaps until it ends, and takes the namespace down by ending."""
        isolation.mount_worker_view(self.parent.root, scratch, self.parent.hidden, memory_mib)
        isolation.blank_words()  # a worker can read them here as well
        pid = os.fork()
        if not pid:
            with _last_words():
                os.close(report)
                self._work(role, scratch, memory_mib)
        for descriptor in (self.channel, self.stdout, self.stderr):
            os.close(descriptor)
        while True:
            ended, status = os.wait()
            if ended == pid:
                os.write(report, _STATUS.pack(status))
                os._exit(0)

    def _work(self, role: str, scratch: Path, memory_mib: int) -> NoReturn:
        os.setsid()
        silence = os.open(os.devnull, os.O_RDONLY)
        for descriptor, number in ((silence, 0), (self.stdout, 1), (self.stderr, 2)):
            os.dup2(descriptor, number)
        os.closerange(3, self.channel)
        os.closerange(self.channel + 1, 65536)
        isolation.default_signals()
        isolation.limit_resources(self.parent.level, memory_mib)
        isolation.scrub_environment(scratch)
        isolation.forget_keyring()
        isolation.drop_privileges(self.parent.level)
        os.chdir(scratch)
        worker.serve(socket.socket(fileno=self.channel), role, scratch)
        os._exit(0)
