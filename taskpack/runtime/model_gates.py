"""The gates of a model in which candidates stand for some modules: interface, state-dict, parity, stack, throughput.

*parity* compares with the library's model in the reference's precision. The noise floor is measured, not declared: it is what the library's own model, in the
case's dtype and on the same contents, differs from that reference. Contents are drawn several times; a divergence is the relative L2 distance of the
outputs, and top-1 the share of positions (all but the last axis) whose greatest output is the reference's: no position sees what another one chose.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from . import clock, conditions, module_gates, signature, testimony
from .domains import Failed
from .evidence import FAIL, INCONCLUSIVE, PASS, CaseResult, TimingResult, Verdict
from .question import Case, PackFault, Question, Unusable
from .run import Run, build
from .tolerance import EPS
from .trial import Trial

SILENT_DRIFT, GRAPH_BREAK, SLOWER_IN_SITU = "silent-drift", "graph-break", "slower-in-situ"
"""What the gates *parity*, *stack* and *throughput* say of a candidate that they stop."""

_DRAWS = 3
_FLOORS = 2.0
"""A divergence of so many noise floors is drift: rounding otherwise, as a fused module does, moves it by less than half."""
_TIMED_FLOORS = 4.0
"""The same between candidate and library in timed calls, each of which is a floor from the reference."""
_BUDGETS = 3
"""Of a kernel's case, for one workload: a model is called far fewer times a second."""
_SETS = 8
_INPUT_BYTES = 256 << 20
"""On a CPU."""
_NAMES = {"baseline": "the library's model", "candidate": "the candidate"}
_TINY_S = 1e-9
"""No time that a process says of itself is taken to be less."""


def interface(run: Run) -> Verdict:
    """Each candidate's class is called as the library's is, and stands for at least one module."""
    case = run.question.seen_cases()[0]
    candidate = run.workers["candidate"]
    try:
        found = testimony.signatures_by_task(candidate.ask("signatures", run.question.call_s), [swap["task"] for swap in run.swaps])
        for swap in run.swaps:
            for key, method in testimony.METHODS.items():
                wanted = module_gates.parameters(swap["module"][key])
                if why := signature.difference(wanted, found[swap["task"]][key]):
                    return Verdict(FAIL, f"{swap['task']}: `{method}` {why}: the library's is {signature.show(wanted)}")
        places = _places(run, case)
        candidate.ask("state", run.question.call_s, module=run.question.module(case))
    except Failed as error:
        run.log = run.log or error.log
        return Verdict(FAIL, f"the candidate {error.reason}")
    return Verdict(PASS, ", ".join(f"{len(names)} of {task}" for task, names in places.items()))


def state_dict(run: Run) -> Verdict:
    """The model holds the library's state, and each task's first module uses all of its own."""
    case = run.question.seen_cases()[0]
    try:
        wanted = _library_state(run, case)
        found = testimony.state(run.workers["candidate"].ask("state", run.question.call_s, module=run.question.module(case)))
        if why := module_gates.difference(wanted, found):
            return Verdict(FAIL, why)
        first = [names[0] for names in _places(run, case).values()]
        keys = [key for key in wanted if any(key.startswith(f"{name}.") for name in first)]
        return module_gates.use_of_state(run, _with_state(run, case), case, keys)
    except Failed as error:
        run.log = run.log or error.log
        return Verdict(FAIL, f"the candidate {error.reason}")


def parity(run: Run) -> Verdict:
    """Every workload, on several draws: the candidate's divergence from the reference against the library's own."""
    failures = []
    try:
        run.workers["baseline"] = build(run, "baseline")
        for case in run.question.seen_cases():
            failures += _check_parity(run, case)
    except Failed as error:
        raise PackFault(f"the library's model {error.reason}") from error
    return Verdict(FAIL, f"{SILENT_DRIFT}: {failures[0]}") if failures else Verdict(PASS)


def stack(run: Run) -> Verdict:
    """torch.compile takes the model in no more pieces than it takes the library's."""
    case = run.question.seen_cases()[0]
    found: dict[str, tuple[int, str]] = {}
    with _trial(run, case, 1) as trial:
        trial.fill(run.rng)
        for side in clock.SIDES:
            try:
                trial.bind(side)
                trial.poison(side, 0)
                asked = run.workers[side].ask("explain", run.question.plan["limits"]["compile_s"], binding=trial.binding)
                found[side] = testimony.breaks(asked)
            except Failed as error:
                if side == "baseline":
                    return Verdict(INCONCLUSIVE, f"torch cannot look at the library's model: {error.reason}")
                return Verdict(FAIL, f"{GRAPH_BREAK}: the candidate {error.reason}")
    if found["candidate"][0] > found["baseline"][0]:
        return Verdict(FAIL, f"{GRAPH_BREAK}: {found['candidate'][0]} breaks, the library's model has {found['baseline'][0]}: {found['candidate'][1]}")
    return Verdict(PASS, f"{found['candidate'][0]} graph breaks, as in the library's model" if found["candidate"][0] else "no graph breaks")


