"""A worker as the judge deals with it: one request at a time, under limits, its output drained, its death put into words."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import select
import signal
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from . import isolation, protocol, stillness
from .zygote import Process

_WATCH_S = 0.02
"""Between two looks at the worker's memory; at 4 GB/s of touched pages, what it may take beyond its limit is some 100 MB."""
_CHUNK = 1 << 16
_KEPT_OUTPUT = 16_000
_DEATH_S = 20.0
_STOPPED = "stopped by the judge"


class Failed(Exception):
    """What was asked of a worker did not come about. `reason` continues "the candidate …"."""

    def __init__(self, reason: str, log: str = "") -> None:
        super().__init__(reason)
        self.reason, self.log = reason, log


class WorkerFailed(Failed):
    """The worker is gone, or was put down: crash, time, memory, output, nonsense."""


class Answered(Failed):
    """The worker answered with an error; it is testimony of the code it runs."""

    def __init__(self, kind: str, reason: str, log: str) -> None:
        super().__init__(reason, log)
        self.kind = kind


@dataclass(frozen=True)
class Allowance:
    """What a worker may use at most."""

    memory_mib: int
    output_mib: int


@dataclass
class Pause:
    """Where a worker that has not answered after so many seconds is stopped and looked at."""

    after_s: float
    look: Callable[[], None]
    part: float | None = None
    """Of the processor time that the request took, what it had taken by then; None where it had been answered."""


