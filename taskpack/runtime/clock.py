"""How long a call takes, and how much faster the candidate is: slopes between passes of two lengths, by the judge's own clock.

One block: fresh contents, a long pass of each side in random order; fresh contents, a short pass of each; and a pass of one call. The time of a
call is (t_long - t_short) / (n_long - n_short), so that what a pass costs by itself (a message, a wake-up, a synchronisation) cancels.

The speedup is the median over blocks of baseline slope / candidate slope, not the ratio of two medians. Measured on a virtual machine with two
cores under changing load, where one kernel's slope moves between 9 and 19 µs for seconds at a time (autocorrelation 0.5): candidates that are the
baseline came out 0.7 to 0.9 % from 1 (RMS of 28 runs of 60 blocks, for four kernels; 1.7 % for one of 0.5 µs) by the median of ratios, 1.6 to 2.3 % by the
ratio of medians, as both sides of a block share its conditions (autocorrelation of the ratio: about 0).

Calls are made from Python, so a call's own cost (0.3 to 0.7 µs through the C ABI) is in both slopes: kernels below some 10 µs differ by more than is seen.
`baseline_us` and `candidate_us` are medians by side, so their quotient may differ a little from `speedup`.
"""

from __future__ import annotations

import math
import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .interval import Estimate, ratio_interval

SIDES = ("baseline", "candidate")
_LENGTHS = 8
"""How many lengths a long or a short pass may have: more than a worker can build on, and few enough to prepare for each."""
_DISCARDED_BLOCKS = 2
_LEAST_BLOCKS = 15
"""Before this many an interval that looks narrow is luck."""
_LEAST_BLOCKS_EVER = 7
"""Measured even beyond the budget."""
_MOST_BLOCKS = 240
_BLOCKS_A_LOOK = 5
"""Blocks between two looks at the interval; `interval` is calibrated for it."""
_NARROW = 0.02
"""Half width of the interval, relative, at which measuring ends."""
WIDE = 0.15
"""Half width beyond which a measurement says nothing of a candidate that may be as fast as the baseline."""
_WIDE_BUT_CLEAR = 0.4
"""The same for one whose whole interval lies beyond 1 by more than WIDE, to either side."""
_DISAGREEMENT = 0.35
"""How far, as a logarithm, the speedup by short passes may lie from that by long ones (caches warm up within a pass)."""
_OWN_COST, _OWN_COST_S = 0.25, 3e-4
"""How much more a long pass may cost the candidate beside its calls than the baseline: as a part of its long pass, and at least in seconds."""
NOT_SLOWER = 0.98


@dataclass(frozen=True)
class Pace:
    """How long passes are to be, on one kind of device."""

    difference_s: float
    """What the long pass should take longer than the short one, for the faster side: far above what a pass's own cost changes from one to the next."""
    share: float
    """The part of the budget that a long pass of both sides may take, with fresh contents, reference answers and all that is looked at."""


HOST = Pace(5e-3, 1 / 40)
"""The scheduler's wake-ups cost some 50 µs."""
DEVICE = Pace(3e-3, 1 / 16)
"""On an H200, after `wake`, half of the passes of one call lie within 20 µs of their median; contents and answers take some 30 times the kernel's time."""