def throughput(run: Run) -> Verdict:
    """The model with the candidates in it against the library's, both eager, then both compiled; beside it what the modules themselves allow."""
    if run.question.plan["execution"] != "native":
        return Verdict("skip", f"{run.question.plan['execution']}: only native time is speed")
    timings, words = [], ""
    for case in run.question.seen_cases():
        with _trial(run, case, _sets(run, case)) as trial:
            timings.append(_time(run, trial, case.id, _BUDGETS * run.timing_budget_s))
            if len(timings) == 1:
                words = _look_inside(run, trial, case)
                if not run.is_quick:
                    _time_compiled(run, trial, case)
    run.speedup = clock.combine(timings)
    for timing in timings:
        if timing.speedup is None:
            return Verdict(timing.verdict, timing.reason)
    assert run.speedup, "every timing has a speedup"
    said = f"{run.speedup['geomean']:.2f}x ({run.speedup['low']:.2f}–{run.speedup['high']:.2f}) in the whole model{words}"
    if run.speedup["high"] < clock.NOT_SLOWER:
        return Verdict(FAIL, f"{SLOWER_IN_SITU}: {said}")
    if math.log(run.speedup["high"] / run.speedup["low"]) / 2 > clock.WIDE:
        return Verdict(INCONCLUSIVE, f"too unstable to tell: {said}")
    return Verdict(PASS, said)


MODEL_GATES: dict[str, Callable[[Run], Verdict]] = {
    "interface": interface,
    "state-dict": state_dict,
    "parity": parity,
    "stack": stack,
    "throughput": throughput,
}


@dataclass(frozen=True)
class _Distance:
    """How far an output is from the reference's."""

    divergence: float
    top1: float

    @classmethod
    def of(cls, found: torch.Tensor, wanted: torch.Tensor) -> _Distance:
        found, wanted = found.to(torch.float64), wanted.to(torch.float64)
        divergence = float((found - wanted).norm() / wanted.norm().clamp_min(1e-300))
        return cls(divergence, float((found.argmax(-1) == wanted.argmax(-1)).double().mean()))