class Worker:
    """The judge's end of a worker; after a failure every further request fails with the same reason."""

    def __init__(self, process: Process, allowance: Allowance) -> None:
        self.process = process
        self._allowance = allowance
        self._failure: str | None = None
        self._still: stillness.Still | None = None
        self.took_s = 0.0
        """By the judge's clock, from letting the worker run to having its answer, of the last request."""
        self._printed = {process.stdout: bytearray(), process.stderr: bytearray()}
        self._printed_bytes = 0
        self._poll = select.poll()
        for descriptor in (process.channel.fileno(), process.leash.fileno(), process.stdout, process.stderr):
            self._poll.register(descriptor, select.POLLIN)

    @property
    def is_alive(self) -> bool:
        return self._failure is None

    def ask(self, what: str, seconds: float, descriptors: Sequence[int] = (), pause: Pause | None = None, **content: Any) -> Any:
        """Sends one request and returns the answer's content; the worker runs from then to its answer, but for a pause. Raises WorkerFailed or Answered."""
        if self._failure is not None:
            raise WorkerFailed(self._failure)
        self._hold_still()
        nonce = secrets.token_hex(8)
        try:
            self.process.channel.settimeout(seconds)
            started = worked = self._still.seconds if self._still else 0.0
            begin = time.perf_counter()
            self._resume()
            protocol.send(self.process.channel, {"do": what, "nonce": nonce, **content}, descriptors)
            if pause and not select.select([self.process.channel], [], [], pause.after_s)[0]:
                worked = self._halt().seconds
                pause.look()
                self._hold_still()
                self._resume()
            answer = self._await(seconds)
            self.took_s = time.perf_counter() - begin
        except (BrokenPipeError, ConnectionResetError):
            raise self._fail(self._death()) from None
        except (TimeoutError, protocol.Broken) as error:
            reason = f"broke the protocol: it {error}" if isinstance(error, protocol.Broken) else f"did not answer within {seconds:g} s"
            raise self._fail(reason) from None
        ended = self._halt().seconds
        if pause and worked > started:
            pause.part = (worked - started) / max(ended - started, worked - started)
        if answer.get("nonce") != nonce or not ("ok" in answer or isinstance(answer.get("error"), dict)):
            raise self._fail("broke the protocol: it answered another request")
        if "error" in answer:
            told = answer["error"]
            raise Answered(*(str(told.get(key, "")) for key in ("kind", "reason", "log")))
        return answer["ok"]

    def _hold_still(self) -> None:
        if self._still and self._still.has_moved():
            raise self._fail("went on working while it was not asked anything")

    def _resume(self) -> None:
        if self._still:
            self._still.resume()
        self._still = None

    def _halt(self) -> stillness.Still:
        try:
            self._still = stillness.stop(self.process.keeper)
            return self._still
        except stillness.Restless:
            raise self._fail("did not stop working after it had answered") from None

    def _await(self, seconds: float) -> dict[str, Any]:
        """Waits for a whole frame, draining output and watching memory meanwhile."""
        frames = protocol.Frames()
        channel, leash = self.process.channel.fileno(), self.process.leash.fileno()
        ends = time.monotonic() + seconds
        watched = time.monotonic()
        while (now := time.monotonic()) < ends:
            for descriptor, _ in self._poll.poll(1000 * min(_WATCH_S, ends - now)):
                if descriptor == channel:
                    data = self.process.channel.recv(_CHUNK, socket.MSG_DONTWAIT)
                    if not data:
                        raise self._fail(self._death())
                    if answer := frames.feed(data):
                        return answer
                elif descriptor == leash:
                    raise self._fail(self._death())
                else:
                    self._drain(descriptor)
            if time.monotonic() - watched >= _WATCH_S:
                self._watch_memory()
                watched = time.monotonic()
        raise TimeoutError

    def _drain(self, descriptor: int) -> None:
        data = os.read(descriptor, _CHUNK)
        if not data:
            self._poll.unregister(descriptor)
        self._printed_bytes += len(data)
        kept = self._printed[descriptor]
        kept += data[: _KEPT_OUTPUT - len(kept)]
        if self._printed_bytes > self._allowance.output_mib << 20:
            raise self._fail(f"printed more than {self._allowance.output_mib} MiB")

    def _watch_memory(self) -> None:
        if isolation.uses_more_memory(self.process.keeper, self._allowance.memory_mib << 20):
            raise self._fail(f"used more than {self._allowance.memory_mib} MiB of memory")

    def _death(self) -> str:
        """How the worker ended, from its keeper; a worker that lives has only closed its channel."""
        if not select.select([self.process.leash], [], [], 1.0)[0]:
            return "closed its channel to the judge"
        told = self.process.leash.recv(256)
        return _death_words(json.loads(told)["status"]) if told else "was killed together with its keeper"

    def _fail(self, reason: str) -> WorkerFailed:
        if self._failure is None:
            self._failure = reason
            self._kill()
        return WorkerFailed(self._failure)

    def _kill(self) -> None:
        """Has the keeper kill everything, and waits until it has."""
        with contextlib.suppress(OSError):
            self.process.leash.shutdown(socket.SHUT_WR)
        ends = time.monotonic() + _DEATH_S
        with contextlib.suppress(OSError):
            while time.monotonic() < ends and select.select([self.process.leash], [], [], ends - time.monotonic())[0] and self.process.leash.recv(256):
                pass
        for descriptor in self._printed:
            os.set_blocking(descriptor, False)
            with contextlib.suppress(BlockingIOError):
                self._printed[descriptor] += os.read(descriptor, _CHUNK)[: _KEPT_OUTPUT - len(self._printed[descriptor])]
            os.close(descriptor)
        self.process.channel.close()
        self.process.leash.close()

    def close(self) -> None:
        """Ends the worker and all that came of it; returns when it is gone."""
        if self.is_alive:
            self._fail(_STOPPED)

    def testimony(self) -> tuple[str, str]:
        """The first part of what it printed: stdout, stderr."""
        out, err = (self._printed[descriptor].decode(errors="replace") for descriptor in (self.process.stdout, self.process.stderr))
        return out, err


def _death_words(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        return f"ended with status {code} before it answered"
    name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
    if name in ("SIGSEGV", "SIGBUS"):
        return f"crashed with {name} (out-of-bounds access, or a write to a read-only input)"
    if name == "SIGKILL":
        return "was killed (SIGKILL), by itself or by the kernel for want of memory"
    return f"crashed with {name}"
