"""What workers say of themselves, read with the suspicion that code under judgement deserves: it has the form that was asked for, or the worker has failed."""

from __future__ import annotations

import math
from collections.abc import Iterable

from .domains import WorkerFailed
from .signature import Signature

METHODS = {"constructor": "__init__", "forward": "forward"}

_OPERATIONS, _NAME = 1000, 300
"""How many operations a call may be said to have run, and how long their names and places may be."""


def signatures(told: object) -> dict[str, Signature]:
    """Of a class: `constructor` and `forward`. Raises WorkerFailed, as all do here."""
    if not isinstance(told, dict):
        raise WorkerFailed("answered with something that is no signature")
    return {key: _signature(told.get(key)) for key in METHODS}


def signatures_by_task(told: object, tasks: Iterable[str]) -> dict[str, dict[str, Signature]]:
    """Of the classes that stand in a model."""
    found = told if isinstance(told, dict) else {}
    return {task: signatures(found.get(task)) for task in tasks}


def state(told: object) -> dict[str, list[object]]:
    """Key → [shape, dtype] of a module's state."""
    if not isinstance(told, dict) or not all(_is_shape_and_dtype(entry) for entry in told.values()):
        raise WorkerFailed("answered with something that is no state of a module")
    return told


def breaks(told: object) -> tuple[int, str]:
    """How many graph breaks, and why the first."""
    if isinstance(told, list) and len(told) == 2 and type(told[0]) is int and told[0] >= 0 and isinstance(told[1], str):
        return told[0], told[1]
    raise WorkerFailed("answered with something that is no count of graph breaks")


def seconds(told: object) -> tuple[float, float]:
    """Of a call, and of what it spends inside of some modules."""
    if isinstance(told, list) and len(told) == 2 and all(isinstance(one, int | float) and math.isfinite(one) and one >= 0 for one in told):
        return float(told[0]), float(told[1])
    raise WorkerFailed("answered with something that is no time")


def operations(told: object) -> list[tuple[str, int, str]]:
    """Of torch, that a call ran: name, how often, and from where."""
    if not isinstance(told, list) or len(told) > _OPERATIONS or not all(_is_operation(entry) for entry in told):
        raise WorkerFailed("answered with something that is no list of operations")
    return [(name, count, where) for name, count, where in told]


def _is_operation(entry: object) -> bool:
    return (
        isinstance(entry, list)
        and len(entry) == 3
        and isinstance(entry[0], str)
        and 0 < len(entry[0]) <= _NAME
        and type(entry[1]) is int
        and entry[1] > 0
        and isinstance(entry[2], str)
        and len(entry[2]) <= _NAME
    )


def _signature(told: object) -> Signature:
    if not isinstance(told, list) or not all(_is_parameter(entry) for entry in told):
        raise WorkerFailed("answered with something that is no signature")
    return tuple((name, kind, default) for name, kind, default in told)


def _is_parameter(entry: object) -> bool:
    return isinstance(entry, list) and len(entry) == 3 and isinstance(entry[0], str) and isinstance(entry[1], str) and isinstance(entry[2], str | None)


def _is_shape_and_dtype(entry: object) -> bool:
    return (
        isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], list) and all(type(size) is int for size in entry[0]) and isinstance(entry[1], str)
    )
