"""What runs beside untrusted code: builds it, loads it, maps the judge's memory, and calls when asked. It decides nothing.

Requests are JSON objects with `do` and `nonce`; the answer repeats the nonce and holds `ok` or `error` = {kind, reason, log}. All that
is said here is testimony: the judge looks at memory, and at its own clock.
"""

from __future__ import annotations

import gc
import inspect
import socket
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import torch

from . import library, modules, protocol, swaps
from .contract import Argument, Bind, Call, CompileFailed, EntryMissing, Source
from .languages import language
from .languages import torch as torch_language
from .memory import Layout, Mapping
from .protocol import Refused

_REASON_LIMIT, _LOG_LIMIT = 2000, 32_000


def serve(channel: socket.socket, role: str, scratch: Path) -> None:
    """Answers requests until the judge hangs up."""
    gc.freeze()
    domain = _Reference(scratch) if role == "reference" else _Implementation(scratch)
    while (got := protocol.receive(channel)) is not None:
        request, descriptors = got
        protocol.send(channel, {"nonce": request["nonce"], **_answer(domain, request, descriptors)})


def _answer(domain: _Reference | _Implementation, request: dict[str, Any], descriptors: list[int]) -> dict[str, Any]:
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


@dataclass
class _Shared:
    """One tensor argument's memory, and on a device its copy there."""

    mapping: Mapping
    role: str
    device: str
    copies: list[torch.Tensor] = field(default_factory=list)

    def tensor(self, index: int) -> torch.Tensor:
        """What all sets share has one."""
        index = min(index, self.mapping.layout.sets - 1)
        return self.mapping.tensor(index) if self.device == "cpu" else self.copies[index]

    def upload(self, sets: int) -> None:
        for index in range(min(sets, self.mapping.layout.sets)):
            self.copies[index].copy_(self.mapping.tensor(index))

    def download(self, sets: int) -> None:
        for index in range(sets):
            self.mapping.tensor(index).copy_(self.copies[index])


def _map(request: dict[str, Any], descriptors: list[int], device: str) -> dict[str, _Shared]:
    """The memory of a `bind` request: `tensors` lists {name, role, layout, writable} in the order of the descriptors."""
    shared: dict[str, _Shared] = {}
    for entry, descriptor in zip(request["tensors"], descriptors, strict=True):
        mapping = Mapping(descriptor, Layout.from_dict(entry["layout"]), entry["writable"])
        one = _Shared(mapping, entry["role"], device)
        if device != "cpu":
            one.copies = [mapping.tensor(index).to(_torch_device(device)) for index in range(mapping.layout.sets)]
        shared[entry["name"]] = one
    return shared


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
        shared = _map(request, descriptors, self._device)
        arguments = tuple(Argument(**entry) for entry in request["arguments"])
        try:
            bind = self._find(request["dtypes"], arguments)
            calls = self._calls(bind, arguments, shared, request)
            self._bindings[request["binding"]] = _Binding(shared, calls, request)
        except BaseException:
            for one in shared.values():
                one.mapping.close()
            raise

    def _calls(self, bind: Bind, arguments: tuple[Argument, ...], shared: dict[str, _Shared], request: dict[str, Any]) -> list[Call]:
        calls: list[Call] = []
        declared = request["module"]
        for index in range(request["sets"]):
            known = {**request["values"], **{name: one.tensor(index) for name, one in shared.items()}, "stream": _stream(self._device)}
            if declared and (index == 0 or not declared["is_model"]):
                self._module = modules.make(self._construct(), declared, known, _torch_device(self._device))
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
        return swaps.time_inside(call, self._module, request["names"], partial(_synchronize, self._device))

    def do_fill(self, request: dict[str, Any], _: list[int]) -> None:
        """On a device: brings the judge's memory there."""
        for name, one in self._bindings[request["binding"]].shared.items():
            if self._device != "cpu" and name not in request["skip"]:
                one.upload(request["count"])
        _synchronize(self._device)

    def do_touch(self, request: dict[str, Any], _: list[int]) -> None:
        for one in self._bindings[request["binding"]].shared.values():
            one.mapping.touch(min(request["count"], one.mapping.layout.sets))

    def do_call(self, request: dict[str, Any], _: list[int]) -> None:
        """One call on each of the first `count` sets; nothing else happens between the request and the answer."""
        calls = self._bindings[request["binding"]].calls[: request["count"]]
        gc.disable()
        try:
            for call in calls:
                call()
            _synchronize(self._device)
        finally:
            gc.enable()

    def do_collect(self, request: dict[str, Any], _: list[int]) -> None:
        """On a device: brings outputs back to the judge's memory."""
        for one in self._bindings[request["binding"]].shared.values():
            if self._device != "cpu" and one.role != "input":
                one.download(request["count"])

    def do_release(self, request: dict[str, Any], _: list[int]) -> None:
        binding = self._bindings.pop(request["binding"], None)
        if binding is not None:  # absent where its entry was missing
            binding.calls.clear()
            for one in binding.shared.values():
                one.mapping.close()


