"""Checks of the interface `module`: the op's class, its signatures, arguments and state, and the tasks about it."""

from __future__ import annotations

from collections.abc import Iterator

from taskpack.runtime import signature

from .findings import Finding
from .header import Value
from .module import Built, Module
from .spans import Path
from .subject import OpSubject, TaskSubject, read_expression
from .suggest import hint_among

_PATH: Path = ("op", "module")
_VALUES = frozenset({"int", "float", "bool", "str", "any"})


def check_one_reference(subject: OpSubject) -> Iterator[Finding]:
    """P011, P320: a function or a class, and not both."""
    op = subject.op
    if op.reference is None and op.module is None:
        yield Finding(
            "P011", ("op",), "`[op]` lacks `reference`", '`reference = "file.py:function"`, or a table `[op.module]` for a library\'s class', on_key=True
        )
    if op.reference is not None and op.module is not None:
        yield Finding("P320", ("op", "reference"), "the op has a `reference` and a `[op.module]`", "the library's class is the reference", on_key=True)
    if op.reference is not None and op.module is None and op.state:
        yield Finding("P320", ("op", "state"), "the op has a state and no `[op.module]`", "tensors of a function are `[[op.input]]`")


def check_signatures(subject: OpSubject) -> Iterator[Finding]:
    """P324: both signatures are Python's."""
    if module := subject.op.module:
        for key in ("constructor", "forward"):
            if isinstance(_signature(module, key), ValueError):
                yield Finding("P324", (*_PATH, key), f"`{getattr(module, key)}` is no signature", "as Python has it, without `self`: `(hidden_size, eps=1e-6)`")


def check_arguments(subject: OpSubject) -> Iterator[Finding]:
    """P325, P030 to P032: the constructor is given what it takes."""
    module = subject.op.module
    if module is None:
        return
    for name, value in module.arguments.items():
        path: Path = (*_PATH, "arguments", name)
        fields = value.fields.items() if isinstance(value, Built) else ()
        for key, one in fields:
            values = enumerate(one) if isinstance(one, tuple) else [(None, one)]
            for place, item in values:
                yield from _check_value((*path, "fields", key) if place is None else (*path, "fields", key, place), item, subject)
        if not isinstance(value, Built):
            yield from _check_value(path, value, subject)
    declared = _signature(module, "constructor")
    if isinstance(declared, ValueError):
        return
    takes_any = any(kind == "VAR_KEYWORD" for _, kind, _ in declared)
    for name in module.arguments:
        if name not in signature.names(declared) and not takes_any:
            hint = hint_among(name, signature.names(declared), "it takes")
            yield Finding("P325", (*_PATH, "arguments", name), f"the constructor takes no `{name}`", hint, on_key=True)
    for name in signature.required(declared):
        if name not in module.arguments:
            yield Finding("P325", (*_PATH, "arguments"), f"the constructor wants `{name}`", f'`{name} = "…"`', on_key=True)


def check_forward(subject: OpSubject) -> Iterator[Finding]:
    """P326, P327: inputs are what `forward` takes, and nothing is changed in place."""
    op = subject.op
    if op.module is None:
        return
    for index, tensor in enumerate(op.inouts):
        yield Finding("P327", ("op", "inout", index), f"`{tensor.name}` is changed in place, and a module returns what it computes", "an `[[op.input]]`")
    declared = _signature(op.module, "forward")
    if isinstance(declared, ValueError):
        return
    given = [tensor.name for tensor in op.inputs]
    for index, name in enumerate(given):
        if name not in signature.names(declared):
            hint = hint_among(name, signature.names(declared), "it takes")
            yield Finding("P326", ("op", "input", index, "name"), f"`forward` takes no `{name}`", hint)
    for name in signature.required(declared):
        if name not in given and name not in subject.lost:
            yield Finding("P326", (*_PATH, "forward"), f"`forward` wants `{name}`, and no input is called so", "an `[[op.input]]` of that name")


def check_state(subject: OpSubject) -> Iterator[Finding]:
    """P328: what a module holds is drawn, so that nothing of it can be ignored."""
    for index, tensor in enumerate(subject.op.state):
        if tensor.init.constant is not None:
            hint = "`normal = { mean = 1.0, std = 0.1 }` for a weight that scales"
            yield Finding(
                "P328", ("op", "state", index, "init", "constant"), f"`{tensor.name}` is the same everywhere: who ignores it may still be right", hint
            )


def check_interface(subject: TaskSubject) -> Iterator[Finding]:
    """P011, P321: a task of a module has no baseline of its own, and its candidate is a class."""
    task, op = subject.task, subject.op
    if op is None:
        return
    if op.op.module is None:
        if task.is_module and op.op.reference is not None:
            yield Finding("P011", ("task",), "`[task]` lacks `baseline`", "`[task.baseline]`: the implementation that a candidate must beat", on_key=True)
        return
    if not task.is_module:
        hint = "leave `[task.baseline]` out"
        yield Finding("P321", ("task", "baseline"), "the baseline of a module's task is the library's own class", hint, on_key=True)
        return
    candidate = task.candidate
    for key in ("language", "entry"):
        if getattr(candidate, key) is None:
            hint = '`language = "torch"` or `"triton"`' if key == "language" else "`entry`: the name of the candidate's class"
            yield Finding("P321", ("task", "candidate"), f"the candidate's `{key}` is not said", hint, on_key=True)
    for key in ("arguments", "style"):
        if getattr(candidate, key) is not None:
            yield Finding("P321", ("task", "candidate", key), f"a module's task has no `{key}`", "the op's signatures say how the class is called", on_key=True)


def _check_value(path: Path, value: Value, subject: OpSubject) -> Iterator[Finding]:
    if not isinstance(value, str):
        return
    found = read_expression(path, value, subject.scope())
    if isinstance(found, Finding):
        yield found
    elif found.type not in _VALUES:
        yield Finding("P032", path, f"this must be a value, not a {found.type}", part=(0, len(value)))


def _signature(module: Module, key: str) -> signature.Signature | ValueError:
    try:
        return signature.parse_signature(str(getattr(module, key)))
    except ValueError as error:
        return error


MODULE_CHECKS = (check_one_reference, check_signatures, check_arguments, check_forward, check_state)
"""Those of an op."""
