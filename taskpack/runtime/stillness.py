"""A worker runs only while it is asked something: between an answer and the next request its processes are stopped, and one that ran all the same is found out.

So nothing is computed after an answer, nothing ahead of a request, and nobody is busy while another is timed. SIGSTOP alone would not do, as others than
the judge may send SIGCONT; so the time that the threads have run is read before and after.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from .isolation import descendants, threads

_PATIENCE_S = 10.0
_ASLEEP_S = 0.05
"""How long a thread may be in the kernel, uninterruptible, before that counts as still; a parent in vfork waits there for a child that is stopped."""
_BARELY_NS = 200_000
"""Of running that is overlooked."""
_MOMENT_S = 2e-5


class Restless(Exception):
    """A process did not stop."""


@dataclass(frozen=True)
class Still:
    """Processes that have been stopped, and the nanoseconds that each of their threads had run by then."""

    keeper: int
    processes: tuple[int, ...]
    ran_ns: dict[str, int]

    def has_moved(self) -> bool:
        """Whether any of them has run since, or is new."""
        now = _ran_ns(self.processes)
        return sum(now.values()) - sum(self.ran_ns.get(thread, 0) for thread in now) > _BARELY_NS or not set(descendants(self.keeper)) <= set(self.processes)

    @property
    def seconds(self) -> float:
        """That all living threads together have run."""
        return sum(self.ran_ns.values()) / 1e9

    def resume(self) -> None:
        for process in self.processes:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGCONT)


def stop(keeper: int) -> Still:
    """Stops every descendant of a keeper; returns when none of them runs. Raises Restless."""
    stopped: list[int] = []
    ends = time.monotonic() + _PATIENCE_S
    while new := [process for process in descendants(keeper) if process not in stopped]:  # one may have forked before it heard
        for process in new:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGSTOP)
        stopped += new
        asleep = time.monotonic() + _ASLEEP_S
        while not all(_is_still(process, time.monotonic() > asleep) for process in stopped):
            if time.monotonic() > ends:
                raise Restless
            time.sleep(_MOMENT_S)
    _leave_cores(stopped)
    ran = _ran_ns(stopped)
    while (again := _ran_ns(stopped)) != ran:  # it is booked when a thread leaves its core, a moment after it is called stopped
        ran = again
        if time.monotonic() > ends:
            raise Restless
        time.sleep(_MOMENT_S)
    return Still(keeper, tuple(stopped), ran)


def _is_still(process: int, may_be_asleep: bool) -> bool:
    """By the state letters of proc(5): T and t stopped, Z and X dead, D in the kernel."""
    quiet = b"TtZXxD" if may_be_asleep else b"TtZXx"
    return all(line[line.rindex(b")") + 2] in quiet for _, line in threads(process, "stat"))


def _leave_cores(processes: Sequence[int]) -> None:
    """Waits until the threads have left their cores: one is called stopped before that, on a virtual machine that waits for its own turn long before.

    To show a thread's registers the kernel waits until it runs no more (`syscall` of proc(5)); where it shows none, nothing is waited for.
    """
    for process in processes:
        list(threads(process, "syscall"))


def _ran_ns(processes: Sequence[int]) -> dict[str, int]:
    """Thread → the nanoseconds that it has spent on a core (the first number of its `schedstat`); empty where the kernel does not tell."""
    return {thread: int(line.split()[0]) for process in processes for thread, line in threads(process, "schedstat")}
