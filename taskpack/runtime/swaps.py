"""Inside a worker: a library's model in which candidates stand for some of its modules, and what can be asked of it."""

from __future__ import annotations

import functools
import statistics
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import torch

from . import library
from .modules import Construct
from .protocol import Refused

Given = dict[int, tuple[tuple[Any, ...], dict[str, Any]]]
"""A module's id → what its constructor was given."""

_PASSES = 7


@dataclass(frozen=True)
class Swap:
    """A candidate's class, and which modules it stands for."""

    task: str
    target: str
    modules: str
    construct: Construct


def swapped(construct: Construct, swaps: Sequence[Swap]) -> Construct:
    """`construct`, whose model has other modules: each is constructed with what the library's own was given."""

    def build(**arguments: Any) -> object:
        with _recorded([swap.target for swap in swaps]) as given:
            model = construct(**arguments)
        assert isinstance(model, torch.nn.Module)
        for name, swap in places(model, swaps):
            model.set_submodule(name, _replacement(swap, *given[id(model.get_submodule(name))]))
        return model

    return build


def places(model: torch.nn.Module, swaps: Sequence[Swap]) -> list[tuple[str, Swap]]:
    """The modules of the library's classes that are replaced, outermost first; none inside another one."""
    found: list[tuple[str, Swap]] = []
    for name, module in model.named_modules():
        if any(name.startswith(f"{outer}.") for outer, _ in found):
            continue
        found += [(name, swap) for swap in swaps if type(module) is library.import_object(swap.target) and fnmatchcase(name, swap.modules)][:1]
    return found


def graph_breaks(model: torch.nn.Module, inputs: Mapping[str, torch.Tensor]) -> tuple[int, str]:
    """How often torch.compile gives up on the model and goes on in Python, and why it did so first; testimony."""
    import torch._dynamo as dynamo

    dynamo.reset()
    explained = dynamo.explain(model)(**inputs)
    reasons = [str(one.reason) for one in explained.break_reasons]
    return int(explained.graph_break_count), textwrap.shorten(reasons[0], 300, placeholder=" …") if reasons else ""


def time_inside(call: Callable[[], object], model: torch.nn.Module, names: Sequence[str], synchronize: Callable[[], None]) -> tuple[float, float]:
    """Median seconds of a call, and of what it spends in the named modules; testimony."""
    spent: list[float] = []
    handles = [handle for name in names for handle in _timed(model.get_submodule(name), spent, synchronize)]
    inside, total = [], []
    try:
        for _ in range(_PASSES):
            spent.clear()
            begin = time.perf_counter()
            call()
            synchronize()
            total.append(time.perf_counter() - begin)
            inside.append(sum(spent))
    finally:
        for handle in handles:
            handle.remove()
    return statistics.median(total), statistics.median(inside)


def _replacement(swap: Swap, args: tuple[Any, ...], kwargs: dict[str, Any]) -> torch.nn.Module:
    try:
        made = swap.construct(*args, **kwargs)
    except TypeError as error:
        raise Refused("interface", f"for {swap.task} cannot be constructed: {error}") from error
    if not isinstance(made, torch.nn.Module):
        raise Refused("interface", f"for {swap.task} is no torch.nn.Module")
    return made


def _timed(module: torch.nn.Module, spent: list[float], synchronize: Callable[[], None]) -> Iterator[Any]:
    started: list[float] = []

    def before(*_: object) -> None:
        synchronize()
        started.append(time.perf_counter())

    def after(*_: object) -> None:
        synchronize()
        spent.append(time.perf_counter() - started.pop())

    yield module.register_forward_pre_hook(before)
    yield module.register_forward_hook(after)


@contextmanager
def _recorded(targets: Sequence[str]) -> Iterator[Given]:
    """Notes what the constructors of the classes are given meanwhile."""
    given: Given = {}
    classes = [library.import_object(target) for target in targets]
    originals = [kind.__init__ for kind in classes]

    def recording(original: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(original)
        def init(self: object, *args: Any, **kwargs: Any) -> None:
            given.setdefault(id(self), (args, kwargs))
            original(self, *args, **kwargs)

        return init

    for kind, original in zip(classes, originals, strict=True):
        kind.__init__ = recording(original)
    try:
        yield given
    finally:
        for kind, original in zip(classes, originals, strict=True):
            kind.__init__ = original
