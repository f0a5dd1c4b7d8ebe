"""Signatures of Python functions as data: read from words, from source and from a live function, and compared as a caller sees them."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterable
from typing import Any

Parameter = tuple[str, str, str | None]
"""Name, kind (inspect's: POSITIONAL_OR_KEYWORD, KEYWORD_ONLY, …), and the default as Python prints it, or None."""
Signature = tuple[Parameter, ...]

_ANY = "VAR_KEYWORD"
_NAMED = frozenset({"POSITIONAL_OR_KEYWORD", "KEYWORD_ONLY"})


def parse_signature(text: str) -> Signature:
    """What `(hidden_size, eps=1e-6)` spells, without annotations; raises ValueError where it spells no signature."""
    try:
        (function,) = ast.parse(f"def f{text}: pass").body
    except (SyntaxError, ValueError):
        raise ValueError(f"`{text}` is no signature") from None
    if not isinstance(function, ast.FunctionDef) or len(function.body) != 1 or not isinstance(function.body[0], ast.Pass):
        raise ValueError(f"`{text}` is no signature")
    return of_source(function)


def of_source(function: ast.FunctionDef) -> Signature:
    """The signature of a function in source, `self` included; a default is printed as the value that it spells, or as it stands."""
    given = function.args
    plain = [(arg, "POSITIONAL_ONLY") for arg in given.posonlyargs] + [(arg, "POSITIONAL_OR_KEYWORD") for arg in given.args]
    defaults = [None] * (len(plain) - len(given.defaults)) + list(given.defaults)
    found = [(arg.arg, kind, _printed(default)) for (arg, kind), default in zip(plain, defaults, strict=True)]
    found += [(given.vararg.arg, "VAR_POSITIONAL", None)] if given.vararg else []
    found += [(arg.arg, "KEYWORD_ONLY", _printed(default)) for arg, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)]
    found += [(given.kwarg.arg, _ANY, None)] if given.kwarg else []
    return tuple(found)


def of_function(function: Callable[..., Any]) -> Signature:
    """The signature of a live function; raises ValueError or TypeError for one that has none."""
    return tuple(
        (one.name, one.kind.name, None if one.default is one.empty else repr(one.default)[:200]) for one in inspect.signature(function).parameters.values()
    )


def names(signature: Signature) -> list[str]:
    """The parameters that can be given by keyword."""
    return [name for name, kind, _ in signature if kind in _NAMED]


def required(signature: Signature) -> list[str]:
    """Those of them without a default."""
    return [name for name, kind, default in signature if kind in _NAMED and default is None]


def show(signature: Signature) -> str:
    """As Python writes it: `(hidden_size, *, eps=1e-06)`."""
    words: list[str] = []
    for name, kind, default in signature:
        if kind == "KEYWORD_ONLY" and not any(word.startswith("*") for word in words):
            words.append("*")
        star = {"VAR_POSITIONAL": "*", _ANY: "**"}.get(kind, "")
        words.append(f"{star}{name}" + (f"={default}" if default is not None else ""))
    return f"({', '.join(words)})"


def difference(wanted: Signature, found: Signature) -> str:
    """Why a caller of `wanted` cannot call `found`, or ""; parameters that only `found` has do no harm where they have a default."""
    known = {name: (kind, default) for name, kind, default in found}
    for name, kind, default in wanted:
        if kind == _ANY:
            if not any(other == _ANY for _, other, _ in found):
                return f"takes no `**{name}`"
        elif name not in known:
            return f"has no parameter `{name}`"
        elif known[name][0] != kind:
            return f"takes `{name}` as {_words(known[name][0])}, not as {_words(kind)}"
        elif known[name][1] != default:
            return f"has {_default(known[name][1])} for `{name}`, not {_default(default)}"
    here = [name for name, kind, _ in wanted if kind == "POSITIONAL_OR_KEYWORD"]
    there = [name for name, kind, _ in found if kind == "POSITIONAL_OR_KEYWORD"]
    if there[: len(here)] != here:
        return f"takes {_listed(there)} in this order, not {_listed(here)}"
    more = [name for name in required(found) if name not in names(wanted)]
    return f"wants `{more[0]}`, which it is not given" if more else ""


def _printed(node: ast.expr | None) -> str | None:
    if node is None:
        return None
    try:
        return repr(ast.literal_eval(node))
    except ValueError:
        return ast.unparse(node)


def _words(kind: str) -> str:
    return "a " + kind.lower().replace("_or_", " or ").replace("_", " ") + " parameter"


def _default(default: str | None) -> str:
    return "no default" if default is None else f"the default {default}"


def _listed(found: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in found)
