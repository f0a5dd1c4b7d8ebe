"""What a Python source calls of torch and of vendors' libraries, as far as its text tells: imports, aliases and dotted names; nothing is run.

Only names that lead to an import are followed, so a method of a tensor (`x.softmax(-1)`), an operator (`x @ w`) or `getattr` is not seen here; where the
candidate runs, its trace shows those.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePath

import torch

from .own_ops import COMPUTED, ELEMENTWISE, LIBRARIES, PLAIN, VENDOR, is_operation, kind_of

_FUNCTIONAL = "torch.nn.functional."
_VENDORS = ("torch.linalg.", "torch.fft.")
_OPS = ("aten", "prims", "quantized", "mkldnn", "onednn", "mkl", "fbgemm")
_LAYERS = ("Linear", "Conv", "LazyLinear", "LazyConv", "Bilinear", "MultiheadAttention", "LSTM", "GRU", "RNN", "Transformer", "BatchNorm")
_HOLDERS = frozenset({"Module", "ModuleList", "ModuleDict", "Sequential", "Parameter", "ParameterList", "ParameterDict", "Buffer", "Identity"})
_COMPILERS = ("torch.compile", "torch.jit.script", "torch.jit.trace", "torch.utils.cpp_extension.load", "torch.utils.cpp_extension.load_inline")
_FOREIGN = re.compile(
    r"cupy|jax|tensorflow|scipy|nvmath|cutlass|flash_attn|flashinfer|xformers|transformer_engine|apex|aiter|vllm|bitsandbytes|mkl|onednn|cublas|hipblas"
)
"""Packages of kernels that others wrote."""
_NUMPY = ("numpy.matmul", "numpy.dot", "numpy.einsum", "numpy.inner", "numpy.tensordot", "numpy.vdot", "numpy.linalg.")
_OPENERS = ("ctypes.CDLL", "ctypes.cdll.LoadLibrary", "ctypes.PyDLL", "ctypes.util.find_library")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True)
class Use:
    """Something of others that is used on a line."""

    line: int
    words: str
    """`calls torch.softmax`"""
    kind: str


def uses_in_python(source: str, holds_modules: bool = False) -> list[Use]:
    """In the order of lines; nothing of a source that is no Python. With `holds_modules` classes of `torch.nn` may be constructed, to hold parameters."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    reader = _Reader(holds_modules)
    try:
        reader.read(tree)
    except RecursionError:
        return []
    return sorted(set(reader.found), key=lambda use: (use.line, use.words))


@dataclass
class _Scope:
    """Where names are bound: to a dotted name that was imported, or, as None, to something else."""

    is_class: bool = False
    names: dict[str, str | ast.expr | None] = field(default_factory=dict)
    outer: _Scope | None = None

    def resolve(self, node: ast.expr, depth: int = 0) -> str:
        """The dotted name that `node` stands for, or ""."""
        if depth > 20:
            return ""
        if isinstance(node, ast.Attribute):
            before = self.resolve(node.value, depth + 1)
            return f"{before}.{node.attr}" if before else ""
        if not isinstance(node, ast.Name):
            return ""
        scope: _Scope | None = self
        while scope is not None and (node.id not in scope.names or (scope.is_class and scope is not self)):
            scope = scope.outer
        bound = scope.names[node.id] if scope else None
        if isinstance(bound, ast.expr) and scope:
            return "" if isinstance(bound, ast.Name) and bound.id == node.id else scope.resolve(bound, depth + 1)
        return bound if isinstance(bound, str) else ""


class _Reader:
    def __init__(self, holds_modules: bool) -> None:
        self.found: list[Use] = []
        self._holds_modules = holds_modules

    def read(self, tree: ast.Module) -> None:
        scope = _Scope()
        _bind_all(tree.body, scope)
        for node in tree.body:
            self._visit(node, scope)

    def _visit(self, node: ast.AST, scope: _Scope) -> None:
        if isinstance(node, ast.Import | ast.ImportFrom):
            self._import(node)
        elif isinstance(node, ast.Call):
            self._call(node, scope)
        elif isinstance(node, ast.Attribute | ast.Name) and isinstance(node.ctx, ast.Load):
            self._note(node, scope.resolve(node), "uses")
            if isinstance(node, ast.Attribute) and not scope.resolve(node):
                self._visit(node.value, scope)
        elif isinstance(node, (*_FUNCTIONS, ast.ClassDef, *_COMPREHENSIONS)):
            self._enter(node, scope)
        else:
            self._visit_all(ast.iter_child_nodes(node), scope)

    def _visit_all(self, nodes: Iterator[ast.AST], scope: _Scope) -> None:
        for node in nodes:
            self._visit(node, scope)

    def _enter(self, node: ast.AST, outer: _Scope) -> None:
        """A scope of its own; decorators and defaults belong to the outer one, and are looked at there."""
        scope = _Scope(isinstance(node, ast.ClassDef), outer=outer)
        if isinstance(node, _FUNCTIONS):
            every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
            scope.names |= {one.arg: None for one in every if one}
            self._visit_all(iter([*node.args.defaults, *(one for one in node.args.kw_defaults if one)]), outer)
        for generator in getattr(node, "generators", ()):
            _bind_target(generator.target, None, scope)
        self._visit_all(iter(getattr(node, "decorator_list", [])), outer)
        if isinstance(node, ast.ClassDef):
            self._visit_all(iter([*node.bases, *(one.value for one in node.keywords)]), outer)
        body = getattr(node, "body", None)
        if isinstance(body, list):
            _bind_all(body, scope)
            self._visit_all(iter(body), scope)
        else:
            self._visit_all(ast.iter_child_nodes(node) if body is None else iter([body]), scope)

    def _call(self, node: ast.Call, scope: _Scope) -> None:
        name = scope.resolve(node.func)
        if name:
            self._note(node.func, name, "calls")
            first = node.args[0] if node.args else None
            if name in _OPENERS and isinstance(first, ast.Constant) and isinstance(first.value, str) and _is_library(first.value):
                self.found.append(Use(node.lineno, f"opens {first.value}", VENDOR))
        else:
            self._visit(node.func, scope)
        self._visit_all(iter([*node.args, *(one.value for one in node.keywords)]), scope)

    def _note(self, node: ast.expr, name: str, verb: str) -> None:
        kind = _kind(name, self._holds_modules)
        if kind != PLAIN:
            self.found.append(Use(node.lineno, f"{verb} {name}", kind))

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""] if node.level == 0 else []
        for module in modules:
            if _FOREIGN.fullmatch(module.partition(".")[0]):
                self.found.append(Use(node.lineno, f"imports {module}", VENDOR))


