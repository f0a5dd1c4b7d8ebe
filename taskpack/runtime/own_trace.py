"""Inside a worker: which of ATen's operations a call runs, and from where in the candidate's files.

What Triton's interpreter computes on the CPU is Triton's: an operation is left out where, from it outwards, a frame of Triton's comes before one of the
candidate's. What happens on other threads, or inside of an operation that the candidate registered itself, is not seen.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode

_LIMIT = 1000


class Trace(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """While it is entered, operations are counted."""

    def __init__(self, folder: Path) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._own = f"{folder}/"
        found = getattr(sys.modules.get("triton"), "__file__", None)
        self._triton = f"{Path(found).parent}/" if found else None
        self._counts: dict[str, int] = {}
        self._where: dict[str, str] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        where = self._place(sys._getframe(1))
        if where is not None:
            name = str(func)
            if name in self._counts or len(self._counts) < _LIMIT:
                self._counts[name] = self._counts.get(name, 0) + 1
                self._where.setdefault(name, where)
        return func(*args, **(kwargs or {}))

    def operations(self) -> list[tuple[str, int, str]]:
        """Name, count and place of each, in the order in which they first ran."""
        return [(name, count, self._where[name]) for name, count in self._counts.items()]

    def _place(self, frame: FrameType | None) -> str | None:
        """File and line of the candidate's innermost frame, "" where it has none, None where Triton is nearer."""
        while frame is not None:
            file = frame.f_code.co_filename
            if file.startswith(self._own):
                return f"{file.removeprefix(self._own)}:{frame.f_lineno}"
            if self._triton and file.startswith(self._triton):
                return None
            frame = frame.f_back
        return ""


def trace(call: Callable[[], object], folder: Path) -> tuple[object, list[tuple[str, int, str]]]:
    """What the call returned, and what it ran."""
    mode = Trace(folder)
    with mode:
        returned = call()
    return returned, mode.operations()
