"""The op's reference and generator in a process of their own, sandboxed like a candidate and believed only for their answers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import torch

from . import graphs, library, modules, swaps
from .contract import EntryMissing, Source
from .languages import torch as torch_language
from .protocol import Refused
from .shared import Shared, map_memory, synchronize

_TOGETHER = 64
"""Sets of a captured graph on a device: what a launch costs from Python, some 70 µs a set on an H200's host, is paid once for so many."""


class Reference:
    """The op's reference and generator, sandboxed like a candidate and believed only for their answers."""

    def __init__(self, scratch: Path) -> None:
        self.folder = scratch / "source"
        self._functions: dict[str, Callable[..., Any]] = {}
        self._bindings: dict[int, _Bound] = {}

    def do_load(self, request: dict[str, Any], _: list[int]) -> None:
        self._home = request["home"]
        if self._home == "cpu" and request["is_single_threaded"]:
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
        self._bindings[request["binding"]] = _Bound(map_memory(request, descriptors, self._home), known)

    def do_call(self, request: dict[str, Any], _: list[int]) -> None:
        """Computes the first `count` sets in float64."""
        bound, count, done = self._bindings[request["binding"]], request["count"], 0
        while self._home == "cuda" and done + _TOGETHER <= count and self._launch(bound, done):
            done += _TOGETHER
        self._compute(bound, range(done, count))
        synchronize(self._home)

    def _launch(self, bound: _Bound, first: int) -> bool:
        """Computes `_TOGETHER` sets from `first` on by one launch; False if the reference does more than launch."""
        if first in bound.graphs:
            bound.graphs[first].replay()
        elif bound.can_be_captured:
            try:
                bound.graphs[first] = graphs.capture([partial(self._compute, bound, [index]) for index in range(first, first + _TOGETHER)])
            except Exception:  # noqa: BLE001  whatever it is, it says so again when it is called
                bound.can_be_captured = False
        return bound.can_be_captured

    def _compute(self, bound: _Bound, indices: Iterable[int]) -> None:
        shared, values = bound.shared, bound.values
        expected = [name for name, one in shared.items() if one.role == "expected"]
        for index in indices:
            given = {name: _as_reference(one.tensor(index)) for name, one in shared.items() if one.role == "input"}
            with torch.no_grad(), torch.device(self._home):
                returned = _call_by_name(self._functions["reference"], {**values, **given})
            results = returned if isinstance(returned, tuple | list) else (returned,)
            if len(results) != len(expected):
                raise Refused("wrong-result", f"the reference returned {len(results)} values for {', '.join(name.partition('.')[2] for name in expected)}")
            for name, result in zip(expected, results, strict=True):
                _put(name.partition(".")[2], shared[name].tensor(index), result)

    def do_generate(self, request: dict[str, Any], descriptors: list[int]) -> None:
        """Runs the pack's generator once, on the CPU; its tensors go to the memory that came along."""
        shared = map_memory(request, descriptors, self._home)
        try:
            made = _call_by_name(self._functions["generator"], request["values"])
            for name, one in shared.items():
                if not isinstance(made, dict) or name not in made:
                    raise Refused("wrong-result", f"the generator returned no `{name}`")
                _put(name, one.tensor(0), made[name])
            synchronize(self._home)
        finally:
            for one in shared.values():
                one.mapping.close()

    def do_release(self, request: dict[str, Any], _: list[int]) -> None:
        bound = self._bindings.pop(request["binding"], None)
        if bound is not None:
            bound.graphs.clear()
            for one in bound.shared.values():
                one.mapping.close()


@dataclass
class _Bound:
    """A case's memory, and what its calls take besides."""

    shared: dict[str, Shared]
    values: dict[str, Any]
    can_be_captured: bool = True
    graphs: dict[int, torch.cuda.CUDAGraph] = field(default_factory=dict)
    """By the first of the sets that they compute."""


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
