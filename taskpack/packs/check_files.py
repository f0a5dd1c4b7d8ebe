"""Checks of files that a pack names: they exist, lie inside it, and hold the functions that are asked for. Nothing is executed."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Collection, Iterator
from functools import lru_cache
from pathlib import Path as FilePath

from .findings import Elsewhere, Finding
from .names import FUNCTION
from .spans import Path
from .suggest import hint_among

_LARGEST_SOURCE = 4 << 20


def check_path(folder: FilePath, relative: str, path: Path, *, is_folder: bool = False) -> Iterator[Finding]:
    """P040, P041: `relative`, which the pack names at `path`, is a file (or folder) inside the pack's folder."""
    hint = "name a file by its path from the pack's folder, with forward slashes"
    if relative.startswith(("/", "~")) or "\\" in relative or ":" in relative or ".." in relative.split("/") or "\0" in relative:
        yield Finding("P041", path, f"`{relative}` leads out of the pack", hint)
        return
    found = folder / relative
    if not found.resolve().is_relative_to(folder.resolve()):
        yield Finding("P041", path, f"`{relative}` is a link that leads out of the pack", "copy the file into the pack")
    elif is_folder and not found.is_dir():
        yield Finding("P040", path, f"there is no folder `{relative}`", _nearby(folder, relative))
    elif not is_folder and not found.is_file():
        yield Finding("P040", path, f"there is no file `{relative}`", _nearby(folder, relative))


def check_function(folder: FilePath, spelled: str, path: Path, parameters: Collection[str] | None) -> Iterator[Finding]:
    """P040 to P045: `file.py:function` exists and asks for known parameters only; None where it may ask for any."""
    if not re.match(FUNCTION, spelled):
        yield Finding("P042", path, f"`{spelled}` is not `file.py:function`", "the file's path from the pack's folder, a colon, the function's name")
        return
    file, _, name = spelled.rpartition(":")
    wrong = list(check_path(folder, file, path))
    yield from wrong
    if not wrong:
        yield from _check_definition(folder, file, name, path, parameters)


def check_entry(folder: FilePath, file: str, name: str, path: Path) -> Iterator[Finding]:
    """P043, P044: the Python file `file`, which exists, has the function `name`."""
    yield from _check_definition(folder, file, name, path, None)


def _check_definition(folder: FilePath, file: str, name: str, path: Path, parameters: Collection[str] | None) -> Iterator[Finding]:
    source = folder / file
    if source.stat().st_size > _LARGEST_SOURCE:
        yield Finding("P044", path, f"`{file}` is larger than {_LARGEST_SOURCE >> 20} MiB")
        return
    tree = _functions(source.read_bytes())
    if isinstance(tree, SyntaxError):
        place = Elsewhere(file, tree.lineno or 1, tree.offset or 1, (tree.text or "").rstrip("\n"))
        yield Finding("P044", path, f"`{file}` is not Python: {tree.msg}", elsewhere=place)
        return
    functions, others, lines = tree
    if name not in functions:
        if name not in others:
            yield Finding("P043", path, f"`{file}` has no function `{name}`", hint_among(name, functions, "it has"))
        return
    for parameter in _unknown_parameters(functions[name], parameters):
        place = Elsewhere(file, parameter.lineno, parameter.col_offset + 1, lines[parameter.lineno - 1], len(parameter.arg))
        hint = hint_among(parameter.arg, parameters or (), "it is given")
        yield Finding("P045", path, f"`{name}` asks for `{parameter.arg}`, which it is not given", hint, elsewhere=place)


def _unknown_parameters(function: ast.FunctionDef, parameters: Collection[str] | None) -> Iterator[ast.arg]:
    """Those without a default that no keyword of ours fills."""
    if parameters is None:
        return
    given = function.args
    positional = [*given.posonlyargs, *given.args]
    required = positional[: len(positional) - len(given.defaults)]
    required += [arg for arg, default in zip(given.kwonlyargs, given.kw_defaults, strict=True) if default is None]
    yield from (arg for arg in required if arg.arg not in parameters or arg in given.posonlyargs)


@lru_cache(maxsize=256)
def _functions(content: bytes) -> tuple[dict[str, ast.FunctionDef], frozenset[str], list[str]] | SyntaxError:
    """The functions at a file's top level, other names that are bound there, and its lines."""
    try:
        text = content.decode()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except SyntaxError as error:
        return error
    except (ValueError, RecursionError, MemoryError) as error:
        return SyntaxError(str(error) or type(error).__name__)
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    return functions, frozenset(_bound_names(tree.body)), text.splitlines()


def _bound_names(body: list[ast.stmt]) -> Iterator[str]:
    """Names that imports and assignments bind: `softmax = torch.compile(f)` is a function, too."""
    for node in body:
        match node:
            case ast.Assign(targets=targets):
                yield from (target.id for target in targets if isinstance(target, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)) | ast.ClassDef(name=name):
                yield name
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                yield from (alias.asname or alias.name for alias in aliases)
            case ast.If(body=inner, orelse=other) | ast.Try(body=inner, orelse=other):
                yield from _bound_names([*inner, *other])
                yield from (node.name for node in [*inner, *other] if isinstance(node, ast.FunctionDef))
            case _:
                pass


def _nearby(folder: FilePath, relative: str) -> str:
    parent = (folder / relative).parent
    if not parent.is_dir():
        return ""
    prefix = relative.rpartition("/")[0]
    return hint_among(
        relative, [f"{prefix}/{entry.name}" if prefix else entry.name for entry in parent.iterdir() if not entry.name.startswith(".")], "there are"
    )
