"""Checks of what a task means: by itself, and with its op."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from string import Formatter

from taskpack.runtime.languages import C_ABI, EXECUTION

from .check_files import check_entry, check_path
from .check_module import check_interface
from .findings import Finding
from .names import is_identifier
from .spans import Path
from .subject import OpSubject, TaskSubject
from .suggest import did_you_mean, hint_among
from .task import FAMILIES, MODULE, MODULE_FAMILIES, Baseline

TaskCheck = Callable[[TaskSubject], Iterator[Finding]]

LANGUAGES = (frozenset(EXECUTION) | C_ABI) - {MODULE}


def check_op_is_named(subject: TaskSubject) -> Iterator[Finding]:
    """P070, P071: one op, and a dependency on its pack."""
    op = subject.task.op
    if op is None and not subject.has_inline_op:
        yield Finding("P070", ("task",), "the task has no op", '`op = "ops/…"`, or a table `[op]` in this file')
    elif op is not None and subject.has_inline_op:
        yield Finding("P070", ("task", "op"), "the task names an op and has one of its own, too", "take one of them away", on_key=True)
    elif op is not None and subject.pack and op not in subject.pack.dependencies:
        hint = did_you_mean(op, subject.pack.dependencies) or f'add `"{op}" = "^1.0"` to `[pack.dependencies]`'
        yield Finding("P071", ("task", "op"), f"`{op}` is no declared dependency", hint)


def check_languages(subject: TaskSubject) -> Iterator[Finding]:
    """P072, P073: languages are known, and so is their pair."""
    task = subject.task
    said: list[tuple[str, Path]] = [] if _is_left_out(task.baseline) else [(task.baseline.language, ("task", "baseline", "language"))]
    if task.candidate.language is not None:
        said.append((task.candidate.language, ("task", "candidate", "language")))
    unknown = [(language, path) for language, path in said if language not in LANGUAGES]
    for language, path in unknown:
        yield Finding("P072", path, f"unknown language `{language}`", hint_among(language, LANGUAGES, "languages"))
    if said and not unknown and task.family not in {**FAMILIES, **MODULE_FAMILIES}:
        yield Finding("P073", said[-1][1], f"there is no family `{task.family}`", f"families: {', '.join(f'`{name}`' for name in FAMILIES)}")


def check_allowance(subject: TaskSubject) -> Iterator[Finding]:
    """P079: what may be written is not ruled out."""
    task = subject.task
    if task.allow.torch == "none" and (task.candidate.language or task.baseline.language) == "torch":
        hint = '`torch = "elementwise"`, or another language for the candidate'
        yield Finding("P079", ("task", "allow", "torch"), "a candidate in torch that may not compute with torch cannot be written", hint)


def check_baseline_files(subject: TaskSubject) -> Iterator[Finding]:
    """P040, P041, P043, P044: the baseline's files are there, and a Python baseline's entry, too."""
    baseline = subject.task.baseline
    wrong: list[Finding] = []
    for index, file in enumerate(baseline.files):
        wrong += check_path(subject.folder, file, ("task", "baseline", "files", index))
    yield from wrong
    if not wrong and _is_python(baseline.language) and is_identifier(baseline.entry):
        yield from check_entry(subject.folder, baseline.files[0], baseline.entry, ("task", "baseline", "entry"))


def check_candidates(subject: TaskSubject) -> Iterator[Finding]:
    """P040, P041, P043, P044, P078: `start` and the examples are candidates."""
    task = subject.task
    for index, file in enumerate(task.candidate.files):
        if file.startswith(("/", "~")) or "\\" in file or ".." in file.split("/"):
            yield Finding("P041", ("task", "candidate", "files", index), f"`{file}` leads out of the candidate's folder")
            return
    folders: list[tuple[str, Path]] = [(example.folder, ("task", "example", index, "folder")) for index, example in enumerate(task.examples)]
    if task.candidate.start is not None:
        folders.insert(0, (task.candidate.start, ("task", "candidate", "start")))
    for folder, path in folders:
        yield from _check_candidate(folder, path, subject)


def _check_candidate(folder: str, path: Path, subject: TaskSubject) -> Iterator[Finding]:
    wrong = list(check_path(subject.folder, folder, path, is_folder=True))
    yield from wrong
    side = subject.task.candidate.as_side(subject.task.baseline)
    for file in side.files if not wrong else ():
        found = list(check_path(subject.folder, f"{folder}/{file}", path))
        wrong += found
        yield from (Finding("P078" if one.code == "P040" else one.code, path, f"`{folder}` lacks the candidate's file `{file}`") for one in found)
    if not wrong and _is_python(side.language) and is_identifier(side.entry):
        yield from check_entry(subject.folder, f"{folder}/{side.files[0]}", side.entry, path)


def check_example_names(subject: TaskSubject) -> Iterator[Finding]:
    """P020: an example's name is given once."""
    seen: set[str] = set()
    for index, example in enumerate(subject.task.examples):
        if example.name in seen:
            yield Finding("P020", ("task", "example", index, "name"), f"there is an example `{example.name}` already")
        seen.add(example.name)


