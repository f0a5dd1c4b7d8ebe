"""Checks of what a suite means: its tasks are declared, and its score is a number."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace

from .findings import Finding
from .spans import Path
from .subject import SuiteSubject, read_expression
from .suggest import did_you_mean
from .suite import POLICIES, SCORE_NAMES

SuiteCheck = Callable[[SuiteSubject], Iterator[Finding]]
_SCORE: Path = ("suite", "score")


def check_tasks(subject: SuiteSubject) -> Iterator[Finding]:
    """P020, P201: every task is named once, and declared."""
    seen: set[str] = set()
    for index, name in enumerate(subject.suite.tasks):
        path = ("suite", "tasks", index)
        if name in seen:
            yield Finding("P020", path, f"`{name}` is named a second time", "`attempts` says how often each task is tried")
        seen.add(name)
        yield from check_declared(name, path, subject.pack.dependencies if subject.pack else None)
    if subject.suite.target:
        yield from check_declared(subject.suite.target, ("suite", "target"), subject.pack.dependencies if subject.pack else None)


def check_declared(name: str, path: Path, declared: Collection[str] | None, *, on_key: bool = False) -> Iterator[Finding]:
    """P201: `name` is among the dependencies; nothing is said where those are not known."""
    if declared is not None and name not in declared:
        hint = did_you_mean(name, declared, nearness=0.9) or f'`[pack.dependencies]` with `"{name}" = "^0.1"`'
        yield Finding("P201", path, f"`{name}` is no dependency of this pack", hint, on_key=on_key)


def check_score(subject: SuiteSubject) -> Iterator[Finding]:
    """P030 to P032, P200: a policy, or an expression that is a number."""
    score = subject.suite.score
    if (score.policy is None) == (score.unit is None):
        problem = "neither `policy` nor `unit` says what a unit is worth" if score.policy is None else "`policy` and `unit` both say what a unit is worth"
        yield Finding("P200", _SCORE, problem, f"`policy` is one of {', '.join(f'`{name}`' for name in POLICIES)}; `unit` is an expression of your own")
    if score.policy is not None and score.aggregate is not None:
        yield Finding(
            "P200", (*_SCORE, "aggregate"), f"the policy `{score.policy}` takes units together by itself", "`aggregate` goes with `unit`", on_key=True
        )
    if score.unit is None:
        return
    read = read_expression((*_SCORE, "unit"), score.unit, {name: kind for name, (kind, _) in SCORE_NAMES.items()})
    if isinstance(read, Finding):
        yield replace(read, hint=read.hint or "a condition becomes points by `20 if compiled else 0`")
    elif read.type not in ("int", "float"):
        yield Finding("P032", (*_SCORE, "unit"), "a score is a number", "`1 if correct else 0` makes one of a condition")
    elif not read.names:
        yield Finding("P200", (*_SCORE, "unit"), "the score is the same for every unit", "it sees " + ", ".join(f"`{name}`" for name in SCORE_NAMES))


SUITE_CHECKS: tuple[SuiteCheck, ...] = (check_tasks, check_score)
"""Those that need no other pack."""
