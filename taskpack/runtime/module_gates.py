"""The gates that only a module has: *interface*, whether it is called as the library's class is, and *state-dict*, whether it holds and uses the same state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from . import signature, testimony
from .domains import Failed
from .evidence import FAIL, PASS, SKIP, Verdict
from .question import Case, PackFault, Question
from .run import Run
from .trial import Trial


def interface(run: Run) -> Verdict:
    """The candidate's class takes what the library's takes: the same parameters, by place and by keyword, with the same defaults."""
    candidate = run.workers["candidate"]
    try:
        found = testimony.signatures(candidate.ask("signatures", run.question.call_s))
        for key, method in testimony.METHODS.items():
            wanted = parameters(run.question.plan["module"][key])
            if why := signature.difference(wanted, found[key]):
                return Verdict(FAIL, f"`{method}` {why}: the library's is {signature.show(wanted)}")
        candidate.ask("state", run.question.call_s, module=_first_module(run))
    except Failed as error:
        run.log = run.log or error.log
        return Verdict(FAIL, f"the candidate's class {error.reason}")
    return Verdict(PASS)


def state_dict(run: Run) -> Verdict:
    """The candidate's module has the library's keys, shapes and dtypes, loads the judge's values, and answers otherwise when any of them changes."""
    case = _first_case(run)
    if case is None:
        return Verdict(SKIP, "no case can run on this device")
    try:
        wanted = _state_of_library(run)
        found = testimony.state(run.workers["candidate"].ask("state", run.question.call_s, module=_first_module(run)))
        if why := difference(wanted, found):
            return Verdict(FAIL, why)
        return use_of_state(run, run.question, case, run.question.plan["module"]["state"])
    except Failed as error:
        run.log = run.log or error.log
        return Verdict(FAIL, f"the candidate {error.reason}")


def use_of_state(run: Run, question: Question, case: Case, keys: Sequence[str]) -> Verdict:
    """Changes one tensor of the state at a time: where the reference's answer changes, the candidate's must not stay what it was."""
    with Trial(question, case, 1, run.reference(), {"candidate": run.workers["candidate"]}) as trial:
        trial.bind_reference()
        trial.bind("candidate")
        trial.fill(run.rng)
        before = _answer(run, trial)
        for name in keys:
            trial.change(name, run.rng)
            after = _answer(run, trial)
            if not _same(before[0], after[0]) and _same(before[1], after[1]):
                return Verdict(FAIL, f"{case.words}: `{name}` is never used: with other values in it the answer stays the same")
            before = after
    return Verdict(PASS)


def _answer(run: Run, trial: Trial) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """The reference's outputs, and the candidate's."""
    trial.poison("candidate", run.rng.getrandbits(62))
    trial.call("candidate")
    trial.collect("candidate", 1)
    trial.expect(1)
    return trial.answers(None), trial.answers("candidate")


def _same(one: list[torch.Tensor], other: list[torch.Tensor]) -> bool:
    return all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


def _first_case(run: Run) -> Case | None:
    return next((case for case in run.question.seen_cases() if run.unsupported(case) is None), None)


def _first_module(run: Run) -> dict[str, Any] | None:
    return run.question.module(run.question.seen_cases()[0])


def _state_of_library(run: Run) -> dict[str, Any]:
    """Key → [shape, dtype]; raises PackFault where the pack declares another state than the library's class has."""
    try:
        state = dict(run.reference().ask("state", run.question.call_s, module=_first_module(run)))
    except Failed as error:
        raise PackFault(f"the library's class {error.reason}") from error
    declared = set(run.question.plan["module"]["state"])
    if strange := sorted(declared ^ set(state)):
        where = "the library's class does not have" if strange[0] in declared else "the pack does not declare"
        raise PackFault(f"the state holds `{strange[0]}`, which {where}")
    return state


def difference(wanted: dict[str, Any], found: dict[str, Any]) -> str:
    for key in wanted:
        if key not in found:
            return f"the module's state has no `{key}`"
        for what, one, other in zip(("shape", "dtype"), found[key], wanted[key], strict=True):
            if one != other:
                return f"`{key}` has {what} {one}, the library's has {other}"
    more = [key for key in found if key not in wanted]
    return f"the module's state has `{more[0]}`, which the library's has not" if more else ""


def parameters(entries: list[list[Any]]) -> signature.Signature:
    """As the plan has them."""
    return tuple((str(name), str(kind), None if default is None else str(default)) for name, kind, default in entries)
