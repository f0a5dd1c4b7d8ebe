"""Checks of what a model means: its op, the tasks that replace its modules, and the rules by which its state is drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase

from .findings import Finding
from .names import FLOATING
from .subject import ModelSubject
from .suggest import did_you_mean

ModelCheck = Callable[[ModelSubject], Iterator[Finding]]


def check_op(subject: ModelSubject) -> Iterator[Finding]:
    """P290, P295: the op is the library's class, without a state of its own, and has one output that can be ranked."""
    op = subject.op
    if op is None:
        return
    if op.module is None and op.reference is not None:
        yield Finding("P290", ("op", "reference"), "a model's op is a class of the library", "a table `[op.module]`", on_key=True)
    if op.state:
        yield Finding("P290", ("op", "state"), "a model's state is drawn by rules", "`[[model.state]]`")
    for index, output in enumerate(op.outputs[1:], start=1):
        yield Finding("P295", ("op", "output", index), f"a model has one output, and `{output.name}` is another one")
    for output in op.outputs[:1]:
        if not output.shape or any(dtype not in FLOATING for dtype in op.dtypes_of(output)):
            yield Finding("P295", ("op", "output", 0), f"`{output.name}` cannot be ranked", "a floating tensor, whose last axis holds what is ranked")


def check_replaces(subject: ModelSubject) -> Iterator[Finding]:
    """P020, P291: tasks are declared dependencies, each named once."""
    seen: set[str] = set()
    for index, replace in enumerate(subject.model.replaces):
        if subject.pack and replace.task not in subject.pack.dependencies:
            hint = did_you_mean(replace.task, subject.pack.dependencies) or f'add `"{replace.task}" = "^0.1"` to `[pack.dependencies]`'
            yield Finding("P291", ("model", "replace", index, "task"), f"`{replace.task}` is no declared dependency", hint)
        if replace.task in seen:
            yield Finding("P020", ("model", "replace", index, "task"), f"`{replace.task}` is named a second time")
        seen.add(replace.task)


def check_rules(subject: ModelSubject) -> Iterator[Finding]:
    """P051, P293, P294: rules draw values that differ, and each can be reached."""
    earlier: list[str] = []
    for index, rule in enumerate(subject.model.state):
        said = rule.init.model_fields_set
        if len(said) != 1:
            yield Finding("P051", ("model", "state", index, "init"), f"`init` says {len(said)} things", "exactly one key, as in `{ normal = { std = 0.02 } }`")
        elif rule.init.kind not in ("normal", "uniform"):
            hint = "`normal` or `uniform`: who ignores a parameter must be found out"
            yield Finding("P293", ("model", "state", index, "init", rule.init.kind), f"a state is not drawn as `{rule.init.kind}`", hint, on_key=True)
        if above := next((pattern for pattern in earlier if fnmatchcase(rule.match, pattern)), None):
            yield Finding("P294", ("model", "state", index, "match"), f"no key gets to `{rule.match}`", f"`{above}` stands before it and takes them all")
        earlier.append(rule.match)


MODEL_CHECKS: tuple[ModelCheck, ...] = (check_op, check_replaces, check_rules)
"""Those that need nothing but the model's own pack."""
