"""The shapes of a Triton kernel's tiles for given constexprs, from its source: one walk over its statements, with values that know shapes only."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from .static import NotStatic, static

Shape = tuple[int | None, ...]

_POINTERS = {"tl.make_block_ptr": "block-pointer", "tl.make_tensor_descriptor": "descriptor", "tl._experimental_make_tensor_descriptor": "descriptor"}
_REDUCE = ("tl.sum", "tl.max", "tl.min", "tl.argmax", "tl.argmin", "tl.reduce", "tl.xor_sum")
_SHAPED = ("tl.zeros", "tl.full", "tl.ones", "tl.empty")
_RESHAPED = ("tl.broadcast_to", "tl.reshape", "tl.view")
_COUNTERS = ("range", "tl.range", "tl.static_range")


@dataclass(frozen=True)
class Value:
    """What is known of a value in a kernel."""

    shape: Shape | None = None
    """() for a scalar, None where not even its rank is known; a None inside is a length that is not known."""
    number: Any = None
    """The value itself, where it is static."""
    kind: str = "plain"
    """`block-pointer`, `descriptor`, or `plain`."""
    is_index: bool = False
    """It began at a program id, an arange or a loop's counter."""
    is_wide: bool = False
    """It was made 64 bits wide."""
    is_runtime: bool = False
    """It depends on an argument that is no constexpr."""


@dataclass(frozen=True)
class Access:
    """A load, a store or an atomic operation."""

    operation: str
    node: ast.Call
    pointer: Value


@dataclass
class Budget:
    """How much of a stranger's file is looked at: what has been spent is given to no other part of it."""

    left: int = 250_000

    def spend(self) -> None:
        """Raises ValueError where nothing is left."""
        self.left -= 1
        if self.left < 0:
            raise ValueError("there is more in it than is looked at")


@dataclass
class Tiles:
    """What one walk saw."""

    lengths: list[int | None] = field(default_factory=list)
    """Of every arange."""
    elements: list[int | None] = field(default_factory=list)
    """Of every tile; None where a length is not known."""
    dots: list[tuple[int | None, int | None, int | None]] = field(default_factory=list)
    """Rows, columns and depth of every product."""
    accesses: list[Access] = field(default_factory=list)
    offsets: list[ast.BinOp] = field(default_factory=list)


def walk_kernel(node: ast.FunctionDef, constexprs: Mapping[str, Any], names: Mapping[str, Any], dotted: Callable[[ast.expr], str], budget: Budget) -> Tiles:
    """Walks the kernel with the constexprs that are known; `names` are the file's constants, `dotted` names what is called. Raises what `budget` raises."""
    walk = _Walk(names, dotted, budget)
    for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
        said = dotted(argument.annotation) if argument.annotation else ""
        is_constexpr = said == "tl.constexpr"
        walk.names[argument.arg] = Value((), constexprs.get(argument.arg), is_runtime=not is_constexpr, is_wide=said == "tl.int64")
    walk.block(node.body)
    return walk.seen


