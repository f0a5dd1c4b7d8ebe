"""Checks of an op's seen and unseen cases."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Mapping
from typing import Any

from taskpack.runtime.draw import DrawFailed, draw_values
from taskpack.runtime.expressions import SIZES

from .check_files import check_path
from .check_op import OpCheck, inputs, is_scalar_value, tensors
from .expressions import Expression, ExpressionError, parse
from .findings import Finding
from .header import Value
from .op import Case, Draw, Unseen
from .spans import Path
from .subject import OpSubject, expression_finding
from .suggest import hint_among
from .wording import describe

_GREATEST = 2**63 - 1
_ENOUGH_DRAWS = 8
_MOST_EVALUATIONS = 20_000
"""Of constraints in trial draws: enough for a thousand tries, and a few seconds at the worst."""


def check_presence(subject: OpSubject) -> Iterator[Finding]:
    """P060, P068: there are cases, and small ones."""
    if not subject.op.cases:
        yield Finding("P060", ("op",), "the op has no case", "add a `[[op.case]]` of scale `small` and one of scale `full`")
    elif not any(case.scale == "small" for case in subject.op.cases):
        yield Finding("P068", ("op", "case"), "no case has the scale `small`", "without one the op cannot be judged on a CPU")


def check_case_ids(subject: OpSubject) -> Iterator[Finding]:
    """P020: ids are given once."""
    seen: set[str] = set()
    for index, case in enumerate(subject.op.cases):
        if case.id in seen:
            yield Finding("P020", ("op", "case", index, "id"), f"there is a case `{case.id}` already")
        seen.add(case.id)


def check_completeness(subject: OpSubject) -> Iterator[Finding]:
    """P061, P062: cases and tables give every dimension and dtype variable a value, and nothing else."""
    op = subject.op
    needed = [*op.dims, *op.dtypes]
    known = [*needed, *op.flags, *(scalar.name for scalar in op.scalars), *subject.lost]
    for said, path in _tables(subject):
        missing = [name for name in needed if name not in said]
        if missing:
            yield Finding("P061", path, f"no value for {', '.join(f'`{name}`' for name in missing)}")
        for name in said:
            if name not in known:
                yield Finding(
                    "P062",
                    (*path, name),
                    f"`{name}` is nothing that the op declares",
                    hint_among(name, set(known) - set(said), "still to be given"),
                    on_key=True,
                )


def check_values(subject: OpSubject) -> Iterator[Finding]:
    """P063, P065: values and rules go with the names."""
    for said, path in _tables(subject):
        for name, value in said.items():
            where = (*path, name)
            if isinstance(value, Draw):
                yield from _check_rule(name, value, where, subject)
            elif wrong := _wrong_value(name, value, subject):
                yield Finding("P063", where, *wrong)


def check_cases_hold(subject: OpSubject) -> Iterator[Finding]:
    """P033, P064: in every case that is complete, constraints hold and sizes are numbers of at least 0."""
    constraints = _constraints(subject)
    sizes, numbers = _sizes(subject), _numbers(subject)
    for index, case in enumerate(subject.op.cases):
        path: Path = ("op", "case", index)
        if not _is_sound(case, subject):
            continue
        values = subject.op.values_of(case)
        for text, expression in constraints.items():
            yield from _check_constraint(text, expression, case, path, values)
        yield from _check_sizes(sizes, case, values)
        for where, expression in numbers:
            try:
                expression.evaluate(values)
            except ExpressionError as error:
                yield _without_value(where, error, case)


def check_files_fit(subject: OpSubject) -> Iterator[Finding]:
    """P052: a file holds exactly the tensor that each case wants."""
    for tensor, path in inputs(subject):
        file = tensor.init.file
        if file is None or any(check_path(subject.folder, file.path, ())):
            continue
        has = (subject.folder / file.path).stat().st_size
        sizes = [expression for where, expression in _sizes(subject) if where[:3] == path and "shape" in where]
        literal = [size for size in tensor.shape if isinstance(size, int)]
        for case in subject.op.cases:
            if not _is_sound(case, subject) or len(sizes) + len(literal) != len(tensor.shape):
                continue
            wants = _bytes(sizes, literal, subject.op.values_of(case), tensor.dtype)
            if wants is not None and wants != has:
                yield Finding("P052", (*path, "init", "file", "path"), f"`{file.path}` has {has} bytes; in case `{case.id}` the tensor has {wants}")


def check_draws(subject: OpSubject) -> Iterator[Finding]:
    """P066, P067: draws meet the constraints, and there are enough of them."""
    op = subject.op
    yield from _check_tables(subject)
    small = sum(table.count for table in op.unseen if table.scale == "small")
    everything = sum(table.count for table in op.unseen)
    hint = f"the gate `general` wants {_ENOUGH_DRAWS} or more; see `count` of `[[op.unseen]]`"
    path: Path = ("op", "unseen") if op.unseen else ("op",)
    if everything < _ENOUGH_DRAWS:
        yield Finding("P067", path, f"{everything or 'no'} unseen cases are drawn", hint)
    elif small < _ENOUGH_DRAWS and any(case.scale == "small" for case in op.cases):
        yield Finding("P067", path, f"{small or 'no'} unseen cases of scale `small` are drawn, which is all that a CPU is asked", hint)


def _tables(subject: OpSubject) -> Iterator[tuple[Mapping[str, Value | Draw], Path]]:
    yield from ((case.values, ("op", "case", index)) for index, case in enumerate(subject.op.cases))
    yield from ((table.draws, ("op", "unseen", index)) for index, table in enumerate(subject.op.unseen))


def _wrong_value(name: str, value: Value, subject: OpSubject) -> tuple[str, str] | None:
    """Message and hint for a value that the name cannot have."""
    op = subject.op
    if name in op.dims and not (type(value) is int and 0 <= value <= _GREATEST):
        return f"the dimension `{name}` cannot be {describe(value)}", "a whole number from 0 to 2**63 - 1"
    if name in op.dtypes and value not in op.dtypes[name]:
        return f"`{name}` cannot be {describe(value)}", hint_among(str(value), op.dtypes[name], "it may be")
    if name in op.flags and not isinstance(value, bool):
        return f"the flag `{name}` cannot be {describe(value)}", "`true` or `false`"
    for scalar in op.scalars:
        if scalar.name == name and not is_scalar_value(value, scalar.dtype):
            return f"`{name}` is {scalar.dtype}, which has no such value", ""
    return None


def _check_rule(name: str, rule: Draw, path: Path, subject: OpSubject) -> Iterator[Finding]:
    if (rule.choice is None) == (rule.range is None):
        yield Finding("P065", path, f"`{name}` needs either `choice` or `range`", "`{ choice = [1, 7] }` or `{ range = [1, 900] }`")
    elif rule.choice is not None:
        extra = sorted(rule.model_fields_set - {"choice"})
        if extra:
            yield Finding("P065", (*path, extra[0].replace("_", "-")), f"`{extra[0].replace('_', '-')}` belongs to a `range`", on_key=True)
        for index, value in enumerate(rule.choice):
            if wrong := _wrong_value(name, value, subject):
                yield Finding("P063", (*path, "choice", index), *wrong)
    else:
        yield from _check_range(name, rule, path, subject)


def _check_range(name: str, rule: Draw, path: Path, subject: OpSubject) -> Iterator[Finding]:
    op = subject.op
    assert rule.range
    low, high = rule.range
    if name in op.dtypes or name in op.flags:
        yield Finding("P065", (*path, "range"), f"`{name}` is no number: it wants a `choice`", on_key=True)
        return
    for index, bound in enumerate((low, high)):
        if wrong := _wrong_value(name, bound, subject):
            yield Finding("P063", (*path, "range", index), *wrong)
            return
    if low > high:
        yield Finding("P065", (*path, "range"), f"no number lies between {low} and {high}")
    elif rule.log and low <= 0:
        yield Finding("P065", (*path, "log"), f"no logarithm of {low}", "a range that starts above 0", on_key=True)
    elif isinstance(low, float) or isinstance(high, float):
        if rule.multiple_of or rule.not_multiple_of:
            yield Finding("P065", path, "multiples go with whole numbers")
    elif not _has_value(low, high, rule):
        yield Finding("P065", (*path, "range"), f"no number between {low} and {high} is one that the rule allows")


def _has_value(low: int, high: int, rule: Draw) -> bool:
    step, never = rule.multiple_of or 1, rule.not_multiple_of
    least, most = -(-low // step), high // step
    # Among neighbouring multiples of `step` one is no multiple of `never`, unless all are.
    return any(never is None or value * step % never for value in range(least, min(most, least + 1) + 1))


def _is_sound(table: Case | Unseen, subject: OpSubject) -> bool:
    """Whether the table gives every name a value that it can have."""
    op = subject.op
    said: Mapping[str, Any] = table.values if isinstance(table, Case) else table.draws
    if subject.lost or any(name not in said for name in (*op.dims, *op.dtypes)):
        return False
    return not any(any(_check_rule(name, v, (), subject)) if isinstance(v, Draw) else _wrong_value(name, v, subject) for name, v in said.items())


def _parsed(text: str, subject: OpSubject, *types: str) -> Expression | None:
    """The expression if it is sound; its errors are reported elsewhere."""
    try:
        expression = parse(text, subject.scope())
    except ExpressionError:
        return None
    return expression if expression.type in types else None


def _constraints(subject: OpSubject) -> dict[str, Expression]:
    parsed = {text: _parsed(text, subject, "bool") for text in subject.op.constraints}
    return {text: expression for text, expression in parsed.items() if expression}


def _sizes(subject: OpSubject) -> list[tuple[Path, Expression]]:
    """Expressions of shapes and inits, which must come out as whole numbers of at least 0."""
    texts: list[tuple[Path, object]] = []
    for tensor, path in tensors(subject):
        texts += [((*path, "shape", index), size) for index, size in enumerate(tensor.shape)]
    for tensor, path in inputs(subject):
        if len(tensor.init.model_fields_set) == 1 and not tensor.init.derive:
            said = tensor.init.arguments()
            texts += [((*path, "init", tensor.init.kind, key), said[key]) for key in tensor.init.expressions()]
    return [(path, found) for path, text in texts if isinstance(text, str) and (found := _parsed(text, subject, "int"))]


def _numbers(subject: OpSubject) -> list[tuple[Path, Expression]]:
    """Expressions that must have a value, whatever it is."""
    op = subject.op
    texts: list[tuple[Path, str | None]] = []
    if op.cost:
        texts += [(("op", "cost", "bytes"), op.cost.bytes), (("op", "cost", "flops"), op.cost.flops)]
    texts.append((("op", "tolerance", "reduction"), op.tolerance.reduction))
    texts += [(("op", "tolerance", "output", name, "reduction"), said.reduction) for name, said in op.tolerance.output.items()]
    return [(path, found) for path, text in texts if text is not None and (found := _parsed(text, subject, "int", "float"))]


def _check_constraint(text: str, expression: Expression, case: Case, path: Path, values: Mapping[str, Value]) -> Iterator[Finding]:
    try:
        holds = expression.evaluate(values)
    except ExpressionError as error:
        yield Finding("P064", (*path, "id"), f"in case `{case.id}` the constraint `{text}` has no value: {error.message.removeprefix('it has no value: ')}")
        return
    if holds is not True:
        used = ", ".join(f"{name} = {values[name]}" for name in values if name in expression.names)
        yield Finding("P064", (*path, "id"), f"case `{case.id}` breaks the constraint `{text}`", f"it has {used}" if used else "")


def _check_sizes(sizes: list[tuple[Path, Expression]], case: Case, values: Mapping[str, Value]) -> Iterator[Finding]:
    for where, expression in sizes:
        try:
            size = expression.evaluate(values)
        except ExpressionError as error:
            yield _without_value(where, error, case)
            continue
        if isinstance(size, int) and size < 0:
            yield Finding("P033", where, f"in case `{case.id}` this is {size}", part=(0, len(expression.text)))


def _without_value(where: Path, error: ExpressionError, case: Case) -> Finding:
    found = expression_finding(where, error)
    return Finding("P033", where, f"in case `{case.id}` {error.message}", part=found.part)


def _bytes(sizes: list[Expression], literal: list[int], values: Mapping[str, Value], dtype: str) -> int | None:
    total = SIZES.get(str(values.get(dtype, dtype)), 0) * math.prod(literal)
    for expression in sizes:
        try:
            size = expression.evaluate(values)
        except ExpressionError:
            return None
        total *= size if isinstance(size, int) else 0
    return total


class _PatienceError(Exception):
    """Constraints have been evaluated so often that it must be enough."""


def _check_tables(subject: OpSubject) -> Iterator[Finding]:
    """P066: one draw from each table, as the judge makes it."""
    op = subject.op
    constraints = _constraints(subject)
    patience = itertools.count()
    scalars = {scalar.name: scalar.value for scalar in op.scalars}
    wanted = {"dims": list(op.dims), "dtypes": list(op.dtypes), "flags": list(op.flags), "scalars": list(scalars)}

    def verdicts(**values: object) -> list[tuple[str, bool]]:
        if next(patience) * len(constraints) > _MOST_EVALUATIONS:
            raise _PatienceError
        return [(text, _holds(expression, values)) for text, expression in constraints.items()]

    for index, table in enumerate(op.unseen):
        if not constraints or not _is_sound(table, subject):
            continue
        rules = {name: rule.to_dict() if isinstance(rule, Draw) else rule for name, rule in table.draws.items()}
        try:
            draw_values({"id": "table", "draws": {**scalars, **rules}}, wanted, random.Random(0), verdicts)
        except DrawFailed as failed:
            yield Finding("P066", ("op", "unseen", index), "no draw from this table meets the constraints", str(failed).partition("; ")[2])
        except _PatienceError:
            return


def _holds(expression: Expression, values: Mapping[str, object]) -> bool:
    try:
        return expression.evaluate(values) is True
    except ExpressionError:
        return False


CASE_CHECKS: tuple[OpCheck, ...] = (
    check_presence,
    check_case_ids,
    check_completeness,
    check_values,
    check_cases_hold,
    check_files_fit,
    check_draws,
)
"""All of them run, each on every op."""
