"""The installed library whose class is a reference: found without being run, and held to its version and its fingerprint."""

from __future__ import annotations

import ast
import hashlib
import importlib
import importlib.metadata
import importlib.util
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import signature

_SELF = 1
"""A method's first parameter is no business of its callers."""


class Missing(Exception):
    """The library is not installed, or in a version that the pack refuses; says what would mend it."""


class Drifted(Exception):
    """The class is not the one that the pack was written for."""


def require(module: Mapping[str, Any]) -> str:
    """The version of the library that a plan's `module` names; raises Missing and Drifted."""
    version = installed_version(module)
    found = fingerprint(module["target"])
    if found != module["fingerprint"]:
        raise Drifted(
            f"drift: `{module['target']}` of {module['provider']} {version} has the fingerprint {found}, and the pack was written for {module['fingerprint']}: "
            "install the version that it was written for, or read what changed in the class, and give the pack the new fingerprint and a new version of its own"
        )
    return version


def installed_version(module: Mapping[str, Any]) -> str:
    """The library's version, which `module` allows; raises Missing."""
    provider, wanted = module["provider"], module["requires"]
    mend = f"pip install '{provider}{_pip(module['versions'])}'"
    try:
        version = importlib.metadata.version(provider)
    except importlib.metadata.PackageNotFoundError:
        raise Missing(f"`{module['target']}` needs {provider} ({wanted}), which is not installed: {mend}") from None
    if not all(_holds(_release(version), operator, _release(bound)) for operator, bound in module["versions"]):
        raise Missing(f"`{module['target']}` needs {provider} {wanted}, and {version} is installed: {mend}")
    return version


def fingerprint(target: str) -> str:
    """`sha256:…` of the class's syntax: comments, docstrings, spaces and the version of Python do not count. Raises Missing and Drifted."""
    plain = json.dumps(_plain(find_class(target)), separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(plain.encode()).hexdigest()


def signatures(target: str) -> dict[str, signature.Signature]:
    """`constructor` and `forward` of the class, as far as it has them itself and does not inherit them. Raises Missing and Drifted."""
    functions = {node.name: node for node in find_class(target).body if isinstance(node, ast.FunctionDef)}
    wanted = {"constructor": "__init__", "forward": "forward"}
    return {what: signature.of_source(functions[name])[_SELF:] for what, name in wanted.items() if name in functions}


def find_class(target: str) -> ast.ClassDef:
    """The source of `package.module:Class`; nothing is imported. Raises Missing and Drifted."""
    path, _, name = target.partition(":")
    file = _find_file(path)
    tree = ast.parse(file.read_bytes())
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            return node
    raise Drifted(f"drift: {path} has no class `{name}` any more: the pack needs another version of it, or another target")


def import_object(target: str) -> Any:
    """The live object that `package.module:Name` names; raises what its import raises."""
    path, _, name = target.partition(":")
    return getattr(importlib.import_module(path), name)


def _find_file(module: str) -> Path:
    top, *rest = module.split(".")
    spec = importlib.util.find_spec(top)
    if spec is None:
        raise Missing(f"the package {top} is not installed")
    places = [Path(place).joinpath(*rest) for place in spec.submodule_search_locations or ()]
    files = [candidate for place in places for candidate in (place.with_suffix(".py"), place / "__init__.py") if candidate.is_file()]
    if not files:
        raise Drifted(f"drift: {top} has no module {module} any more: the pack needs another version of it, or another target")
    return files[0]


def _plain(node: object) -> object:
    """A syntax tree as lists: fields that are empty, or that only some versions of Python have, are left out, and so are docstrings."""
    if isinstance(node, ast.AST):
        fields = {name: value for name, value in ast.iter_fields(node) if name not in ("ctx", "kind", "type_comment", "type_params")}
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node, clean=False) is not None:
            fields["body"] = node.body[1:]
        return [type(node).__name__, *([name, _plain(value)] for name, value in sorted(fields.items()) if value not in (None, []))]
    if isinstance(node, list):
        return [_plain(item) for item in node]
    return node if isinstance(node, str | int | None) else repr(node)


def _release(version: str) -> tuple[int, ...]:
    """`5.24.0` as three numbers; what comes after them (`rc1`, `+cpu`) does not matter here."""
    numbers = [int(part) for part in re.findall(r"\d+", (re.match(r"[0-9.]*", version) or [""])[0])]
    return tuple((*numbers, 0, 0, 0)[:3])


def _holds(version: tuple[int, ...], operator: str, bound: tuple[int, ...]) -> bool:
    return {">=": version >= bound, "<=": version <= bound, ">": version > bound, "<": version < bound}.get(operator, version == bound)


def _pip(versions: list[list[str]]) -> str:
    return ",".join(f"{'==' if operator == '=' else operator}{bound}" for operator, bound in versions)
