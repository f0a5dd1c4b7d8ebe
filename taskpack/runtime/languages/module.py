"""A class of an installed library as one side: the baseline of every task whose interface is `module`; the source's entry is `package.module:Class`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from .. import library
from ..contract import Argument, Bind, Call, CompileFailed, Source
from . import torch as _torch


def missing(device: str) -> str | None:
    """Why torch cannot run on `device`, or None; `library.require` looks for the library itself."""
    return _torch.missing(device)


def warm(device: str, warp_size: int, cache: Path, note: Callable[[str], None]) -> None:
    """Nothing to prepare."""


def preload(device: str) -> None:
    """Nothing: what the warm parent imported, the candidate would hold, too."""


def build(source: Source, device: str, warp_size: int, cache: Path, scratch: Path) -> Path | None:
    """Imports the library, which may take seconds; there is no product."""
    _find(source)
    return None


def load(source: Source, product: Path | None, device: str) -> Callable[[dict[str, str], tuple[Argument, ...]], Bind]:
    """Finds the class."""
    found = _find(source)
    return lambda _, __: partial(_bind, found)


def toolchain(device: str) -> dict[str, str]:
    """torch; the library's version stands beside it."""
    return _torch.toolchain(device)


def _find(source: Source) -> Callable[..., Any]:
    try:
        found: Callable[..., Any] = library.import_object(source.entry)
    except (ImportError, AttributeError) as error:
        raise CompileFailed(f"{source.entry} cannot be imported: {type(error).__name__}: {error}") from error
    return found


def _bind(found: Callable[..., Any], values: Sequence[object]) -> Call:
    return partial(found, *values)
