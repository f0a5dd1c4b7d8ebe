"""What the judge's workers and the languages promise each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

Call = Callable[..., object]
"""One call of a kernel with its arguments already bound; returns the outputs only in `functional` style.

In the interface `module` the entry is a class, bound to nothing; the call takes the constructor's arguments by keyword and returns the module."""

Bind = Callable[[Sequence[object]], Call]
"""Takes the arguments in the order that the entry declares (tensors, ints, floats, bools; None for `stream`), returns the bound call."""


@dataclass(frozen=True)
class Argument:
    """One argument of an entry point, as C or Python sees it."""

    name: str
    role: str
    """input, inout, output, dim, flag, scalar or stream"""
    dtype: str
    """A concrete dtype (`float32`) of the tensor or scalar; int64 for dims, int32 for flags; empty for stream."""


@dataclass(frozen=True)
class Source:
    """The files that implement one side, and how to find its entry."""

    folder: Path
    files: tuple[str, ...]
    entry: str
    """A symbol or function name; may hold `{T}` for a dtype variable until `symbol` fills it in."""
    style: str = "destination"

    def symbol(self, dtypes: dict[str, str]) -> str:
        return self.entry.format(**dtypes)


class CompileFailed(Exception):
    """The candidate's own code does not compile or import; `log` is the compiler's or interpreter's text, with the candidate's file and line."""

    def __init__(self, reason: str, log: str = "") -> None:
        super().__init__(reason)
        self.reason, self.log = reason, log


class EntryMissing(Exception):
    """The built candidate has no such symbol; fails the cases of that dtype only."""


class Unprepared(Exception):
    """What a language needs on this machine cannot be made; says what went wrong."""


class Language(Protocol):
    """A back end: a module with these functions (`taskpack.runtime.languages.cpp` is the shortest example)."""

    def missing(self, device: str) -> str | None:
        """Why this language cannot run here on `device` ("cpu", "cuda", …), naming the package that would mend it; None if it can."""

    def warm(self, device: str, warp_size: int, cache: Path, note: Callable[[str], None]) -> None:
        """Makes what is needed once per toolchain (trusted code only), in the judge's process before any worker starts; may do nothing. Raises Unprepared."""

    def preload(self, device: str) -> None:
        """Imports, in the warm parent, what every worker will want (it must run no torch operation and touch no device); may do nothing."""

    def build(self, source: Source, device: str, warp_size: int, cache: Path, scratch: Path) -> Path | None:
        """Compiles `source` in the worker; returns the product in `scratch` or None where there is none. Raises CompileFailed."""

    def load(self, source: Source, product: Path | None, device: str) -> Callable[[dict[str, str], tuple[Argument, ...]], Bind]:
        """Loads the product; the result maps (dtypes, arguments) to a Bind. Raises CompileFailed; the returned function raises EntryMissing."""

    def toolchain(self, device: str) -> dict[str, str]:
        """Names and versions of the compilers or libraries used, for the evidence."""
