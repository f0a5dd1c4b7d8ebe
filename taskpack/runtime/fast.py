"""The gate *fast*: baseline and candidate timed side by side, every timed call on fresh contents and every timed output checked."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, field, replace

import torch

from . import clock, conditions
from .domains import Answered, Failed
from .evidence import FAIL, INCONCLUSIVE, PASS, SKIP, TimingResult, Verdict
from .memory import size_of
from .question import Case, PackFault
from .roof import hold_under, roof
from .run import Run, build
from .trial import Trial

_INPUT_BYTES = 256 << 20
"""Input sets of one case on a CPU together take at most this."""
_SHARE_OF_DEVICE = 0.3
"""On a device all sets take at most this part of its memory, with the judge's copies of inputs, both sides' outputs and the answers in 8 bytes an element."""
_PATIENCE = 6
"""Budgets more that a scored case may take while noise leaves its interval too wide to be of use."""
_MOST_SETS = 1024
_LOOKS, _MOST_LOOKS = 8, 60
"""Passes of the candidate that are stopped midway: so many are wanted that had neither just begun nor nearly ended, of at most so many."""
_STOPPED_S = 5e-4
"""Such a pass takes at least, where there are sets for it: of a shorter one the end is often seen before the judge has its turn again."""
_UNEVEN = 0.3
"""How far the part of a pass's calls that are made may be, in the median, from the part of its processor time."""
_MANY = 32
"""Calls a pass from which on that is asked: of fewer each takes some 0.2 ms, of which merging saves little, and threads that wait by spinning blur it."""
_OTHER_SHARE = 0.25
"""Of a scored case's budget, for the time that is reported and not scored."""
_SURPRISES, _FEW = 5, 2
"""Passes of each side that are asked for without a word before, on a device; of a length of which there were at least so many with one."""
_AHEAD, _AHEAD_S = 0.1, 3e-4
"""How much more such a pass may cost the candidate than the baseline: as a part of its usual pass, and at least in seconds."""
_UNSEEN_TIMED = 2


def fast(run: Run) -> Verdict:
    """Only native time is speed. Seen cases are scored; some unseen ones are timed beside them."""
    execution = run.question.plan["execution"]
    if execution != "native":
        return Verdict(SKIP, f"{execution}: only native time is speed")
    cases = [case for case in run.question.seen_cases() if case.is_timed and run.unsupported(case) is None]
    if not cases:
        return Verdict(SKIP, "no timed case can run on this device")
    _prepare_baseline(run)
    scored = [_time(run, case, run.timing_budget_s, _PATIENCE * run.timing_budget_s) for case in cases]
    unseen = [case for case in run.unseen if run.unsupported(case) is None]
    for case in unseen[:_UNSEEN_TIMED]:
        _time(run, case, run.timing_budget_s / 2)
    return _conclude(run, cases, scored)


def _prepare_baseline(run: Run) -> None:
    try:
        run.workers["baseline"] = build(run, "baseline")
    except Failed as error:
        raise PackFault(f"the baseline {error.reason}") from error


def _time(run: Run, case: Case, budget_s: float, patience_s: float = 0.0) -> clock.Timing:
    sides = {side: run.workers[side] for side in clock.SIDES}
    with Trial(run.question, case, _sets(run, case), run.reference(), sides) as trial:
        trial.bind_reference()
        before = conditions.sample(run.question.device)
        timing = _measure(run, trial, budget_s, patience_s)
        limit = roof(run.question, case, timing.sets[1]) if timing.speedup is not None else None
        timing = hold_under(timing, limit)
        around = conditions.describe(run.question.device, timing.sets[1] * trial.set_bytes, before)
    run.timing.append(TimingResult(case.id, case.is_unseen, timing.to_dict(), around, limit.least_us if limit else None))
    run.note("case", gate="fast", case=case.id, verdict=timing.verdict, reason=timing.reason)
    return timing


