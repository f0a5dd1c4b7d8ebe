"""Which type an expression has, or the first place where its types do not fit."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from .grammar import COMPARISONS, FUNCTIONS, GREATEST_EXPONENT, OPERATORS, ExpressionError, Type, place
from .names import DTYPES
from .suggest import did_you_mean, hint_among

MOST_BITS = 4096
"""The size that an integer result may have, were every name a 64-bit number: beyond it an expression could take for ever."""

_NUMBERS = ("int", "float", "any")
_NUMERIC = (*_NUMBERS, "tensor")


class Typing:
    """One walk over a tree; afterwards `used` and `called` name the names and functions in it."""

    def __init__(self, names: Mapping[str, Type]) -> None:
        self._names = names
        self.used: set[str] = set()
        self.called: set[str] = set()

    def type_of(self, tree: ast.expr) -> Type:
        """The tree's type; raises ExpressionError."""
        kind, bits = self._visit(tree)
        if bits > MOST_BITS:
            raise ExpressionError("its value could be astronomically large", *place(tree), code="P032")
        return kind

    def _visit(self, node: ast.expr) -> tuple[Type, int]:
        """The type, and a bound for the bits of an integer value."""
        match node:
            case ast.Constant():
                return _constant(node.value)
            case ast.Name():
                return self._name(node)
            case ast.UnaryOp():
                return self._unary(node)
            case ast.BinOp():
                return self._binary(node)
            case ast.BoolOp():
                for side in node.values:
                    self._want(side, ("bool", "any"), "`and` and `or` join conditions")
                return "bool", 1
            case ast.Compare():
                return self._comparison(node)
            case ast.IfExp():
                return self._choice(node)
            case ast.Call():
                return self._call(node)
            case _:
                raise AssertionError(f"the grammar let {node!r} through")

    def _name(self, node: ast.Name) -> tuple[Type, int]:
        if node.id not in self._names:
            if node.id in FUNCTIONS:
                raise ExpressionError(f"`{node.id}` is a function", *place(node), hint=FUNCTIONS[node.id].call, code="P031")
            raise ExpressionError(f"unknown name `{node.id}`", *place(node), hint=hint_among(node.id, self._names, "known here"), code="P031")
        self.used.add(node.id)
        return self._names[node.id], 64

    def _want(self, node: ast.expr, wanted: tuple[str, ...], why: str) -> tuple[Type, int]:
        kind, bits = self._visit(node)
        if kind not in wanted:
            raise ExpressionError(f"{why}, not {_article(kind)}", *place(node), hint=_instead(kind, wanted), code="P032")
        return kind, bits

    def _unary(self, node: ast.UnaryOp) -> tuple[Type, int]:
        if isinstance(node.op, ast.Not):
            self._want(node.operand, ("bool", "any"), "`not` wants a condition")
            return "bool", 1
        return self._want(node.operand, _NUMERIC, "a sign stands before a number")

    def _binary(self, node: ast.BinOp) -> tuple[Type, int]:
        sign = OPERATORS[type(node.op)]
        left, left_bits = self._want(node.left, _NUMERIC, f"`{sign}` wants numbers")
        right, right_bits = self._want(node.right, _NUMERIC, f"`{sign}` wants numbers")
        if sign == "**":
            return left, left_bits * _exponent(node.right)
        kind = _join(left, right)
        if sign == "/" and kind == "int":
            kind = "float"
        bits = {"*": left_bits + right_bits, "//": left_bits + 1, "/": 64, "%": right_bits}.get(sign, max(left_bits, right_bits) + 1)
        if bits > MOST_BITS:
            raise ExpressionError("its value could be astronomically large", *place(node), code="P032")
        return kind, bits

    def _comparison(self, node: ast.Compare) -> tuple[Type, int]:
        sides = [node.left, *node.comparators]
        kinds = [self._visit(side)[0] for side in sides]
        if "tensor" in kinds and len(kinds) > 2:
            raise ExpressionError("a chain of comparisons does not work on tensors", *place(node), code="P032")
        for index, used in enumerate(node.ops):
            sign = COMPARISONS[type(used)]
            left, right = kinds[index], kinds[index + 1]
            if not _comparable(left, right, is_order=sign not in ("==", "!=")):
                hint = next((did_you_mean(side.value, DTYPES) for side in sides if isinstance(side, ast.Constant) and isinstance(side.value, str)), "")
                raise ExpressionError(f"`{sign}` cannot compare {_article(left)} with {_article(right)}", *place(node), hint=hint, code="P032")
        return ("tensor" if "tensor" in kinds else "bool"), 1

    def _choice(self, node: ast.IfExp) -> tuple[Type, int]:
        self._want(node.test, ("bool", "any"), "`if` wants a condition")
        (left, left_bits), (right, right_bits) = self._visit(node.body), self._visit(node.orelse)
        if left == right:
            return left, max(left_bits, right_bits)
        if left in _NUMERIC and right in _NUMERIC:
            return _join(left, right), max(left_bits, right_bits)
        if "any" in (left, right):
            return "any", 64
        raise ExpressionError(f"one side is {_article(left)}, the other {_article(right)}", *place(node), code="P032")

    def _call(self, node: ast.Call) -> tuple[Type, int]:
        assert isinstance(node.func, ast.Name)
        name = node.func.id
        if name not in FUNCTIONS:
            raise ExpressionError(f"unknown function `{name}`", *place(node.func), hint=hint_among(name, FUNCTIONS, "there are"), code="P031")
        self.called.add(name)
        if not node.args:
            raise ExpressionError(f"`{name}` wants arguments", *place(node), hint=FUNCTIONS[name].call, code="P032")
        return self._result(name, node)

    def _result(self, name: str, node: ast.Call) -> tuple[Type, int]:
        match name:
            case "sizeof":
                self._one(node, ("dtype", "any"), "a dtype")
                return "int", 4
            case "min" | "max" if len(node.args) > 1:
                given = [self._want(arg, _NUMBERS, f"`{name}` of several takes numbers") for arg in node.args]
                kind: Type = "float" if any(kind == "float" for kind, _ in given) else given[0][0]
                return kind, max(bits for _, bits in given)
            case "min" | "max" | "sum" | "first" | "last":
                self._one(node, ("tensor", "any"), "a tensor")
                return "float", 64
            case "count" | "len":
                self._one(node, ("tensor", "any"), "a tensor")
                return "int", 64
            case "abs":
                return self._one(node, _NUMERIC, "a number")
            case "is_power_of_2":
                self._one(node, ("int", "any"), "a whole number")
                return "bool", 1
            case "log2" | "sqrt" | "exp":
                kind, _ = self._one(node, _NUMERIC, "a number")
                return ("float" if kind == "int" else kind), 64
            case _:
                return self._rounding(name, node)

    def _one(self, node: ast.Call, wanted: tuple[str, ...], what: str) -> tuple[Type, int]:
        assert isinstance(node.func, ast.Name)
        if len(node.args) != 1:
            raise ExpressionError(f"`{node.func.id}` takes one argument", *place(node), hint=FUNCTIONS[node.func.id].call, code="P032")
        return self._want(node.args[0], wanted, f"`{node.func.id}` takes {what}")

    def _rounding(self, name: str, node: ast.Call) -> tuple[Type, int]:
        if len(node.args) != 2:
            raise ExpressionError(f"`{name}` takes two arguments", *place(node), hint=FUNCTIONS[name].call, code="P032")
        given = [self._want(arg, ("int", "tensor", "any"), f"`{name}` takes whole numbers") for arg in node.args]
        return _join(given[0][0], given[1][0]), max(bits for _, bits in given) + 1


