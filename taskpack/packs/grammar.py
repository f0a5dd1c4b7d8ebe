"""What the expression language is made of: a whitelisted subset of Python's expressions, and its functions."""

from __future__ import annotations

import ast
import warnings
from dataclasses import dataclass
from typing import Literal

Type = Literal["int", "float", "bool", "str", "dtype", "tensor", "any"]
"""`any` is the type of a name whose declaration is itself broken: nothing more is said about it."""

LONGEST = 500
"""Characters: a stranger's pack must not keep the checker busy, nor a harness."""
DEEPEST = 40
GREATEST_EXPONENT = 64


class ExpressionError(Exception):
    """What is wrong with an expression, and which of its characters (`offset` counts from 0)."""

    def __init__(self, message: str, offset: int = 0, length: int = 1, hint: str = "", code: str = "P030") -> None:
        super().__init__(message)
        self.message, self.offset, self.length, self.hint, self.code = message, offset, max(1, length), hint, code


@dataclass(frozen=True)
class Function:
    """A function of the language."""

    call: str
    summary: str
    python: str
    """Its name in generated code: a name of `taskpack.runtime.expressions`, or a builtin."""
    is_builtin: bool = False


FUNCTIONS: dict[str, Function] = {
    "sizeof": Function("sizeof(T)", "bytes of one element of a dtype", "sizeof"),
    "min": Function("min(a, b), min(t)", "the least of several numbers, or of a tensor's elements", "min_"),
    "max": Function("max(a, b), max(t)", "the greatest of several numbers, or of a tensor's elements", "max_"),
    "abs": Function("abs(a)", "absolute value of a number, or of each element", "abs", is_builtin=True),
    "ceil_div": Function("ceil_div(a, b)", "a / b, rounded up", "ceil_div"),
    "round_up": Function("round_up(a, b)", "the least multiple of b that is not below a", "round_up"),
    "is_power_of_2": Function("is_power_of_2(a)", "whether a is 1, 2, 4, …", "is_power_of_2"),
    "log2": Function("log2(a)", "base-2 logarithm of a number, or of each element", "log2"),
    "sqrt": Function("sqrt(a)", "square root of a number, or of each element", "sqrt"),
    "exp": Function("exp(a)", "e to the power of a number, or of each element", "exp"),
    "sum": Function("sum(t)", "sum of a tensor's elements", "sum_"),
    "first": Function("first(t)", "a tensor's first element", "first"),
    "last": Function("last(t)", "a tensor's last element", "last"),
    "count": Function("count(t)", "how many elements of a tensor are not zero", "count"),
    "len": Function("len(t)", "a tensor's size along its first axis", "len", is_builtin=True),
}

OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
}
COMPARISONS: dict[type[ast.cmpop], str] = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
SUMMARY = "numbers, names, + - * / // % **, comparisons, and, or, not, `x if c else y`, and the functions " + ", ".join(FUNCTIONS)

_NODES = (ast.Constant, ast.Name, ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.IfExp, ast.Call)
_INSTEAD = {ast.BitXor: "`**` is the power", ast.BitAnd: "write `and`", ast.BitOr: "write `or`", ast.Invert: "write `not`"}


def parse_tree(text: str) -> ast.expr:
    """The syntax tree of an expression, made of the language's nodes only; positions count the characters of `text`. Raises ExpressionError."""
    _check_characters(text)
    flat = "".join(" " if character.isspace() else character for character in text)
    shift = len(flat) - len(flat.lstrip())
    tree = _parse_python(flat.strip(), shift)
    for node in ast.walk(tree):
        if isinstance(node, ast.expr):
            node.col_offset += shift
            node.end_col_offset = (node.end_col_offset or 0) + shift
    _check_nodes(tree, depth=0)
    return tree


def place(node: ast.expr) -> tuple[int, int]:
    """Offset and length of a node in the expression's text."""
    return node.col_offset, (node.end_col_offset or 0) - node.col_offset