@dataclass
class _Passes:
    """What the clock asks for: contents, passes, and a look at the outputs."""

    run: Run
    trial: Trial
    pattern: int
    now: str = "candidate"
    """The side that is at work."""
    prepared: set[int] = field(default_factory=set)
    took_s: dict[str, dict[int, list[float]]] = field(default_factory=lambda: {side: {} for side in clock.SIDES})
    """Of each side: length of a pass → the seconds that those of that length took."""

    def refill(self, count: int) -> None:
        """Contents, and at once the answers, so that outputs are looked at as soon as a pass has ended."""
        self.trial.fill(self.run.timing_rng, "declared", count)
        self.trial.expect(count)

    def prepare(self, side: str, count: int) -> None:
        if self.trial.is_captured and count not in self.prepared:  # a graph is launched on sound contents
            self.prepared.add(count)
            self.trial.fill(self.run.timing_rng, "declared", count)
            for each in clock.SIDES:
                self.trial.poison(each, self.pattern, count)
            self.trial.expect(count)  # the reference's graphs are made now, too
        self.now = side
        self.trial.prepare(side, count)

    def pass_of(self, side: str, count: int) -> float:
        self.now = side
        seconds = self.trial.timed_call(side, self._order(count), self.pattern)
        self.took_s[side].setdefault(count, []).append(seconds)
        return seconds

    def _order(self, count: int) -> list[int]:
        """Of the sets in a pass: any, so that one operation over memory as it lies does not look like calls."""
        return self.run.timing_rng.sample(range(count), count)

    def take_by_surprise(self, sets: tuple[int, int]) -> clock.Stopped | None:
        """Why a pass seems to have been worked on before it was asked for: of captured passes a side is woken when its contents are already there."""
        if not self.trial.is_captured:
            return None
        lengths = [length for length, took in self.took_s["candidate"].items() if sets[0] < length <= sets[1] and len(took) >= _FEW]
        if not lengths:
            return None
        count = self.run.timing_rng.choice(lengths)
        seconds: dict[str, list[float]] = {side: [] for side in clock.SIDES}
        for _ in range(_SURPRISES):
            self.refill(count)
            for side in self.run.timing_rng.sample(clock.SIDES, 2):
                self.now = side
                seconds[side].append(self.trial.timed_call(side, self._order(count), self.pattern, is_woken=False))
                if wrong := self.verify(side, count):
                    return clock.Stopped(FAIL if side == "candidate" else INCONCLUSIVE, f"a pass that the {side} was not woken for was wrong: {wrong}")
        usual = {side: min(self.took_s[side][count]) for side in clock.SIDES}  # the least, as single passes of either kind may be disturbed by a millisecond
        baseline, candidate = (min(seconds[side]) - usual[side] for side in clock.SIDES)
        if candidate - baseline <= max(_AHEAD_S, _AHEAD * usual["candidate"]):
            return None
        more = f"{1e6 * (candidate - baseline):.0f} µs more than the baseline, of {1e6 * usual['candidate']:.0f} µs"
        return clock.Stopped(INCONCLUSIVE, f"a pass that it was not woken for costs the candidate {more}: it works ahead")

    def stop_midway(self, call_us: float) -> clock.Stopped | None:
        """Why calls of a pass are not made one after another, each when its turn has come; merged calls would be timed as many and be one.

        Only where stopping the process stops the work, and its memory is the judge's: on a CPU.
        """
        count = min(self.trial.sets, max(*self.took_s["candidate"], math.ceil(_STOPPED_S / call_us / 1e-6))) if call_us else 1
        self.prepare("candidate", count)
        ahead: list[float] = []
        for _ in range(_MOST_LOOKS if self.run.question.device == "cpu" and count > 1 else 0):
            self.refill(count)
            after_s = self.run.timing_rng.uniform(0.05, 0.7) * call_us * 1e-6 * count
            part, made, wrong = self.trial.stopped_call("candidate", self._order(count), after_s, self.pattern)
            wrong = wrong or self.verify("candidate", count)
            if wrong:
                return clock.Stopped(FAIL, f"a pass of {count} calls was stopped midway: {wrong}")
            if part is not None and 0.1 < part < 0.9:
                ahead.append(made / count - part)
            if len(ahead) == _LOOKS:
                break
        uneven = statistics.median(ahead) if len(ahead) == _LOOKS else 0.0
        if count < _MANY or abs(uneven) < _UNEVEN:
            return None
        words = f"stopped midway, passes of {count} calls had made {abs(uneven):.0%} {'more' if uneven > 0 else 'fewer'} of them"
        return clock.Stopped(INCONCLUSIVE, f"{words} than of their work: calls are merged or put off")

    def verify(self, side: str, count: int) -> str | None:
        self.trial.collect(side, count)
        return self.trial.first_wrong(side, count) or self.trial.damage(side, count)

    def start(self) -> bool:
        """Both sides bound; whether both can be launched as graphs."""
        self.refill(1)
        can = []
        for side in clock.SIDES:
            self.now = side
            self.trial.bind(side)
            self.trial.poison(side, self.pattern)
            can.append(self.trial.can_be_captured(side))
        return all(can)

    def measure(self, budget_s: float, patience_s: float) -> clock.Timing:
        """As calls are launched now; without a speedup where a pass that is looked at in another way shows that there is none."""
        self.took_s = {side: {} for side in clock.SIDES}
        run, trial = self.run, self.trial
        pace = clock.HOST if run.question.device == "cpu" else clock.DEVICE
        timing = clock.measure(self.pass_of, self.refill, self.verify, budget_s, run.timing_rng, trial.sets, patience_s, self.prepare, pace)
        timing = replace(timing, launch="graph" if trial.is_captured else "call")
        if timing.speedup is not None and (stopped := self.stop_midway(timing.candidate_us or 0.0) or self.take_by_surprise(timing.sets)):
            return replace(timing, verdict=stopped.verdict, reason=stopped.reason, speedup=None, low=None, high=None)
        return timing


