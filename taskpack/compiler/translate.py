"""The expressions of an op become Python source, each under the function of `harness.py` that will hold it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from taskpack.packs.expressions import Expression, Type, parse
from taskpack.packs.header import Value
from taskpack.packs.module import Built, Module
from taskpack.packs.op import Input, Op, Tensor

from .plan import Checked, Program, shortest


def translate_op(op: Op) -> Program:
    """The op's program; every expression has been checked with its pack, so that one which does not parse is a bug of ours."""
    translator = _Translator(op)
    given = tuple(op.given())
    tensors = (*given, *op.outputs)
    return Program(
        shapes={tensor.name: translator.shape(tensor) for tensor in tensors},
        inits={tensor.name: translator.init(tensor) for tensor in given},
        derived={tensor.name: translator.derived(tensor) for tensor in given if tensor.init.derive},
        constraints=tuple(translator.checked(text, op.scope()) for text in op.constraints),
        invariants=tuple(translator.checked(text, op.tensor_scope()) for text in op.invariants),
        reductions=translator.reductions(op),
        arguments=translator.arguments(op.module) if op.module else {},
        cost={"bytes": translator.python(op.cost.bytes), "flops": translator.python(op.cost.flops)} if op.cost else {},
        imports=translator.imports(),
    )


class _Translator:
    """Gathers, while it translates, the functions that are called."""

    def __init__(self, op: Op) -> None:
        self._op = op
        self._scope = op.scope()
        self._called: set[str] = set()

    def imports(self) -> tuple[str, ...]:
        return tuple(sorted(self._called))

    def python(self, said: int | str) -> str:
        return str(said) if isinstance(said, int) else self._parse(said, self._scope).python

    def shape(self, tensor: Tensor) -> str:
        return _tuple(self.python(size) for size in tensor.shape)

    def init(self, tensor: Input) -> str:
        """A dict with the init's key and its arguments; what `derive` says is a function's, and no argument."""
        init = tensor.init
        said = {} if init.derive else init.arguments()
        arguments = [f'"{key}": {self.python(value) if key in init.expressions() else _literal(value)}' for key, value in said.items()]
        return f'{{"{init.kind}": {{{", ".join(arguments)}}}}}'

    def arguments(self, module: Module) -> dict[str, str]:
        """Of a module's constructor; an object is a dict with the class and its fields."""
        return {name: self._given(value) for name, value in module.arguments.items()}

    def _given(self, value: Value | tuple[Value, ...] | Built) -> str:
        if isinstance(value, tuple):
            return f"[{', '.join(self._given(one) for one in value)}]"
        if isinstance(value, Built):
            fields = ", ".join(f'"{name}": {self._given(one)}' for name, one in value.fields.items())
            return f'{{"target": {_literal(value.target)}, "fields": {{{fields}}}}}'
        return self._parse(value, self._scope).python if isinstance(value, str) else _literal(value)

    def derived(self, tensor: Input) -> str:
        assert tensor.init.derive
        return self._parse(tensor.init.derive.expression, self._op.tensor_scope()).python

    def checked(self, text: str, scope: Mapping[str, Type]) -> Checked:
        return Checked(text, self._parse(text, scope).python)

    def reductions(self, op: Op) -> dict[str, str]:
        """Output → the length of its longest reduction; nothing where the op does not say."""
        general = op.tolerance.reduction
        own = {name: output.reduction for name, output in op.tolerance.output.items()}
        said = {tensor.name: own.get(tensor.name) or general for tensor in op.written()}
        return {name: self.python(text) for name, text in said.items() if text is not None}

    def _parse(self, text: str, scope: Mapping[str, Type]) -> Expression:
        expression = parse(text, scope)
        self._called |= expression.functions
        return expression


def _tuple(items: Iterable[str]) -> str:
    listed = list(items)
    return f"({listed[0]},)" if len(listed) == 1 else f"({', '.join(listed)})"


def _literal(value: object) -> str:
    """As the formatter would write it."""
    if isinstance(value, str):
        return f'"{value}"' if '"' not in value and "\\" not in value and value.isprintable() else repr(value)
    return repr(shortest(value)) if isinstance(value, int | float) and not isinstance(value, bool) else repr(value)