def _check_parity(run: Run, case: Case) -> list[str]:
    floors, found, positions = [], [], 1
    reason = ""
    with _trial(run, case, 1) as trial:
        for _ in range(_DRAWS):
            trial.fill(run.rng)
            reason = reason or _answer(run, trial)
            if reason:
                break
            trial.expect(1)
            (wanted,) = trial.answers(None)
            floors.append(_Distance.of(trial.answers("baseline")[0], wanted))
            found.append(_Distance.of(trial.answers("candidate")[0], wanted))
            positions = max(1, wanted.numel() // wanted.shape[-1])
    (output,) = run.question.tensors("output")
    reason = reason or _judge_parity(floors, found, positions, run.question.dtype(output, case))
    observed = {
        "divergence": max((one.divergence for one in found), default=None),
        "noise_floor": max((one.divergence for one in floors), default=None),
        "top1": min((one.top1 for one in found), default=None),
        "top1_floor": min((one.top1 for one in floors), default=None),
    }
    run.floors[case.id] = observed["noise_floor"] or 0.0
    run.record(CaseResult("parity", case.id, case.values, "declared", FAIL if reason else PASS, reason, {output["name"]: observed}))
    return [f"{case.words}: {reason}"] if reason else []


def _answer(run: Run, trial: Trial) -> str:
    """Both sides' outputs for the first set; why the candidate has none, or ""."""
    for side in clock.SIDES:
        try:
            trial.bind(side)
            trial.poison(side, run.rng.getrandbits(62))
            trial.call(side)
            trial.collect(side, 1)
        except Failed as error:
            if side == "baseline":
                raise PackFault(f"the library's model {error.reason}") from error
            run.log = run.log or error.log
            return f"the candidate {error.reason}"
    return trial.damage("candidate") or ""


def _judge_parity(floors: list[_Distance], found: list[_Distance], positions: int, dtype: str) -> str:
    floor = max(max(one.divergence for one in floors), EPS[dtype] / 4)
    worst = max((one.divergence for one in found), key=lambda value: (value != value, value))
    if not worst <= _FLOORS * floor:
        top1 = min(one.top1 for one in found)
        return f"the outputs diverge by {worst:.2g} of their norm, {worst / floor:.1f} times the noise floor of {floor:.2g}; top-1 {top1:.1%}"
    missed, usual = (sum(1 - one.top1 for one in side) / len(side) for side in (found, floors))
    if missed > 2 * usual + 3 / positions:
        return f"top-1 agrees with the reference in {1 - missed:.1%} of the positions, the library's model in {1 - usual:.1%}"
    return ""


def _time(run: Run, trial: Trial, name: str, budget_s: float) -> clock.Timing:
    """One measurement; a timed output that is far from the library's on the same contents stops it."""
    pattern = run.timing_rng.getrandbits(62)
    bound = _TIMED_FLOORS * max(run.floors[trial.case.id], EPS[run.question.dtype(run.question.tensors("output")[0], trial.case)] / 4)
    answered: set[str] = set()
    now = "candidate"

    def pass_of(side: str, count: int) -> float:
        nonlocal now
        now = side
        return trial.timed_call(side, run.timing_rng.sample(range(count), count), pattern)

    def prepare(side: str, count: int) -> None:
        nonlocal now
        now = side
        trial.prepare(side, count)

    def refill(count: int) -> None:
        answered.clear()
        trial.fill(run.timing_rng, "declared", count)

    def verify(side: str, count: int) -> str | None:
        trial.collect(side, count)
        answered.add(side)
        if answered == set(clock.SIDES) and (far := trial.distance(count)) > bound:
            raise clock.Stopped(FAIL, f"{SILENT_DRIFT}: in a timed call the outputs are {far:.2g} of their norm from the library's (noise floor: {bound:.2g})")
        return trial.damage(side, count)

    before = conditions.sample(run.question.device)
    try:
        for side in clock.SIDES:
            now = side
            trial.bind(side)
        pace = clock.HOST if run.question.device == "cpu" else clock.DEVICE
        timing = clock.measure(pass_of, refill, verify, budget_s, run.timing_rng, trial.sets, 2 * budget_s, prepare, pace)
    except Failed as error:
        if now == "baseline":
            raise PackFault(f"the library's model {error.reason}") from error
        timing = clock.Timing(FAIL, f"in a timed call the candidate {error.reason}")
    around = conditions.describe(run.question.device, timing.sets[1] * trial.set_bytes, before)
    run.timing.append(TimingResult(name, False, timing.to_dict(), around))
    run.note("case", gate="throughput", case=name, verdict=timing.verdict, reason=timing.reason)
    return timing


def _time_compiled(run: Run, trial: Trial, case: Case) -> None:
    """The same after torch.compile, for the evidence; the verdict is that of eager."""
    for side in clock.SIDES:
        try:
            run.workers[side].ask("compile", 2 * run.question.plan["limits"]["compile_s"], binding=trial.binding)
        except Failed as error:
            run.facts["compiled"] = f"not measured: {_NAMES[side]} {error.reason}"
            return
    timing = _time(run, trial, f"{case.id} compiled", run.timing_budget_s)
    run.facts["compiled"] = timing.reason


def _look_inside(run: Run, trial: Trial, case: Case) -> str:
    """What share of the library's time is spent where candidates stand, how much faster these are there, and the most that can come of it (Amdahl)."""
    names = [name for found in _places(run, case).values() for name in found]
    seconds: dict[str, tuple[float, float]] = {}
    for side in clock.SIDES:
        try:
            total, inside = testimony.seconds(run.workers[side].ask("profile", 20 * run.question.call_s, binding=trial.binding, names=names))
        except Failed as error:
            run.facts["in_situ"] = f"not measured: {_NAMES[side]} {error.reason}"
            return ""
        seconds[side] = (max(total, _TINY_S), max(inside, _TINY_S))
    (total, inside), (_, candidate) = seconds["baseline"], seconds["candidate"]
    share, kernel = min(1.0, inside / total), inside / candidate
    bound = 1 / (1 - share + share / kernel)
    run.facts["in_situ"] = {"share": share, "kernel_speedup": kernel, "amdahl_bound": bound, "by": "hooks in both processes: testimony"}
    return f"; its modules {kernel:.2f}x in {share:.0%} of the time, which allows {bound:.2f}x"


def _trial(run: Run, case: Case, sets: int) -> Trial:
    sides = {side: run.workers[side] for side in clock.SIDES}
    trial = Trial(_with_state(run, case), case, sets, run.reference(), sides)
    trial.bind_reference()
    return trial


def _sets(run: Run, case: Case) -> int:
    if run.question.home != "cpu":
        return _SETS
    nbytes = sum(torch.Size(shape).numel() * 8 for shape in run.question.shapes(case).values())
    return max(2, min(_SETS, _INPUT_BYTES // max(1, nbytes)))


def _with_state(run: Run, case: Case) -> Question:
    return run.question.with_state(_library_state(run, case), case)


def _library_state(run: Run, case: Case) -> dict[str, Any]:
    return _ask_library(run, "state", case)


def _places(run: Run, case: Case) -> dict[str, list[str]]:
    """Task → the modules that its candidate stands for; raises Unusable where there is none."""
    places = _ask_library(run, "places", case, swaps=run.swaps)
    for swap in run.swaps:
        if not places[swap["task"]]:
            raise Unusable(f"nothing is replaced: the model has no `{swap['module']['target']}` called `{swap['modules']}`, for {swap['task']}")
    return places


def _ask_library(run: Run, what: str, case: Case, **content: Any) -> dict[str, Any]:
    key = f"{what} of {case.id}"
    try:
        if key not in run.library:
            run.library[key] = run.reference().ask(what, run.question.call_s, module=run.question.module(case), **content)
    except Failed as error:
        raise PackFault(f"the library's model {error.reason}") from error
    return run.library[key]