def _measure(run: Run, trial: Trial, budget_s: float, patience_s: float) -> clock.Timing:
    """The clock's measurement; a candidate that fails in a timed call fails the gate, a baseline that does is the pack's fault."""
    passes = _Passes(run, trial, run.timing_rng.getrandbits(62))
    try:
        can_be_captured = passes.start()
        trial.is_captured = can_be_captured and run.question.plan["timing"]["score"] == "device"
        timing = passes.measure(budget_s, patience_s)
        if can_be_captured and patience_s and timing.speedup is not None:
            trial.is_captured = not trial.is_captured
            timing = _add_other(passes, timing, _OTHER_SHARE * budget_s)
    except Failed as error:
        if passes.now == "baseline":
            raise PackFault(f"the baseline {error.reason}") from error
        run.log = run.log or error.log
        return clock.Timing(FAIL, f"in a timed call the candidate {error.reason}")
    return timing


def _add_other(passes: _Passes, timing: clock.Timing, budget_s: float) -> clock.Timing:
    """The timing with what the other way to launch says, or that alone where it shows a wrong answer; a way that cannot be gone decides nothing."""
    try:
        other = passes.measure(budget_s, 0.0)
    except Answered as error:
        other = clock.Timing(INCONCLUSIVE, f"launched so, the {passes.now} {error.reason}", launch="graph" if passes.trial.is_captured else "call")
    return other if other.verdict == FAIL and other.speedup is None else replace(timing, other=other)


def _sets(run: Run, case: Case) -> int:
    question, shapes = run.question, run.question.shapes(case)

    def nbytes(*roles: str) -> int:
        return sum(size_of(shapes[a["name"]], question.dtype(a, case)) for a in question.tensors(*roles))

    if question.home == "cpu":
        return max(2, min(_MOST_SETS, _INPUT_BYTES // max(1, nbytes("input", "inout"))))
    answers = 8 * sum(math.prod(shapes[a["name"]]) for a in question.tensors("inout", "output"))
    each = 2 * nbytes("input", "inout") + 2 * nbytes("inout", "output") + answers
    most = int(torch.cuda.get_device_properties(0).total_memory * _SHARE_OF_DEVICE)
    return max(2, min(_MOST_SETS, most // max(1, each)))


def _conclude(run: Run, cases: list[Case], scored: list[clock.Timing]) -> Verdict:
    """Wrong output before everything, and then there is no speedup; then whether all were measured; then slower or not, over all scored cases together."""
    for case, timing in zip(cases, scored, strict=True):
        if timing.verdict == FAIL and timing.speedup is None:
            return Verdict(FAIL, f"{case.words}: {timing.reason}")
    for entry in run.timing:
        if entry.is_unseen and entry.measured["verdict"] == FAIL and entry.measured["speedup"] is None:
            return Verdict(FAIL, f"`{entry.case}`: {entry.measured['reason']}")
    run.speedup = clock.combine(scored)
    for case, timing in zip(cases, scored, strict=True):
        if timing.verdict == INCONCLUSIVE:
            return Verdict(INCONCLUSIVE, f"{case.words}: {timing.reason}")
    if run.speedup is None:
        return Verdict(INCONCLUSIVE, "no speedup could be measured")
    mean, low, high = run.speedup["geomean"], run.speedup["low"], run.speedup["high"]
    words = f"{mean:.2f}x ({low:.2f}–{high:.2f})"
    if high < clock.NOT_SLOWER:
        return Verdict(FAIL, f"{words}, slower than the baseline")
    return Verdict(PASS, words if low > 1 else f"{words}, no difference from the baseline" if high >= 1 else words)
