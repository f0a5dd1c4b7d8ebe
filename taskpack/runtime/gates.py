"""The gates in their order, each a function from the run so far to a verdict: compile, rules, correct, general, fast; those of modules stand apart."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from .domains import Answered, Failed, WorkerFailed
from .evidence import FAIL, INCONCLUSIVE, PASS, SKIP, CaseResult, GateResult, Verdict
from .fast import fast
from .model_gates import MODEL_GATES
from .module_gates import interface, state_dict
from .own_gate import read_own_work, trace_own_work
from .question import Case, PackFault
from .rules_gate import hold_to_rules
from .run import Run, build
from .trial import NAN_POISON, Trial

_DECLARED = "declared"
_AFTER_OTHERS = f"{_DECLARED} after others"


def compile_candidate(run: Run) -> Verdict:
    """The candidate's files are there, compile, and load."""
    if run.missing_files:
        return Verdict(FAIL, f"the candidate {', '.join(run.missing_files)}")
    if refused := read_own_work(run):
        return Verdict(FAIL, refused)
    try:
        run.workers["candidate"] = build(run, "candidate")
    except Answered as error:
        run.log = error.log
        return Verdict(FAIL, error.reason)
    except WorkerFailed as error:
        return Verdict(FAIL, f"while it was compiled or loaded, the candidate {error.reason}")
    return Verdict(PASS)


def correct(run: Run) -> Verdict:
    """Every seen case, twice on the same memory with other contents; the first one also on the inputs' edge distributions, once more on the same contents,
    and again after all others, so that what a candidate keeps of one case is seen to survive the next."""
    cases = run.question.seen_cases()
    edges = list(dict.fromkeys(edge for a in run.question.tensors("input", "inout") for edge in a["edges"]))
    verdict = _check_all(run, "correct", [(case, [_DECLARED, f"{_DECLARED} again", *(edges if index == 0 else [])]) for index, case in enumerate(cases)])
    asked = [case for case in cases if run.unsupported(case) is None]
    if verdict.verdict == PASS and len(asked) > 1:
        verdict = _check_all(run, "correct", [(asked[0], [_AFTER_OTHERS])])
    refused = trace_own_work(run) if verdict.verdict == PASS else ""
    return Verdict(FAIL, refused) if refused else verdict


def general(run: Run) -> Verdict:
    """Cases that nobody has seen: drawn by the judge from the pack's tables, in random order."""
    run.unseen += run.question.draw_cases(run.rng)
    if not run.unseen:
        return Verdict(SKIP, "the pack draws no unseen cases for this device")
    return _check_all(run, "general", [(case, [_DECLARED]) for case in run.unseen])


def _check_all(run: Run, gate: str, cases: list[tuple[Case, list[str]]]) -> Verdict:
    """Checks case by case; a wrong answer does not end the gate, the candidate's death does."""
    failures: list[str] = []
    checked = 0
    for case, distributions in cases:
        if why := run.unsupported(case):
            run.record(CaseResult(gate, case.id, case.values, _DECLARED, SKIP, why))
            continue
        checked += 1
        failures += _check_case(run, gate, case, distributions)
        if not run.workers["candidate"].is_alive:
            break
    if failures:
        return Verdict(FAIL, failures[0] + (f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""))
    if not checked:
        return Verdict(SKIP, run.cases[-1].reason if cases else "the pack has no case for this device")
    return Verdict(PASS)


