"""The candidate's own work within the gates: its source is read by *compile*, and one more call on the first case is traced by *correct*."""

from __future__ import annotations

from . import testimony
from .domains import Failed
from .languages import C_ABI
from .own_ops import allowance
from .own_work import Operation, read_sources, refused_operations
from .run import Run
from .trial import NAN_POISON, Trial


def read_own_work(run: Run) -> str:
    """What the candidate's files call that the task does not allow, or ""."""
    plan = run.question.plan
    allow = allowance(plan)
    if allow.is_everything:
        return ""
    run.facts["own_work"] = {"allow": allow.to_dict(), "ops": {}}
    files = {name: content.decode("utf-8", errors="replace") for name, content in run.sources.items()}
    return _first(read_sources(files, allow, holds_modules="module" in plan))


def trace_own_work(run: Run) -> str:
    """What torch computed in one more call of the candidate, which is checked as others are, that the task does not allow, or ""."""
    allow = allowance(run.question.plan)
    if allow.is_everything or run.question.plan["candidate"]["language"] in C_ABI:
        return ""
    case = next((case for case in run.question.seen_cases() if not run.unsupported(case)), None)
    if case is None:
        return ""
    with Trial(run.question, case, 1, run.reference(), {"candidate": run.workers["candidate"]}) as trial:
        trial.bind_reference()
        trial.fill(run.rng)
        try:
            operations = _trace(run, trial)
        except Failed as error:
            return f"{case.words}, traced: {error.reason}"
        damage = trial.damage("candidate")
        trial.expect(1)
        findings = trial.findings("candidate", 0)
    run.facts["own_work"] = {"allow": allow.to_dict(), "ops": {name: count for name, count, _ in operations}}
    wrong = damage or next((f"{each.name} {each.comparison.reason}" for each in findings if not each.comparison.is_equal), "")
    return f"{case.words}, traced: {wrong}" if wrong else _first(refused_operations(operations, allow))


def _trace(run: Run, trial: Trial) -> list[Operation]:
    """Raises Failed."""
    trial.bind("candidate")
    trial.poison("candidate", NAN_POISON)
    told = run.workers["candidate"].ask("trace", run.question.call_s, binding=trial.binding)
    trial.collect("candidate", 1)
    return testimony.operations(told)


def _first(refused: list[str]) -> str:
    return refused[0] + (f" (and {len(refused) - 1} more)" if len(refused) > 1 else "") if refused else ""
