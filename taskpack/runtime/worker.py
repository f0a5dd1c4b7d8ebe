"""What runs beside untrusted code: builds it, loads it, maps the judge's memory, and calls when asked. It decides nothing.

Requests are JSON objects with `do` and `nonce`; the answer repeats the nonce and holds `ok` or `error` = {kind, reason, log}. All that
is said here is testimony: the judge looks at memory, and at its own clock.
"""

from __future__ import annotations

import gc
import socket
import traceback
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import torch

from . import graphs, modules, own_trace, protocol, swaps
from .contract import Argument, Bind, Call, CompileFailed, EntryMissing, Source
from .languages import language
from .languages import torch as torch_language
from .protocol import Refused
from .reference import Reference
from .shared import Shared, map_memory, stream, synchronize, torch_device

_REASON_LIMIT, _LOG_LIMIT = 2000, 32_000


def serve(channel: socket.socket, role: str, scratch: Path) -> None:
    """Answers requests until the judge hangs up."""
    gc.freeze()
    domain = Reference(scratch) if role == "reference" else _Implementation(scratch)
    while (got := protocol.receive(channel)) is not None:
        request, descriptors = got
        protocol.send(channel, {"nonce": request["nonce"], **_answer(domain, request, descriptors)})


def _answer(domain: Reference | _Implementation, request: dict[str, Any], descriptors: list[int]) -> dict[str, Any]:
    try:
        return {"ok": getattr(domain, f"do_{request['do']}")(request, descriptors)}
    except CompileFailed as error:
        return _error("compile-failed", error.reason, error.log)
    except EntryMissing as error:
        return _error("entry-missing", str(error))
    except Refused as error:
        return _error(error.kind, error.reason)
    except BaseException as error:  # noqa: BLE001  untrusted code may raise anything, SystemExit and KeyboardInterrupt too
        return _error("raised", *_describe(error, domain.folder))


def _error(kind: str, reason: str, log: str = "") -> dict[str, Any]:
    return {"error": {"kind": kind, "reason": reason[:_REASON_LIMIT], "log": log[:_LOG_LIMIT]}}


def _describe(error: BaseException, folder: Path) -> tuple[str, str]:
    """`raised ValueError: … (kernel.py:12)` and the traceback of the code's own frames; the exception's own methods may raise as well."""
    try:
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(f"{folder}/")]
        where = f" ({frames[-1].filename.removeprefix(f'{folder}/')}:{frames[-1].lineno})" if frames else ""
        words = str(error).strip()[: _REASON_LIMIT - 200]
        return f"raised {type(error).__name__}{': ' if words else ''}{words}{where}", torch_language.own_traceback(error, folder)
    except BaseException:  # noqa: BLE001  as above
        return f"raised {type(error).__name__}", ""