def _constant(value: object) -> tuple[Type, int]:
    if isinstance(value, bool):
        return "bool", 1
    if isinstance(value, int):
        return "int", value.bit_length()
    if isinstance(value, float):
        return "float", 64
    return ("dtype" if value in DTYPES else "str"), 0


def _exponent(node: ast.expr) -> int:
    if isinstance(node, ast.Constant) and type(node.value) is int and 0 <= node.value <= GREATEST_EXPONENT:
        return node.value
    hint = "`1 / x ** 2` for negative powers, `sqrt(x)` for roots"
    raise ExpressionError(f"an exponent is a whole number between 0 and {GREATEST_EXPONENT}, written out", *place(node), hint=hint, code="P032")


def _join(left: Type, right: Type) -> Type:
    for kind in ("any", "tensor", "float"):
        if kind in (left, right):
            return left if left == kind else right
    return "int"


def _comparable(left: Type, right: Type, *, is_order: bool) -> bool:
    if "any" in (left, right) or (left in _NUMERIC and right in _NUMERIC):
        return True
    return left == right and not is_order


def _article(kind: Type) -> str:
    words = {"int": "a whole number", "float": "a number", "bool": "a condition", "str": "a text", "dtype": "a dtype", "tensor": "a tensor", "any": "anything"}
    return words[kind]


def _instead(kind: Type, wanted: tuple[str, ...]) -> str:
    if kind == "bool" and "int" in wanted:
        return "`1 if condition else 0`"
    if kind == "float" and "int" in wanted:
        return "`//` and `ceil_div` give whole numbers"
    if kind == "tensor" and "int" in wanted:
        return "`first`, `last`, `min`, `max`, `sum`, `count` or `len` make a number of a tensor"
    if kind in ("int", "float") and "bool" in wanted:
        return "say with what to compare it, as in `x != 0`"
    return ""
