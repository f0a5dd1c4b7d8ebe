"""The small typed expression language of packs: parsed and typed when a pack is checked, then evaluated here or printed as Python."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field

from .evaluation import UNKNOWN, Result, Unknown, evaluate
from .grammar import FUNCTIONS, ExpressionError, Type, parse_tree
from .typecheck import Typing

__all__ = ["UNKNOWN", "Expression", "ExpressionError", "Result", "Type", "Unknown", "parse"]


@dataclass(frozen=True)
class Expression:
    """An expression that is well-formed and well-typed over the names that it was parsed with."""

    text: str
    type: Type
    names: frozenset[str]
    """Those that it uses."""
    python: str
    """Python source with the same value, given the names and the `functions`."""
    functions: frozenset[str]
    """What `python` wants from `taskpack.runtime.expressions`."""
    _tree: ast.expr = field(repr=False, compare=False)

    def evaluate(self, values: Mapping[str, object]) -> Result:
        """Its value; UNKNOWN where that depends on a name that `values` lacks, as tensors always are.

        Raises ExpressionError where it has none, as in a division by zero.
        """
        result: Result = evaluate(self._tree, values)
        return result


def parse(text: str, names: Mapping[str, Type]) -> Expression:
    """The expression that `text` spells over `names`; raises ExpressionError for the first thing that is wrong."""
    tree = parse_tree(text)
    typing = Typing(names)
    kind = typing.type_of(tree)
    functions = frozenset(FUNCTIONS[name].python for name in typing.called if not FUNCTIONS[name].is_builtin)
    return Expression(text, kind, frozenset(typing.used), ast.unparse(_Printed().visit(parse_tree(text))), functions, tree)


class _Printed(ast.NodeTransformer):
    """Functions get the names that they have in generated code; names of data cannot be names of functions."""

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        assert isinstance(node.func, ast.Name)
        node.func.id = FUNCTIONS[node.func.id].python
        return node