def check_entries(subject: TaskSubject) -> Iterator[Finding]:
    """P074: entries are names, which hold the dtype variables that they must hold."""
    task = subject.task
    if not _is_left_out(task.baseline):
        yield from _check_entry(task.baseline, ("task", "baseline", "entry"), subject.op)
    side = task.candidate.as_side(task.baseline)
    if task.candidate.entry is not None:
        yield from _check_entry(side, ("task", "candidate", "entry"), subject.op)
    elif not task.is_module and _is_python(side.language) != _is_python(task.baseline.language):
        hint = "a symbol like `softmax_{T}`" if _is_python(task.baseline.language) else "the name of a Python function"
        yield from (
            Finding(one.code, ("task", "candidate"), f"the candidate's entry is the baseline's, `{side.entry}`: {one.message}", one.hint or hint)
            for one in _check_entry(side, (), subject.op)
        )


def _check_entry(side: Baseline, path: Path, op: OpSubject | None) -> Iterator[Finding]:
    try:
        parts = [(text, field) for text, field, spec, conversion in Formatter().parse(side.entry) if not spec and not conversion]
    except ValueError:
        parts = []
    fields = [field for _, field in parts if field is not None]
    plain = "".join(f"{text}{'x' if field else ''}" for text, field in parts)
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", plain):
        yield Finding("P074", path, f"`{side.entry}` is no name of a function")
    elif _is_python(side.language):
        if fields:
            yield Finding("P074", path, f"a {side.language} entry is one function for all dtypes: no `{{{fields[0]}}}`", "the call's tensors tell it the dtype")
    elif op is not None:
        yield from _check_fields(side, fields, path, op)


def _check_fields(side: Baseline, fields: list[str], path: Path, subject: OpSubject) -> Iterator[Finding]:
    dtypes = subject.op.dtypes
    for field in fields:
        if field not in dtypes and field not in subject.lost:
            yield Finding("P074", path, f"`{{{field}}}` is no dtype variable", hint_among(field, dtypes, "there are"))
    for variable, listed in dtypes.items():
        if len(listed) > 1 and variable not in fields:
            yield Finding(
                "P074", path, f"`{side.entry}` is one symbol for {len(listed)} dtypes of `{variable}`", f"`{side.entry}_{{{variable}}}`, one symbol for each"
            )


def check_arguments(subject: TaskSubject) -> Iterator[Finding]:
    """P075 to P077, P020: arguments are known and complete."""
    if subject.op is None or subject.task.is_module or subject.op.op.module:
        return
    task = subject.task
    yield from _check_arguments(task.baseline, ("task", "baseline"), ("arguments",), subject.op)
    if task.candidate.arguments is not None:
        yield from _check_arguments(task.candidate.as_side(task.baseline), ("task", "candidate"), ("arguments",), subject.op)
    elif (task.candidate.language, task.candidate.style) != (None, None):
        yield from _check_arguments(task.candidate.as_side(task.baseline), ("task", "candidate"), (), subject.op)


def _check_arguments(side: Baseline, table: Path, key: Path, subject: OpSubject) -> Iterator[Finding]:
    op = subject.op
    given, outputs = [tensor.name for tensor in op.given()], [output.name for output in op.outputs]
    known = [*given, *outputs, *op.dims, *op.flags, *(scalar.name for scalar in op.scalars), "stream"]
    needed = given if side.style == "functional" else [*given, *outputs]
    for index, name in enumerate(side.arguments):
        path = (*table, *key, index) if key else table
        if name not in known and name not in subject.lost:
            yield Finding("P075", path, f"`{name}` is nothing that can be passed", hint_among(name, known, "there are"))
        elif name in side.arguments[:index]:
            yield Finding("P020", path, f"`{name}` is passed twice")
        elif name == "stream" and _is_python(side.language):
            yield Finding("P077", path, f"`stream` cannot be passed to {side.language}", "leave it out; torch's current stream is the one to use")
        elif side.style == "functional" and name in outputs:
            yield Finding("P076", path, f"`{name}` is returned in functional style, not passed")
    missing = [name for name in needed if name not in side.arguments]
    if missing:
        yield Finding(
            "P076",
            (*table, *key),
            f"{', '.join(f'`{name}`' for name in missing)} {'is' if len(missing) == 1 else 'are'} not passed",
            "every input, inout and output is",
            on_key=bool(key),
        )


def _is_left_out(baseline: Baseline) -> bool:
    """Whether the baseline is the library's class, and nothing that the author wrote."""
    return baseline.language == MODULE and not baseline.files


def _is_python(language: str) -> bool:
    return language in LANGUAGES and language not in C_ABI


TASK_CHECKS: tuple[TaskCheck, ...] = (check_op_is_named, check_languages, check_allowance, check_baseline_files, check_candidates, check_example_names)
"""Those that need nothing but the task's own pack."""
TASK_AND_OP_CHECKS: tuple[TaskCheck, ...] = (check_interface, check_entries, check_arguments)
"""Those that need the op, too, which may be another pack's."""
