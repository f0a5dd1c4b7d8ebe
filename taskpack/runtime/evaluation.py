"""The value of an expression, as far as it can be known: three-valued, over whatever names have a value."""

from __future__ import annotations

import ast
import functools
import operator
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, Final

from . import expressions

__all__ = ["UNKNOWN", "NoValue", "Unknown", "evaluate", "names_in", "read"]


class Unknown(Enum):
    """The value of what cannot be known at the time."""

    UNKNOWN = "unknown"

    def __bool__(self) -> bool:
        raise TypeError("an unknown value is neither true nor false: ask `is True`")


UNKNOWN: Final = Unknown.UNKNOWN


class NoValue(Exception):
    """An expression that has no value for these names, as in a division by zero; `node` is the part that has none."""

    def __init__(self, node: ast.expr, why: str) -> None:
        super().__init__(why)
        self.node, self.why = node, why


_OPERATORS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.USub: lambda a, _: -a,
    ast.UAdd: lambda a, _: +a,
    ast.Not: lambda a, _: not a,
}


@functools.lru_cache(maxsize=1024)
def read(text: str) -> ast.expr:
    """The tree of an expression that was checked with its pack."""
    return ast.parse(text.strip(), mode="eval").body


@functools.lru_cache(maxsize=1024)
def names_in(text: str) -> tuple[str, ...]:
    """The names of data in an expression, in the order of the alphabet."""
    return tuple(sorted({node.id for node in ast.walk(read(text)) if isinstance(node, ast.Name)} - set(expressions.CALLS)))


def evaluate(node: ast.expr, values: Mapping[str, Any]) -> Any:
    """The value of a well-typed tree; UNKNOWN where it depends on a name without one. Raises NoValue where there is none."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return values.get(name, UNKNOWN)
        case ast.UnaryOp(op=op, operand=operand):
            return _apply(node, _OPERATORS[type(op)], evaluate(operand, values), None)
        case ast.BinOp(op=op, left=left, right=right):
            return _apply(node, _OPERATORS[type(op)], evaluate(left, values), evaluate(right, values))
        case ast.BoolOp(op=op, values=sides):
            return _connected(sides, values, decisive=isinstance(op, ast.Or))
        case ast.Compare():
            return _compared(node, values)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            decided = evaluate(test, values)
            return UNKNOWN if decided is UNKNOWN else evaluate(body if decided else orelse, values)
        case ast.Call(func=ast.Name(id=name), args=args):
            return _apply(node, expressions.CALLS[name], *[evaluate(arg, values) for arg in args])
        case _:
            raise AssertionError(f"the grammar let {node!r} through")


def _apply(node: ast.expr, function: Callable[..., Any], *given: Any) -> Any:
    if UNKNOWN in given:
        return UNKNOWN
    try:
        return function(*given)
    except (ArithmeticError, ValueError) as error:
        raise NoValue(node, f"it has no value: {error}") from None


def _connected(sides: list[ast.expr], values: Mapping[str, Any], *, decisive: bool) -> Any:
    """`or` (decided by True) and `and` (by False), from left to right.

    Beyond an unknown side an error decides nothing: that side might have kept it from being reached.
    """
    is_unknown = False
    for side in sides:
        value = _perhaps(side, values) if is_unknown else evaluate(side, values)
        if value is UNKNOWN:
            is_unknown = True
        elif bool(value) is decisive:
            return decisive
    return UNKNOWN if is_unknown else not decisive


def _perhaps(node: ast.expr, values: Mapping[str, Any]) -> Any:
    """The value of what may never be reached: there an error is only one more thing that is not known."""
    try:
        return evaluate(node, values)
    except NoValue:
        return UNKNOWN


def _compared(node: ast.Compare, values: Mapping[str, Any]) -> Any:
    """A chain holds if each of its links does; as in Python, nothing is evaluated after a link that does not hold."""
    is_unknown = False
    left = evaluate(node.left, values)
    for op, side in zip(node.ops, node.comparators, strict=True):
        right = _perhaps(side, values) if is_unknown else evaluate(side, values)
        holds = _apply(node, _OPERATORS[type(op)], left, right)
        if holds is UNKNOWN:
            is_unknown = True
        elif not holds:
            return False
        left = right
    return UNKNOWN if is_unknown else True
