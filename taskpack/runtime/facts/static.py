"""Values that Python source gives away without being run: literals, arithmetic on them, names bound to them."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

Item = TypeVar("Item")

_LONGEST = 1024
_LARGEST = 2**64

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.LShift: lambda a, b: a << b if 0 <= b < 64 else _refuse(),
    ast.Pow: lambda a, b: a**b if 0 <= b < 64 else _refuse(),
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_CALLS: dict[str, Callable[..., Any]] = {"min": min, "max": max, "range": lambda *a: list(_short(range(*a))), "list": list, "tuple": tuple, "len": len}


class NotStatic(Exception):
    """The value depends on what only a run can tell."""


def static(node: ast.expr | None, names: Mapping[str, Any]) -> Any:
    """The value of an expression over `names`; raises NotStatic."""
    try:
        value = _static(node, names)
    except (ArithmeticError, TypeError, ValueError, KeyError, IndexError):
        raise NotStatic from None
    if isinstance(value, int) and abs(value) >= _LARGEST:
        raise NotStatic
    return _short(value) if isinstance(value, tuple | list | str | dict) else value


def comprehension(generators: list[ast.comprehension], names: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The names that each round of a comprehension sees; raises NotStatic."""
    if not generators:
        yield dict(names)
        return
    first, *rest = generators
    for item in _short(static(first.iter, names)):
        inner = {**names, **bind(first.target, item)}
        if all(static(test, inner) for test in first.ifs):
            yield from comprehension(rest, inner)


def bounded(items: Iterable[Item]) -> Iterator[Item]:
    """The items; raises NotStatic where there are more than anybody writes: a stranger's file must not keep its reader busy."""
    for number, item in enumerate(items):
        if number >= _LONGEST:
            raise NotStatic
        yield item


def bind(target: ast.expr, value: Any) -> dict[str, Any]:
    """Target names → values, as an assignment gives them; raises NotStatic for anything but names and tuples of them."""
    if isinstance(target, ast.Name):
        return {target.id: value}
    if isinstance(target, ast.Tuple | ast.List) and isinstance(value, list | tuple) and len(value) == len(target.elts):
        return {name: item for part, each in zip(target.elts, value, strict=True) for name, item in bind(part, each).items()}
    raise NotStatic


def _static(node: ast.expr | None, names: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -static(operand, names)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not static(operand, names)
        case ast.BinOp(op=op, left=left, right=right) if type(op) in _BINARY:
            a, b = static(left, names), static(right, names)
            if isinstance(op, ast.Mult) and not (isinstance(a, int | float) and isinstance(b, int | float)):
                raise NotStatic
            return _BINARY[type(op)](a, b)
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARE:
            return _COMPARE[type(op)](static(left, names), static(right, names))
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return static(body if static(test, names) else orelse, names)
        case ast.List(elts=elts) | ast.Tuple(elts=elts):
            return tuple(static(each, names) for each in elts)
        case ast.Dict(keys=keys, values=values):
            return {static(key, names): static(value, names) for key, value in zip(keys, values, strict=True)}
        case ast.ListComp(elt=elt, generators=generators) | ast.GeneratorExp(elt=elt, generators=generators):
            return tuple(static(elt, inner) for inner in bounded(comprehension(generators, names)))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _CALLS and name not in names:
            return _CALLS[name](*[static(arg, names) for arg in args])
        case _:
            raise NotStatic


def _short(items: Any) -> Any:
    if len(items) > _LONGEST:
        raise NotStatic
    return items


def _refuse() -> Any:
    raise NotStatic