class _Implementation:
    """A candidate or a baseline in its own process."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self.folder = scratch / "source"
        self._product: Path | None = None
        self._bindings: dict[int, _Binding] = {}

    def do_build(self, request: dict[str, Any], _: list[int]) -> None:
        self._device = request["device"]
        self._language = language(request["language"])
        self._parts = [_Part(self.folder, self._device, swap) for swap in request["swaps"]]
        for part in self._parts:
            part.build(request, self.scratch)
        self._source = Source(self.folder, tuple(request["files"]), request["entry"], request["style"])
        self._product = self._language.build(self._source, self._device, request["warp_size"], Path(request["cache"]), self.scratch)

    def do_load(self, _: dict[str, Any], __: list[int]) -> None:
        self._find = self._language.load(self._source, self._product, self._device)
        self._swaps = [part.load() for part in self._parts]

    def _construct(self) -> modules.Construct:
        """The class, or the model with the candidates' modules in it."""
        construct = self._find({}, ())([])
        return swaps.swapped(construct, self._swaps) if self._swaps else construct

    def do_bind(self, request: dict[str, Any], descriptors: list[int]) -> None:
        """Prepares a call for each set of a case."""
        shared = map_memory(request, descriptors, self._device)
        arguments = tuple(Argument(**entry) for entry in request["arguments"])
        try:
            bind = self._find(request["dtypes"], arguments)
            calls = self._calls(bind, arguments, shared, request)
            self._bindings[request["binding"]] = _Binding(shared, calls, request)
        except BaseException:
            for one in shared.values():
                one.mapping.close()
            raise

    def _calls(self, bind: Bind, arguments: tuple[Argument, ...], shared: dict[str, Shared], request: dict[str, Any]) -> list[Call]:
        calls: list[Call] = []
        declared = request["module"]
        for index in range(request["sets"]):
            known = {**request["values"], **{name: one.tensor(index) for name, one in shared.items()}, "stream": stream(self._device)}
            if declared and (index == 0 or not declared["is_model"]):
                self._module = modules.make(self._construct(), declared, known, torch_device(self._device))
            call = modules.bind(self._module, declared, known) if declared else bind([known[argument.name] for argument in arguments])
            if self._source.style == "functional":
                outputs = [(name, known[name]) for name in request["returns"]]
                call = _store(call, outputs)
            calls.append(call)
        return calls

    def do_signatures(self, _: dict[str, Any], __: list[int]) -> dict[str, Any]:
        """How the class can be called; in a model each task's, by its name."""
        if self._swaps:
            return {swap.task: modules.signatures(swap.construct) for swap in self._swaps}
        return modules.signatures(self._find({}, ())([]))

    def do_state(self, request: dict[str, Any], _: list[int]) -> dict[str, Any]:
        """What a fresh module holds."""
        with torch.device(torch_device(self._device)):
            return modules.state(self._construct(), request["module"])

    def do_explain(self, request: dict[str, Any], _: list[int]) -> tuple[int, str]:
        """How often torch.compile breaks the last model that was bound, and why first."""
        binding = self._bindings[request["binding"]]
        return swaps.graph_breaks(self._module, {name: binding.shared[name].tensor(0) for name in binding.request["module"]["inputs"]})

    def do_compile(self, request: dict[str, Any], _: list[int]) -> None:
        """Has torch compile the last model that was bound, and calls it once."""
        self._module.compile(dynamic=False)
        self._bindings[request["binding"]].calls[0]()

    def do_profile(self, request: dict[str, Any], _: list[int]) -> tuple[float, float]:
        """Seconds of a call, and of what it spends in the named modules."""
        call = self._bindings[request["binding"]].calls[0]
        return swaps.time_inside(call, self._module, request["names"], partial(synchronize, self._device))

    def do_fill(self, request: dict[str, Any], _: list[int]) -> None:
        """Where memory is copied: brings the judge's to the device."""
        for name, one in self._bindings[request["binding"]].shared.items():
            if name not in request["skip"]:
                one.upload(request["count"])
        synchronize(self._device)

    def do_touch(self, request: dict[str, Any], _: list[int]) -> None:
        for one in self._bindings[request["binding"]].shared.values():
            one.mapping.touch(min(request["count"], one.mapping.layout.sets))

    def do_wake(self, request: dict[str, Any], __: list[int]) -> None:
        """Has the device turn to this process."""
        for _ in range(request["times"]):
            torch.zeros(1, device=torch_device(self._device))
            synchronize(self._device)

    def do_capture(self, request: dict[str, Any], _: list[int]) -> None:
        """Records the calls on the first `count` sets as a graph, and launches it once: the first launch pays for its upload."""
        binding = self._bindings[request["binding"]]
        if request["count"] not in binding.graphs:
            binding.graphs[request["count"]] = graphs.capture(binding.calls[: request["count"]])

    def do_order(self, request: dict[str, Any], _: list[int]) -> None:
        """The order of the sets in the calls that are asked for next."""
        binding = self._bindings[request["binding"]]
        binding.ordered = [binding.calls[index] for index in request["order"]]

    def do_call(self, request: dict[str, Any], _: list[int]) -> None:
        """One call on each of the first `count` sets, from the graph that was captured or one by one; nothing else happens between request and answer."""
        binding = self._bindings[request["binding"]]
        one_by_one = binding.ordered if request["ordered"] else binding.calls[: request["count"]]
        calls = [binding.graphs[request["count"]].replay] if request["graph"] else one_by_one
        gc.disable()
        try:
            for call in calls:
                call()
            synchronize(self._device)
        finally:
            gc.enable()

    def do_trace(self, request: dict[str, Any], _: list[int]) -> list[tuple[str, int, str]]:
        """Calls on the first set; which operations of torch that ran. What the harness does with what a call returns is not among them."""
        call = self._bindings[request["binding"]].calls[0]
        inner, outputs = getattr(call, "stores", (call, []))
        returned, operations = own_trace.trace(inner, self.folder)
        if outputs:
            _store(lambda: returned, outputs)()
        synchronize(self._device)
        return operations

    def do_collect(self, request: dict[str, Any], _: list[int]) -> None:
        """Where memory is copied: brings outputs back to the judge's."""
        for one in self._bindings[request["binding"]].shared.values():
            if one.role != "input":
                one.download(request["count"])

    def do_release(self, request: dict[str, Any], _: list[int]) -> None:
        binding = self._bindings.pop(request["binding"], None)
        if binding is not None:  # absent where its entry was missing
            binding.calls.clear()
            binding.ordered.clear()
            binding.graphs.clear()
            for one in binding.shared.values():
                one.mapping.close()


@dataclass
class _Binding:
    shared: dict[str, Shared]
    calls: list[Call]
    request: dict[str, Any]
    ordered: list[Call] = field(default_factory=list)
    graphs: dict[int, torch.cuda.CUDAGraph] = field(default_factory=dict)


@dataclass
class _Part:
    """One task's candidate among those of a model."""

    folder: Path
    device: str
    said: dict[str, Any]

    def build(self, request: dict[str, Any], scratch: Path) -> None:
        language(self.said["language"]).build(self._source(), self.device, request["warp_size"], Path(request["cache"]), scratch)

    def load(self) -> swaps.Swap:
        find = language(self.said["language"]).load(self._source(), None, self.device)
        return swaps.Swap(self.said["task"], self.said["module"]["target"], self.said["modules"], find({}, ())([]))

    def _source(self) -> Source:
        return Source(self.folder / self.said["folder"], tuple(self.said["files"]), self.said["entry"], "functional")


def _store(call: Call, outputs: list[tuple[str, torch.Tensor]]) -> Call:
    """The functional style: what the call returns goes to the outputs; the copy is part of the call."""

    def stored() -> None:
        returned = call()
        values = returned if isinstance(returned, tuple | list) else (returned,)
        if len(values) != len(outputs):
            raise Refused("wrong-result", f"returned {len(values)} values, want {len(outputs)}: {', '.join(name for name, _ in outputs)}")
        for (name, output), value in zip(outputs, values, strict=True):
            _check_returned(name, output, value)
            output.copy_(value)

    stored.stores = call, outputs  # type: ignore[attr-defined]
    return stored


def _check_returned(name: str, output: torch.Tensor, value: object) -> None:
    if not isinstance(value, torch.Tensor):
        raise Refused("wrong-result", f"returned {type(value).__name__} for {name}, want a tensor")
    for what, got, want in (
        ("shape", list(value.shape), list(output.shape)),
        ("dtype", value.dtype, output.dtype),
        ("device", value.device.type, output.device.type),
    ):
        if got != want:
            raise Refused("wrong-result", f"{name} has {what} {got}, want {want}")