def _check_characters(text: str) -> None:
    if not text.strip():
        raise ExpressionError("the expression is empty", 0, len(text))
    if len(text) > LONGEST:
        raise ExpressionError(f"the expression is longer than {LONGEST} characters", LONGEST, len(text) - LONGEST)
    for offset, character in enumerate(text):
        if character in "#\\" or not (character.isascii() and (character.isprintable() or character.isspace())):
            raise ExpressionError(f"{character!r} is not in the expression language", offset, hint=f"the language has {SUMMARY}")


def _parse_python(source: str, shift: int) -> ast.expr:
    with warnings.catch_warnings():
        # Python warns of what only looks like an expression (`1if x else y`); as errors such warnings become SyntaxError.
        warnings.simplefilter("error")
        try:
            return ast.parse(source, mode="eval").body
        except SyntaxError as error:
            raise _syntax_error(error, source, shift) from None
        except (RecursionError, MemoryError, ValueError):
            raise ExpressionError("the expression cannot be read: too deep, or a number too long", shift, len(source)) from None


def _syntax_error(error: SyntaxError, source: str, shift: int) -> ExpressionError:
    offset, end = error.offset or 0, error.end_offset or 0
    if not 1 <= offset <= len(source):
        return ExpressionError("the expression ends too early", shift + len(source) - 1)
    length = end - offset if end > offset else 1
    hint = "`==` compares" if source[offset - 1 : offset + 1].rstrip() == "=" else ""
    return ExpressionError(f"not an expression: {error.msg}", shift + offset - 1, min(length, len(source) - offset + 1), hint)


def _check_nodes(node: ast.expr, depth: int) -> None:
    if depth > DEEPEST:
        raise ExpressionError(f"the expression is nested more than {DEEPEST} deep", *place(node))
    if not isinstance(node, _NODES):
        raise _foreign(node, _words(node))
    match node:
        case ast.Constant(value=value):
            _check_constant(node, value)
        case ast.BinOp(op=used) if type(used) not in OPERATORS:
            raise _foreign(node, "this operator", _INSTEAD.get(type(used), ""))
        case ast.UnaryOp(op=ast.Invert()):
            raise _foreign(node, "`~`", _INSTEAD[ast.Invert])
        case ast.Compare(ops=ops) if any(type(used) not in COMPARISONS for used in ops):
            raise _foreign(node, "`in` or `is`", "compare with == and join with `or`")
        case ast.Call():
            _check_call(node)
        case _:
            pass
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr) and not (isinstance(node, ast.Call) and child is node.func):
            _check_nodes(child, depth + 1)


def _check_constant(node: ast.Constant, value: object) -> None:
    if isinstance(value, bool | str):
        return
    if isinstance(value, float) and value != float("inf"):
        return
    if isinstance(value, int) and value.bit_length() <= 64:
        return
    raise _foreign(node, "this literal", "numbers below 2**64, True, False, and names of dtypes in quotes")


def _check_call(node: ast.Call) -> None:
    if not isinstance(node.func, ast.Name):
        raise _foreign(node.func, "a call of this")
    if node.keywords:
        raise ExpressionError(f"`{node.func.id}` takes no named arguments", *place(node))


def _foreign(node: ast.expr, what: str, hint: str = "") -> ExpressionError:
    return ExpressionError(f"{what} is not in the expression language", *place(node), hint=hint or f"the language has {SUMMARY}")


def _words(node: ast.expr) -> str:
    known: dict[type[ast.expr], str] = {
        ast.Attribute: "an attribute",
        ast.Subscript: "an index",
        ast.Lambda: "a function",
        ast.Tuple: "a tuple",
        ast.List: "a list",
        ast.Dict: "a dict",
        ast.Set: "a set",
        ast.JoinedStr: "a formatted string",
        ast.Starred: "`*`",
        ast.NamedExpr: "`:=`",
    }
    return known.get(type(node), "this")