@dataclass(frozen=True)
class Timing:
    """What one case's measurement says; numbers are None where there is no valid measurement."""

    verdict: str
    """pass: not slower beyond noise; fail: slower, or a timed output was wrong; inconclusive."""
    reason: str
    baseline_us: float | None = None
    candidate_us: float | None = None
    speedup: float | None = None
    low: float | None = None
    high: float | None = None
    """low and high: the 95 % interval of the speedup."""
    samples: tuple[tuple[float, ...], tuple[float, ...]] = ((), ())
    """Slopes in µs, one a block: of the baseline, of the candidate. Noise may make single ones negative."""
    sets: tuple[int, int] = (0, 0)
    """Nominal lengths of the short and the long pass, in calls, each call on an input set of its own."""
    launch: str = "call"
    """How calls were launched: one by one ("call", the host's time is in it), or as captured graphs of whole passes ("graph", the device's alone)."""
    other: Timing | None = None
    """The same case launched the other way, which is not scored; None where there is no other."""

    @property
    def smallest_effect(self) -> float | None:
        """The least change, relative to no change, that this measurement would have told from none: the wider half of its interval."""
        if self.speedup is None or not self.low or not self.high:
            return None
        return max(self.speedup / self.low, self.high / self.speedup) - 1

    def to_dict(self) -> dict[str, Any]:
        numbers = {"baseline_us": self.baseline_us, "candidate_us": self.candidate_us, "speedup": self.speedup, "low": self.low, "high": self.high}
        numbers["smallest_effect"] = self.smallest_effect
        lists = {"samples": [list(side) for side in self.samples], "sets": list(self.sets)}
        other = {"other": {key: value for key, value in self.other.to_dict().items() if key not in lists}} if self.other else {}
        return {"verdict": self.verdict, "reason": self.reason, **numbers, **lists, "launch": self.launch, **other}


class Stopped(Exception):
    """The measurement ended early, with this verdict."""

    def __init__(self, verdict: str, reason: str) -> None:
        super().__init__(reason)
        self.verdict, self.reason = verdict, reason