class _Walk:
    """Values by name, and what was seen."""

    def __init__(self, constants: Mapping[str, Any], dotted: Callable[[ast.expr], str], budget: Budget) -> None:
        self.names: dict[str, Value] = {name: Value((), value) for name, value in constants.items()}
        self.seen = Tiles()
        self._dotted = dotted
        self._budget = budget

    def block(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            self._statement(statement)

    def _statement(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Assign(targets=[target], value=value):
                self._assign(target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._assign(target, value)
            case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
                self.names[name] = self._value(cast(ast.expr, ast.copy_location(ast.BinOp(ast.Name(name, ast.Load()), op, value), statement)))
            case ast.For(target=target, iter=loop, body=body):
                counts = isinstance(loop, ast.Call) and self._dotted(loop.func) in _COUNTERS
                for part in loop.args if isinstance(loop, ast.Call) else [loop]:
                    self._value(part)
                if isinstance(target, ast.Name):
                    self.names[target.id] = Value((), is_index=counts)
                self.block(body)
            case ast.While(test=test, body=body):
                self._value(test)
                self.block(body)
            case ast.If(test=test, body=body, orelse=orelse):
                self._value(test)
                self.block(body)
                self.block(orelse)
            case ast.With(body=body):
                self.block(body)
            case ast.Expr(value=value) | ast.Return(value=ast.expr() as value):
                self._value(value)
            case _:
                pass

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            found = [self._value(part) for part in value.elts]
            for name, one in zip(target.elts, found, strict=True):
                if isinstance(name, ast.Name):
                    self.names[name.id] = one
            return
        got = self._value(value)
        for part in ast.walk(target):
            if isinstance(part, ast.Name):
                self.names[part.id] = got if part is target else Value()

    def _value(self, node: ast.expr) -> Value:
        self._budget.spend()
        found = self._look(node)
        if found.kind == "plain" and found.shape:
            lengths = [length for length in found.shape if length is not None]
            self.seen.elements.append(math.prod(lengths) if len(lengths) == len(found.shape) else None)
        return found

    def _look(self, node: ast.expr) -> Value:
        match node:
            case ast.Constant(value=value):
                return Value((), value)
            case ast.Name(id=name):
                return self.names.get(name, Value())
            case ast.BinOp(left=left, right=right):
                return self._binary(node, self._value(left), self._value(right))
            case ast.UnaryOp(operand=operand):
                return replace(self._value(operand), number=self._number(node))
            case ast.Compare(left=left, comparators=sides):
                return _plain(_joined([self._value(each) for each in (left, *sides)]))
            case ast.BoolOp(values=values):
                return _plain(_joined([self._value(each) for each in values]))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                self._value(test)
                self._value(orelse)
                return self._value(body)
            case ast.Subscript(value=value, slice=index):
                return self._indexed(self._value(value), index)
            case ast.Attribute(value=value, attr="T"):
                inner = self._value(value)
                return replace(inner, shape=inner.shape[::-1] if inner.shape is not None else None)
            case ast.Call():
                return self._call(node)
            case _:
                return Value()

    def _binary(self, node: ast.BinOp, left: Value, right: Value) -> Value:
        both = _joined([left, right])
        number = self._number(node)
        is_product = isinstance(node.op, ast.Mult) and ((left.is_index and right.is_runtime) or (right.is_index and left.is_runtime))
        if is_product and not both.is_wide:
            self.seen.offsets.append(node)
        return replace(both, number=number, kind="plain")

    def _number(self, node: ast.expr) -> Any:
        try:
            return static(node, {name: value.number for name, value in self.names.items() if value.number is not None})
        except NotStatic:
            return None

    def _indexed(self, value: Value, index: ast.expr) -> Value:
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        if value.shape is None or not all(isinstance(part, ast.Slice) or (isinstance(part, ast.Constant) and part.value is None) for part in parts):
            return Value()
        left = list(value.shape)
        shape = [left.pop(0) if isinstance(part, ast.Slice) and left else 1 for part in parts]
        return replace(value, shape=(*shape, *left), number=None)

    def _call(self, node: ast.Call) -> Value:
        name = self._dotted(node.func)
        given = [self._value(arg.value if isinstance(arg, ast.Starred) else arg) for arg in node.args]
        named = {word.arg: self._value(word.value) for word in node.keywords if word.arg}
        if name.startswith("."):
            assert isinstance(node.func, ast.Attribute)
            return self._method(node, self._value(node.func.value), name[1:], given)
        return self._function(node, name, given, named)

    def _function(self, node: ast.Call, name: str, given: list[Value], named: dict[str, Value]) -> Value:
        first = given[0] if given else next(iter(named.values()), Value())
        if name in ("tl.program_id", "tl.num_programs"):
            return Value((), is_index=name == "tl.program_id")
        if name == "tl.arange":
            return self._arange(node)
        if name in _POINTERS:
            return Value(self._shape(node, "block_shape", 4), kind=_POINTERS[name])
        if name in ("tl.load", "tl.store") or name.startswith("tl.atomic_"):
            self.seen.accesses.append(Access(name[3:], node, first))
            return Value(first.shape)
        if name in ("tl.dot", "tl.dot_scaled"):
            return self._dot(given, named, name)
        if name in _SHAPED:
            return Value(self._shape(node, "shape", 0))
        if name in _RESHAPED:
            return replace(first, shape=self._shape(node, "shape", 1), number=None)
        if name in _REDUCE:
            return self._reduced(node, first)
        if name in ("tl.trans", "tl.permute"):
            return replace(first, shape=first.shape[::-1] if first.shape is not None and len(node.args) == 1 else None)
        if name == "tl.expand_dims":
            return Value()
        if name == "tl.advance":
            return first
        if name == "tl.cast":
            return replace(first, number=None, is_wide=first.is_wide or any(self._dotted(arg) == "tl.int64" for arg in node.args))
        if name.startswith("tl.") or name in ("min", "max", "abs"):
            return replace(_joined([*given, *named.values()]), number=self._number(node), kind="plain")
        return Value()

    def _method(self, node: ast.Call, value: Value, name: str, given: list[Value]) -> Value:
        if value.kind == "descriptor" and name in ("load", "store"):
            self.seen.accesses.append(Access(name, node, value))
            return Value(value.shape)
        if name in ("to", "cast"):
            return replace(value, number=None, is_wide=value.is_wide or any(self._dotted(arg) == "tl.int64" for arg in node.args))
        if f"tl.{name}" in _RESHAPED:
            return replace(value, shape=self._shape(node, "shape", 0), number=None)
        if f"tl.{name}" in _REDUCE:
            return self._reduced(node, value, at=0)
        return _joined([value, *given]) if value.kind == "plain" else Value()

    def _arange(self, node: ast.Call) -> Value:
        bounds = [self._number(arg) for arg in node.args[:2]]
        length = bounds[1] - bounds[0] if len(bounds) == 2 and all(isinstance(bound, int) for bound in bounds) else None
        self.seen.lengths.append(length)
        return Value((length,), is_index=True)

    def _dot(self, given: list[Value], named: dict[str, Value], name: str) -> Value:
        operands = given[:1] + (given[1:2] if name == "tl.dot" else given[3:4])
        a = operands[0] if operands else named.get("input", named.get("lhs", Value()))
        b = operands[1] if len(operands) > 1 else named.get("other", named.get("rhs", Value()))
        m, k = a.shape[-2:] if a.shape and len(a.shape) > 1 else (None, None)
        depth, n = b.shape[-2:] if b.shape and len(b.shape) > 1 else (None, None)
        self.seen.dots.append((m, n, k if k is not None else depth))
        return Value((m, n))

    def _shape(self, node: ast.Call, keyword: str, place: int) -> Shape | None:
        said = next((word.value for word in node.keywords if word.arg == keyword), node.args[place] if len(node.args) > place else None)
        if not isinstance(said, ast.List | ast.Tuple):
            number = self._number(said) if said is not None else None
            return tuple(number) if isinstance(number, tuple) else ((number,) if isinstance(number, int) else None)
        numbers = [self._number(each) for each in said.elts]
        return tuple(number if isinstance(number, int) else None for number in numbers)

    def _reduced(self, node: ast.Call, value: Value, at: int = 1) -> Value:
        said = next((word.value for word in node.keywords if word.arg == "axis"), node.args[at] if len(node.args) > at else None)
        if said is None:
            return Value(())
        axis = self._number(said)
        keeps = any(word.arg == "keep_dims" for word in node.keywords)
        if value.shape is None or not isinstance(axis, int) or keeps or not -len(value.shape) <= axis < len(value.shape):
            return Value()
        lengths = list(value.shape)
        lengths.pop(axis)
        return Value(tuple(lengths))


def _plain(value: Value) -> Value:
    return replace(value, is_index=False, number=None)


def _joined(values: list[Value]) -> Value:
    """The value of an operation on several, element by element."""
    shape: Shape | None = ()
    for value in values:
        shape = _broadcast(shape, value.shape)
    return Value(
        shape,
        is_index=any(value.is_index for value in values),
        is_wide=any(value.is_wide for value in values),
        is_runtime=any(value.is_runtime for value in values),
    )


def _broadcast(a: Shape | None, b: Shape | None) -> Shape | None:
    if a is None or b is None:
        return None
    longer, shorter = (a, b) if len(a) >= len(b) else (b, a)
    padded = (1,) * (len(longer) - len(shorter)) + shorter
    return tuple(y if x == 1 else x if y == 1 else (x if x == y else None) for x, y in zip(longer, padded, strict=True))
