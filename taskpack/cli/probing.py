"""What `check --probe` adds: each task's harness asks its reference and judges wrong answers; tasks that ask the same are probed once."""

from __future__ import annotations

import ast
import json
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from taskpack.digest import digest_bytes, digest_value
from taskpack.errors import Diagnostic, Exit, TargetAbsent, TaskpackError
from taskpack.registry.trust import must_be_walled

from .places import shown

if TYPE_CHECKING:
    from .subjects import Subjects

_TARGET = "cpu"
_SEED = "00"
"""The same unseen cases and contents each time: a check of the same packs says the same."""
_ASKED = ("op", "arguments", "names", "reference", "module", "cases", "unseen", "tolerance")
"""The parts of a plan that decide what is asked of the reference, and how answers are compared."""


@dataclass
class Probe:
    """One question of a reference, the tasks that ask it, and what came out."""

    folder: Path
    harness: Path | None
    tasks: list[str]
    is_walled: bool = False
    result: dict[str, Any] = field(default_factory=dict)
    reason: str = ""
    """Why there is no result."""
    code: int = Exit.OK

    def to_dict(self) -> dict[str, Any]:
        return {"folder": shown(self.folder), "tasks": self.tasks, "skipped": self.reason, **self.result}

    def diagnostics(self) -> list[Diagnostic]:
        """The weak spots, or why the task could not be probed."""
        file = f"{shown(self.folder)}/pack.toml"
        if self.reason:
            return [Diagnostic(file, 0, 1, "probe", f"not probed: {self.reason}", is_warning=self.code == Exit.OK)]
        return [Diagnostic(file, 0, 1, "weak", _words(self.tasks[0], one), hint=one["advice"]) for one in self.result["weak"]]


def probe(subjects: Subjects, jobs: int) -> list[Probe]:
    """Builds every task of the subjects for the CPU and probes each different question once, `jobs` at a time."""
    from taskpack.runs.judging import require_torch

    require_torch()
    probes = _gather(subjects)
    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(_run, probes))
    return probes


def show(probes: list[Probe]) -> None:
    """Diagnostics as of any check, then a line a question and one that sums up."""
    from taskpack.packs.diagnostics import render_diagnostics

    for one in probes:
        if diagnostics := one.diagnostics():
            click.echo(render_diagnostics(diagnostics, colour=True))
    for one in probes:
        also = f" (the same question as {', '.join(one.tasks[1:])})" if one.tasks[1:] else ""
        click.echo(f"{one.tasks[0]}: {_outcome(one)}{also}")
    weak = sum(bool(one.result.get("weak")) for one in probes)
    skipped = sum(bool(one.reason) for one in probes)
    tasks = sum(len(one.tasks) for one in probes if not one.reason)
    said = [f"{weak} weak" if weak else "none weak", *([f"{skipped} not probed"] if skipped else [])]
    click.echo(f"probed {_counted(len(probes) - skipped, 'question')} of {_counted(tasks, 'task')}: {', '.join(said)}")


def _outcome(one: Probe) -> str:
    if one.reason:
        return f"not probed: {one.reason}"
    kinds = [kind["verdict"] for kind in one.result["mutants"]]
    counted = ((kinds.count("rejected"), "refused"), (kinds.count("survived"), "pass"), (kinds.count("not applicable"), "not applicable"))
    return f"{one.result['cases']} cases, wrong answers: " + ", ".join(f"{number} {word}" for number, word in counted if number)


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _words(task: str, one: dict[str, Any]) -> str:
    near = one["nearest"]
    nearest = f"; nearest to refusal is `{near['case']}` on {near['distribution']} inputs, at {near['nearness']:.2g} of the tolerance" if near else ""
    return f'{task}: no case refuses the wrong answer "{one["mutant"]}" for {one["output"]}{nearest}'


def _gather(subjects: Subjects) -> list[Probe]:
    from .building import build
    from .subjects import kind_of

    found: dict[str, Probe] = {}
    for folder in subjects.folders:
        kind = kind_of(folder)
        if kind == "model":
            words = "a model is judged by a measured noise floor, and has no tolerance that wrong answers could be held against"
            found[str(folder)] = Probe(folder, None, [shown(folder)], reason=words)
        if kind != "task":
            continue
        try:
            harness = build(folder, _TARGET, subjects.shelf).path
        except TaskpackError as error:
            found[str(folder)] = Probe(folder, None, [shown(folder)], reason=error.message, code=_code(error))
            continue
        key, task = _question(harness)
        is_walled = must_be_walled(folder, subjects.shelf, is_trusting=False)
        found.setdefault(f"{key} {is_walled}", Probe(folder, harness, [], is_walled)).tasks.append(task)
    return list(found.values())


def _question(harness: Path) -> tuple[str, str]:
    """A digest of what is asked, and the task's name."""
    with zipfile.ZipFile(harness) as archive:
        plan = json.loads(archive.read("plan.json"))
        files = {name: digest_bytes(archive.read(name)) for name in archive.namelist() if name.startswith("pack/reference/")}
        page = ast.parse(archive.read("harness.py"))
    asked = {part: plan.get(part) for part in _ASKED}
    expressions = [ast.dump(node) for node in page.body if not isinstance(node, ast.Expr)]  # all but the words that name the task
    return digest_value([asked, files, expressions]), str(plan["task"])


def _run(one: Probe) -> None:
    from taskpack.runs.judging import judge

    if one.harness is None:
        return
    try:
        one.result, one.code = judge(one.harness, ["--probe", "--seed", _SEED, *(["--walled"] if one.is_walled else [])], lambda _: None)
    except TaskpackError as error:
        one.reason, one.code = error.message, _code(error)


def _code(error: TaskpackError) -> int:
    """What this machine lacks is no mistake of the pack."""
    return Exit.OK if isinstance(error, TargetAbsent) else Exit.FAILED