@dataclass
class _Meter:
    """Runs checked passes and keeps what each block observed."""

    pass_of: Callable[[str, int], float]
    refill: Callable[[int], None]
    verify: Callable[[str, int], str | None]
    rng: random.Random
    prepare: Callable[[str, int], None]
    slopes: dict[str, list[float]] = field(default_factory=lambda: {side: [] for side in SIDES})
    """Seconds a call, between the short and the long pass."""
    starts: dict[str, list[float]] = field(default_factory=lambda: {side: [] for side in SIDES})
    """Seconds a call, between the pass of one call and the short one; empty where the short pass is too short."""
    longs: dict[str, list[tuple[float, float]]] = field(default_factory=lambda: {side: [] for side in SIDES})
    """Seconds of the long pass, and the part that the slope does not explain."""

    def both(self, count: int) -> dict[str, float]:
        """Seconds of one pass of each side over `count` sets with the same fresh contents."""
        for side in SIDES:
            self.prepare(side, count)
        self.refill(count)
        seconds = {}
        for side in self.rng.sample(SIDES, 2):
            seconds[side] = self.pass_of(side, count)
            if not (math.isfinite(seconds[side]) and seconds[side] > 0):
                raise Stopped("inconclusive", f"the clock read {seconds[side]} s for a pass of {count} calls of the {side}")
            if wrong := self.verify(side, count):
                verdict = "fail" if side == "candidate" else "inconclusive"
                raise Stopped(verdict, f"a timed call's output was wrong: {wrong}" if side == "candidate" else f"the baseline's own output was wrong: {wrong}")
        return seconds

    def block(self, short: int, long: int) -> None:
        longer = self._vary(long, (long - short) // 8)
        shorter = self._vary(short, short // 4)
        at_long, at_short = self.both(longer), self.both(shorter)
        for side in SIDES:
            slope = (at_long[side] - at_short[side]) / (longer - shorter)
            self.slopes[side].append(slope)
            self.longs[side].append((at_long[side], at_long[side] - longer * slope))
        if shorter >= 4:
            at_one = self.both(1)
            for side in SIDES:
                self.starts[side].append((at_short[side] - at_one[side]) / (shorter - 1))

    def _vary(self, most: int, spread: int) -> int:
        """One of the lengths above `most - spread`."""
        step = max(1, math.ceil(spread / _LENGTHS))
        return most - step * self.rng.randrange(max(1, math.ceil(spread / step)))

    def forget(self) -> None:
        for values in (*self.slopes.values(), *self.starts.values()):
            values.clear()
        for passes in self.longs.values():
            passes.clear()


def measure(
    pass_of: Callable[[str, int], float],
    refill: Callable[[int], None],
    verify: Callable[[str, int], str | None],
    budget_s: float,
    rng: random.Random,
    max_sets: int = 1024,
    patience_s: float = 0.0,
    prepare: Callable[[str, int], None] = lambda _side, _count: None,
    pace: Pace = HOST,
) -> Timing:
    """Times "baseline" against "candidate" for about `budget_s` seconds, and `patience_s` more where the interval is still too wide to be of use.

    `refill(n)` puts contents never seen before into the first n input sets. `pass_of(side, n)` poisons the first n outputs, then runs one call of `side` on
    each of the first n sets, and returns the seconds from sending the request to having the answer. `verify(side, n)` looks at the n outputs and
    returns what is wrong, or None. `prepare(side, n)` comes before `refill`, so that what is paid for once is not timed. `max_sets` (at least 2) is
    how many input sets there are. An exception from one of the four ends the measurement and goes through.
    """
    if max_sets < 2:
        raise ValueError("a slope needs at least 2 input sets")
    meter = _Meter(pass_of, refill, verify, rng, prepare)
    ends = time.monotonic() + budget_s
    sets = (0, 0)
    try:
        sets = _choose_lengths(meter, budget_s, max_sets, pace)
        _run_blocks(meter, sets, ends, patience_s)
        return _conclude(meter, sets)
    except Stopped as stopped:
        return Timing(stopped.verdict, stopped.reason, samples=_samples(meter), sets=sets)


def _choose_lengths(meter: _Meter, budget_s: float, max_sets: int, pace: Pace) -> tuple[int, int]:
    """Pass lengths (short, long) from a pilot: passes that double until the faster side's takes as long as the difference wanted.

    The faster side decides, unless a long pass of both would then take more than its share of the budget.
    """
    meter.both(1)
    first = meter.both(1)
    count, seconds, spent = 1, first, 0.0
    while count < max_sets and min(seconds.values()) < pace.difference_s and spent < budget_s * pace.share:
        count = min(2 * count, max_sets)
        for side in SIDES:
            meter.prepare(side, count)  # paid for once, so no part of what a block takes
        begin = time.monotonic()
        seconds = meter.both(count)
        spent = time.monotonic() - begin
    before = first if count > 1 else dict.fromkeys(SIDES, 0.0)
    # A quarter of the whole is a guard against a first pass that was disturbed.
    call = min(max((seconds[side] - before[side]) / max(1, count - 1), seconds[side] / count / 4) for side in SIDES)
    wanted = math.ceil(pace.difference_s / call * 4 / 3)
    affordable = math.floor(budget_s * pace.share / (spent / count) * 4 / 5) if spent else max_sets
    long = max(2, min(max_sets, wanted, affordable))
    return max(1, long // 4), long


def _run_blocks(meter: _Meter, sets: tuple[int, int], ends: float, patience_s: float) -> None:
    """Blocks until the interval is narrow, or the time is over and it is of use; the first ones warm caches and clocks and are thrown away."""
    for _ in range(_DISCARDED_BLOCKS):
        meter.block(*sets)
    meter.forget()
    done, is_late = 0, False
    while done < _MOST_BLOCKS and (done < _LEAST_BLOCKS_EVER or time.monotonic() < ends + patience_s):
        meter.block(*sets)
        done += 1
        was_late, is_late = is_late, time.monotonic() >= ends and done >= _LEAST_BLOCKS_EVER
        if (is_late and not was_late) or (done >= _LEAST_BLOCKS and done % _BLOCKS_A_LOOK == 0):
            estimate = ratio_interval(*_samples(meter), meter.rng)
            if estimate and estimate.half_width <= (_useful(estimate) if is_late else _NARROW):
                return


def _conclude(meter: _Meter, sets: tuple[int, int]) -> Timing:
    samples = _samples(meter)
    baseline_us, candidate_us = (statistics.median(side) for side in samples)
    for side, median_us in zip(SIDES, (baseline_us, candidate_us), strict=True):
        if median_us <= 0:
            raise Stopped("inconclusive", f"longer passes of the {side} took no longer than short ones: {sets[1]} calls are too few, or were not all made")
    estimate = ratio_interval(*samples, meter.rng)
    if estimate is None:
        raise Stopped("inconclusive", "too many passes were disturbed: longer ones took no longer than short ones")
    verdict, reason = _judge(estimate, len(samples[0]), _speedup_by_short_passes(meter))
    if verdict == "pass":
        _refuse_own_cost(meter)
    return Timing(verdict, reason, baseline_us, candidate_us, estimate.ratio, estimate.low, estimate.high, samples, sets)


def _refuse_own_cost(meter: _Meter) -> None:
    """What a pass costs by itself cancels in a slope, so a candidate that draws out short passes would look fast."""
    baseline, candidate = (statistics.median(own for _, own in meter.longs[side]) for side in SIDES)
    whole = statistics.median(seconds for seconds, _ in meter.longs["candidate"])
    if candidate - baseline > max(_OWN_COST_S, _OWN_COST * whole):
        more = f"{1e6 * (candidate - baseline):.0f} of {1e6 * whole:.0f} µs"
        raise Stopped("inconclusive", f"a long pass costs the candidate {more} more beside its calls than the baseline, and that is in no speedup")


def _judge(estimate: Estimate, blocks: int, by_short: tuple[float, float] | None) -> tuple[str, str]:
    words = f"{estimate.ratio:.2f}x ({estimate.low:.2f}–{estimate.high:.2f})"
    if by_short:
        ratio, error = by_short
        if abs(math.log(ratio / estimate.ratio)) > _DISAGREEMENT + 4 * error + math.log1p(estimate.half_width):
            return "inconclusive", f"short passes say {ratio:.2f}x, long ones {words}"
    if blocks < _LEAST_BLOCKS_EVER or estimate.half_width > _useful(estimate):
        return "inconclusive", f"too unstable to tell: {words} after {blocks} blocks; stop what else runs on this machine, or measure longer"
    if estimate.high < NOT_SLOWER:
        return "fail", f"{words}, slower than the baseline"
    return "pass", f"{words}, no difference from the baseline" if estimate.low <= 1.0 <= estimate.high else words


def _useful(estimate: Estimate) -> float:
    """The half width up to which an interval says something."""
    return _WIDE_BUT_CLEAR if estimate.low > 1 + WIDE or estimate.high < 1 - WIDE else WIDE


def _speedup_by_short_passes(meter: _Meter) -> tuple[float, float] | None:
    """The ratio of the medians of both sides' slopes between one call and the short pass, and its standard error as a logarithm; None where unknown."""
    relative_errors, medians = [], []
    for values in meter.starts.values():
        if len(values) < _LEAST_BLOCKS_EVER or (median := statistics.median(values)) <= 0:
            return None
        deviation = statistics.median(abs(value - median) for value in values)
        relative_errors.append(1.86 * deviation / math.sqrt(len(values)) / median)  # 1.4826 from MAD to sigma, 1.2533 for a median
        medians.append(median)
    return medians[0] / medians[1], math.hypot(*relative_errors)


def _samples(meter: _Meter) -> tuple[tuple[float, ...], tuple[float, ...]]:
    baseline, candidate = (tuple(1e6 * slope for slope in meter.slopes[side]) for side in SIDES)
    return baseline, candidate


def combine(timings: Sequence[Timing]) -> dict[str, float] | None:
    """The geometric mean of the valid timings' speedups with its 95 % interval; None unless every one has a speedup.

    Cases are measured one after another, so their errors are independent: half widths add in quadrature, as logarithms.
    """
    if not timings:
        return None
    logs, below, above = [], [], []
    for timing in timings:
        if timing.speedup is None or timing.low is None or timing.high is None:
            return None
        logs.append(math.log(timing.speedup))
        below.append(math.log(timing.speedup / timing.low))
        above.append(math.log(timing.high / timing.speedup))
    mean, count = statistics.fmean(logs), len(logs)
    return {"geomean": math.exp(mean), "low": math.exp(mean - math.hypot(*below) / count), "high": math.exp(mean + math.hypot(*above) / count)}