def _kind(name: str, holds_modules: bool) -> str:
    """Of what a dotted name leads to; what is not known for an operation is plain here, as the trace has the last word."""
    if name.startswith(_NUMPY):
        return VENDOR
    if not name.startswith("torch."):
        return PLAIN
    parts = name.split(".")
    leaf = parts[-1]
    if name in _COMPILERS:
        return COMPUTED
    if name.startswith(_FUNCTIONAL):
        return kind_of(leaf)
    if name.startswith(_VENDORS):
        return kind_of(f"{parts[1]}_{leaf}")
    if parts[1] == "ops":
        return kind_of(parts[3]) if len(parts) > 3 and parts[2] in _OPS else PLAIN
    if parts[1] == "nn":
        return PLAIN if holds_modules or len(parts) != 3 else _kind_of_layer(leaf)
    if parts[1] == "special":
        return kind_of(f"special_{leaf}") if len(parts) == 3 else PLAIN
    if name.startswith("torch.Tensor."):
        return kind_of(leaf) if is_operation(leaf) else PLAIN
    return kind_of(leaf) if len(parts) == 2 and is_operation(leaf) and not isinstance(getattr(torch, leaf, None), torch.dtype | type) else PLAIN


def _kind_of_layer(name: str) -> str:
    """A class of `torch.nn`; its submodules, such as `init` and `parameter`, have lower-case names."""
    if not name[:1].isupper() or name in _HOLDERS or name.startswith("Parameter"):
        return PLAIN
    if name.startswith(_LAYERS):
        return VENDOR
    return ELEMENTWISE if kind_of(name.lower()) in (ELEMENTWISE, PLAIN) else COMPUTED


def _is_library(said: str) -> bool:
    return bool(LIBRARIES.match(PurePath(said).name))


def _bind_all(body: list[ast.stmt], scope: _Scope) -> None:
    """The names that statements bind in their scope, the last binding of each; scopes inside bind their own."""
    elsewhere: set[str] = set()
    for node in _own_nodes(body):
        match node:
            case ast.Import():
                for alias in node.names:
                    scope.names[alias.asname or alias.name.partition(".")[0]] = alias.name if alias.asname else alias.name.partition(".")[0]
            case ast.ImportFrom():
                for alias in node.names:
                    scope.names[alias.asname or alias.name] = f"{node.module}.{alias.name}" if node.level == 0 else None
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                scope.names[node.name] = None
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    _bind_target(target, value, scope)
            case ast.AnnAssign(target=target, value=value) | ast.NamedExpr(target=target, value=value):
                _bind_target(target, value, scope)
            case ast.AugAssign(target=target) | ast.For(target=target) | ast.AsyncFor(target=target):
                _bind_target(target, None, scope)
            case ast.withitem(optional_vars=ast.expr() as target):
                _bind_target(target, None, scope)
            case ast.ExceptHandler(name=str() as name):
                scope.names[name] = None
            case ast.Global() | ast.Nonlocal():
                elsewhere |= set(node.names)
    for name in elsewhere:
        scope.names.pop(name, None)


def _bind_target(target: ast.expr, value: ast.expr | None, scope: _Scope) -> None:
    if isinstance(value, ast.Constant) and value.value is None and isinstance(target, ast.Name) and target.id in scope.names:
        return  # what stands in for an import that failed
    if isinstance(target, ast.Name):
        scope.names[target.id] = value if isinstance(value, ast.Name | ast.Attribute) else None
        return
    for node in ast.walk(target):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            scope.names[node.id] = None


def _own_nodes(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """Every node in the order of the source, without what is inside of functions, classes and comprehensions."""
    pending: list[ast.AST] = list(reversed(body))
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, (*_FUNCTIONS, ast.ClassDef, *_COMPREHENSIONS)):
            pending += reversed(list(ast.iter_child_nodes(node)))
