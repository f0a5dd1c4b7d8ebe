"""PyTorch on any device: the candidate's first Python file is imported by path, its entry called with tensors, ints, floats and bools."""

from __future__ import annotations

import importlib.util
import itertools
import sys
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from ..contract import Argument, Bind, Call, CompileFailed, EntryMissing, Source

_numbers = itertools.count()


def missing(device: str) -> str | None:
    """Why torch cannot run on `device`, or None; looks at how torch was built, and touches no device."""
    if importlib.util.find_spec("torch") is None:
        return "PyTorch is not installed: pip install torch"
    import torch

    built = {"cpu": True, "cuda": torch.version.cuda, "hip": torch.version.hip, "xpu": getattr(torch.version, "xpu", None)}
    return None if built.get(device) else f"torch {torch.__version__} is built without {device}: install a build of torch for it"


def warm(device: str, warp_size: int, cache: Path, note: Callable[[str], None]) -> None:
    """Nothing to prepare."""


def preload(device: str) -> None:
    """torch itself is there already; nothing else is wanted."""


def build(source: Source, device: str, warp_size: int, cache: Path, scratch: Path) -> Path | None:
    """Compiles the Python files to byte code, for their syntax errors; there is no product."""
    for name in source.files:
        if name.endswith(".py"):
            check_syntax(source.folder, name)
    return None


def load(source: Source, product: Path | None, device: str) -> Callable[[dict[str, str], tuple[Argument, ...]], Bind]:
    """Imports the source's first Python file; the result finds the entry in it."""
    module = import_file(source)

    def entry(dtypes: dict[str, str], arguments: tuple[Argument, ...]) -> Bind:
        name = source.symbol(dtypes)
        function = getattr(module, name, None)
        if not callable(function):
            raise EntryMissing(f"{source.files[0]} has no function `{name}`")
        return partial(_bind, function)

    return entry


def toolchain(device: str) -> dict[str, str]:
    """torch and what it was built for."""
    import torch

    return {"torch": str(torch.__version__)}


def check_syntax(folder: Path, name: str) -> None:
    """Raises CompileFailed with file, line and the line itself."""
    try:
        compile((folder / name).read_bytes(), name, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        raise CompileFailed(f"{name}:{line or 1}: {getattr(error, 'msg', error)}", "".join(traceback.format_exception_only(error))) from error


def import_file(source: Source) -> ModuleType:
    """The first file as a module under a private name; its folder goes on the path first, for the files beside it.

    Whatever the import raises becomes CompileFailed with a traceback of the candidate's own frames.
    """
    path = source.folder / source.files[0]
    name = f"_taskpack_candidate_{next(_numbers)}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise CompileFailed(f"{source.files[0]} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and triton look their module up by name
    if str(source.folder) not in sys.path:
        sys.path.insert(0, str(source.folder))
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # the candidate may raise anything
        del sys.modules[name]
        log = own_traceback(error, source.folder)
        raise CompileFailed(f"{source.files[0]} cannot be imported: {type(error).__name__}: {error}", log) from error
    return module


def own_traceback(error: BaseException, folder: Path) -> str:
    """The traceback without frames outside `folder`, with paths relative to it."""
    prefix = f"{folder}/"
    report = traceback.TracebackException.from_exception(error)
    report.stack = traceback.StackSummary.from_list([frame for frame in report.stack if frame.filename.startswith(prefix)])
    return "".join(report.format(chain=False)).replace(prefix, "")


def _bind(function: Callable[..., Any], values: Sequence[object]) -> Call:
    return partial(function, *values)