def _check_case(run: Run, gate: str, case: Case, names: list[str]) -> list[str]:
    """Records one case under every named distribution, of which more words may follow the first; returns the failures in words."""
    failures = []
    must_repeat = bool(run.question.plan.get("deterministic"))
    side = {"candidate": run.workers["candidate"]}
    with Trial(run.question, case, 1, run.reference(), side) as trial:
        trial.bind_reference()
        for number, name in enumerate(names):
            distribution = name.split()[0]
            pattern = NAN_POISON if number % 2 else run.rng.getrandbits(62)
            reason, outputs = _check_call(run, trial, distribution, pattern)
            repeats = None
            if not reason and name == _DECLARED and gate == "correct" and (must_repeat or not any(known.is_repeated is not None for known in run.cases)):
                reason, repeats = _repeat_call(run, trial, must_repeat, pattern)
            run.record(CaseResult(gate, case.id, case.values, name, FAIL if reason else PASS, reason, outputs, repeats))
            if reason:
                where = " after other cases" if name == _AFTER_OTHERS else "" if distribution == _DECLARED else f" on {distribution} inputs"
                failures.append(f"{case.words}{where}: {reason}")
                break
    return failures


def _check_call(run: Run, trial: Trial, distribution: str, pattern: int) -> tuple[str, dict[str, dict[str, Any]]]:
    """One call on fresh contents: why it is wrong ("" if it is not), and what was observed of each output."""
    trial.fill(run.rng, distribution)
    try:
        trial.bind("candidate")
        trial.poison("candidate", pattern)
        trial.call("candidate")
        trial.collect("candidate", 1)
    except Failed as error:
        run.log = run.log or error.log
        return error.reason, {}
    damage = trial.damage("candidate")
    trial.expect(1)
    findings = trial.findings("candidate", 0)
    wrong = next((f"{each.name} {each.comparison.reason}" for each in findings if not each.comparison.is_equal), "")
    return damage or wrong, {each.name: each.comparison.to_dict() for each in findings}


def _repeat_call(run: Run, trial: Trial, must_repeat: bool, pattern: int) -> tuple[str, bool | None]:
    """One more call on the same contents: why it is wrong, and whether its bits are those of the call before.

    On the same poison, too, as not every element of an output need be written.
    """
    before = trial.answers("candidate")
    try:
        trial.poison("candidate", pattern)
        trial.call("candidate")
        trial.collect("candidate", 1)
    except Failed as error:
        run.log = run.log or error.log
        return f"called again on the same contents, it {error.reason}", None
    if damage := trial.damage("candidate"):
        return f"called again on the same contents, it {damage}", None
    if trial.repeats("candidate", before):
        return "", True
    wrong = next((f"{each.name} {each.comparison.reason}" for each in trial.findings("candidate", 0) if not each.comparison.is_equal), "")
    if wrong:
        return f"called again on the same contents: {wrong}", False
    return "gave other bits when it was called again on the same contents, and the task asks for the same" if must_repeat else "", False


GATES: tuple[tuple[str, Callable[[Run], Verdict]], ...] = (
    ("compile", compile_candidate),
    ("rules", hold_to_rules),
    ("interface", interface),
    ("state-dict", state_dict),
    ("correct", correct),
    ("general", general),
    ("fast", fast),
)


def run_gates(run: Run) -> None:
    """All gates in order; after one that did not pass, the others are left out."""
    stopped = ""
    known = dict(GATES) | (MODEL_GATES if "model" in run.question.plan else {})
    for name in run.question.plan["gates"]:
        gate = known[name]
        run.note("gate-start", gate=name)
        begin = time.monotonic()
        verdict = Verdict(SKIP, f"not reached: {stopped}") if stopped else _ask(gate, run)
        if verdict.verdict in (FAIL, INCONCLUSIVE):
            stopped = stopped or f"{name} {'failed' if verdict.verdict == FAIL else 'was inconclusive'}"
        result = GateResult(name, verdict.verdict, verdict.reason, time.monotonic() - begin)
        run.gates.append(result)
        run.note("gate", **result.to_dict())


def _ask(gate: Callable[[Run], Verdict], run: Run) -> Verdict:
    """The gate's verdict; a pack that does not hold is not the candidate's failure."""
    try:
        return gate(run)
    except PackFault as error:
        return Verdict(INCONCLUSIVE, f"the pack cannot be judged: {error}")