@dataclass
class _Binding:
    shared: dict[str, _Shared]
    calls: list[Call]
    request: dict[str, Any]


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


class _Reference:
    """The op's reference and generator, sandboxed like a candidate and believed only for their answers."""

    def __init__(self, scratch: Path) -> None:
        self.folder = scratch / "source"
        self._functions: dict[str, Callable[..., Any]] = {}
        self._bindings: dict[int, tuple[dict[str, _Shared], dict[str, Any]]] = {}

    def do_load(self, request: dict[str, Any], _: list[int]) -> None:
        if request["is_single_threaded"]:
            torch.set_num_threads(1)
        for what, file, name in request["functions"]:
            module = torch_language.import_file(Source(self.folder, (file,), name))
            function = getattr(module, name, None)
            if not callable(function):
                raise EntryMissing(f"{file} has no function `{name}`")
            self._functions[what] = function
        if request["module"]:
            self._class = library.import_object(request["module"]["target"])
            self._functions["reference"] = modules.as_reference(self._class)

    def do_state(self, request: dict[str, Any], _: list[int]) -> dict[str, Any]:
        """What a fresh module of the library's class holds; no memory is filled for it."""
        with torch.device("meta"):
            return modules.state(self._class, request["module"])

    def do_places(self, request: dict[str, Any], _: list[int]) -> dict[str, list[str]]:
        """The modules of the library's model that each task replaces."""
        wanted = [swaps.Swap(one["task"], one["module"]["target"], one["modules"], self._class) for one in request["swaps"]]
        with torch.device("meta"):
            found = swaps.places(modules.fresh(self._class, request["module"]), wanted)
        return {swap.task: [name for name, one in found if one is swap] for swap in wanted}

    def do_bind(self, request: dict[str, Any], descriptors: list[int]) -> None:
        known = request["values"]
        if request["module"]:
            modules.check_objects(request["module"])
            known = {**known, "module": request["module"]}
        self._bindings[request["binding"]] = (_map(request, descriptors, "cpu"), known)

    def do_call(self, request: dict[str, Any], _: list[int]) -> None:
        """Computes the first `count` sets in float64."""
        shared, values = self._bindings[request["binding"]]
        expected = [name for name, one in shared.items() if one.role == "expected"]
        for index in range(request["count"]):
            given = {name: _as_reference(one.tensor(index)) for name, one in shared.items() if one.role == "input"}
            with torch.no_grad():
                returned = _call_by_name(self._functions["reference"], {**values, **given})
            results = returned if isinstance(returned, tuple | list) else (returned,)
            if len(results) != len(expected):
                raise Refused("wrong-result", f"the reference returned {len(results)} values for {', '.join(name.partition('.')[2] for name in expected)}")
            for name, result in zip(expected, results, strict=True):
                _put(name.partition(".")[2], shared[name].tensor(index), result)

    def do_generate(self, request: dict[str, Any], descriptors: list[int]) -> None:
        """Runs the pack's generator once; its tensors go to the memory that came along."""
        shared = _map(request, descriptors, "cpu")
        made = _call_by_name(self._functions["generator"], request["values"])
        for name, one in shared.items():
            if not isinstance(made, dict) or name not in made:
                raise Refused("wrong-result", f"the generator returned no `{name}`")
            _put(name, one.tensor(0), made[name])

    def do_release(self, request: dict[str, Any], _: list[int]) -> None:
        for one in self._bindings.pop(request["binding"], ({}, {}))[0].values():
            one.mapping.close()


def _as_reference(tensor: torch.Tensor) -> torch.Tensor:
    """A private copy: floats in float64, everything else as it is."""
    return tensor.to(torch.float64, copy=True) if tensor.is_floating_point() else tensor.clone()


def _call_by_name(function: Callable[..., Any], known: dict[str, Any]) -> Any:
    """Calls with those of `known` that the function names."""
    parameters = inspect.signature(function).parameters
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return function(**known)
    return function(**{name: value for name, value in known.items() if name in parameters})


def _put(name: str, destination: torch.Tensor, value: object) -> None:
    value = torch.as_tensor(value)
    if value.shape != destination.shape:
        raise Refused("wrong-result", f"{name} came out with shape {list(value.shape)}, the declaration says {list(destination.shape)}")
    if value.is_floating_point() and not destination.is_floating_point():
        value = value.round()
    destination.copy_(value)


def _torch_device(device: str) -> str:
    return "cuda" if device == "hip" else device


def _stream(device: str) -> int | None:
    if device in ("cuda", "hip"):
        return int(torch.cuda.current_stream().cuda_stream)
    return int(torch.xpu.current_stream().sycl_queue) if device == "xpu" else None


def _synchronize(device: str) -> None:
    if device in ("cuda", "hip"):
        torch.cuda.synchronize()
    elif device == "xpu":
        torch.xpu.synchronize()
