"""What is left of a table when its broken parts are taken out, so that the checks of meaning can run beside complaints about form."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from .spans import Path
from .wording import existing_path

Model = TypeVar("Model", bound=BaseModel)

_ROUNDS = 8
"""Taking a key out may leave its table without a key that it needs; tables are nested less deep than this."""


@dataclass(frozen=True)
class Salvaged(Generic[Model]):
    """A model of the sound parts."""

    model: Model | None
    """None where too little is left."""
    removed: tuple[Path, ...] = ()
    """What was taken out, by its path in the whole table."""
    _rows: Mapping[Path, list[int]] = field(default_factory=dict)

    def original(self, path: Path) -> Path:
        """The path in the whole table of what stands at `path` in the model."""
        return _original(path, self._rows)


def frozen(value: object) -> object:
    """The value with tuples for lists, as strict models want them."""
    if isinstance(value, dict):
        return {key: frozen(item) for key, item in value.items()}
    if isinstance(value, list):
        return tuple(frozen(item) for item in value)
    return value


def salvage(model: type[Model], table: object) -> Salvaged[Model]:
    """As much of `table` as makes a `model`."""
    if not isinstance(table, dict):
        return Salvaged(None)
    rest = copy.deepcopy(table)
    removed: set[Path] = set()
    rows: dict[Path, list[int]] = {}
    for _ in range(_ROUNDS):
        try:
            return Salvaged(model.model_validate(frozen(rest)), tuple(removed), rows)
        except ValidationError as error:
            complaints = error.errors(include_url=False, include_input=False)
        for path in sorted({existing_path(rest, complaint["loc"]) for complaint in complaints} - {()}, key=_order, reverse=True):
            removed.add(_original(path, rows))
            _take_out(rest, path, rows)
    return Salvaged(None)


def _take_out(table: object, path: Path, rows: dict[Path, list[int]]) -> None:
    holder: Any = table
    for step in path[:-1]:
        holder = holder[step]
    if isinstance(holder, list):
        rows.setdefault(_original(path[:-1], rows), list(range(len(holder)))).pop(int(path[-1]))
    del holder[path[-1]]


def _original(path: Path, rows: Mapping[Path, list[int]]) -> Path:
    found: Path = ()
    for step in path:
        kept = rows.get(found)
        found += (kept[step] if kept is not None and isinstance(step, int) and step < len(kept) else step,)
    return found


def _order(path: Path) -> list[tuple[int, str]]:
    """So that, in reverse, what is inside goes before what it is in, and the end of a list before its beginning."""
    return [(step, "") if isinstance(step, int) else (-1, step) for step in path]
