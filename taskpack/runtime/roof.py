"""The physical roof: the least time that a device can take for a call, by the op's declared cost and the target's peak rates."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from . import conditions
from .clock import Timing
from .evidence import INCONCLUSIVE
from .question import Case, Question

_MARGIN = 0.05
"""A time has to lie under the roof by more: the clock errs by some 2 % on a device, and rates are rounded by who publishes them."""


@dataclass(frozen=True)
class Roof:
    """The least microseconds of a call, and why it is not less."""

    least_us: float
    words: str


def roof(question: Question, case: Case, calls: int) -> Roof | None:
    """Of a case that is timed by passes of `calls` calls; None where the op has no cost or the target no peak rates that apply.

    Arithmetic is held against the highest rate of any dtype, as a candidate may compute in a lower precision where the tolerance lets it.
    Of the bytes of a pass, a last-level cache may hold as many as it has at the start, read already, and as many at the end, not written yet.
    """
    target = question.plan["target"]
    cost = question.expressions.cost(**case.values)
    peak: Mapping[str, float] = target["peak"]
    rates = {name: rate for name, rate in peak.items() if name != "bandwidth"}
    flops, nbytes, cache = _number(cost.get("flops")), _number(cost.get("bytes")), _cache_bytes(question)
    found: list[Roof] = []
    if rates and flops:
        name = max(rates, key=lambda each: rates[each])
        found.append(Roof(1e6 * flops / rates[name], f"{flops:.3g} operations at the {name} rate of {rates[name]:.4g} a second"))
    if "bandwidth" in peak and nbytes and cache is not None:
        moved = max(0.0, nbytes - 2 * cache / calls)
        found.append(Roof(1e6 * moved / peak["bandwidth"], f"{moved:.3g} bytes that no cache holds at {peak['bandwidth']:.4g} bytes/s"))
    return max(found, key=lambda each: each.least_us, default=None)


def hold_under(timing: Timing, limit: Roof | None) -> Timing:
    """The timing, without a speedup where one of the sides is faster than the device can be."""
    if limit is None or timing.speedup is None or timing.baseline_us is None or timing.candidate_us is None:
        return timing
    least_us = limit.least_us * (1 - _MARGIN)
    if timing.baseline_us < least_us:
        who, took_us, cause = "the baseline", timing.baseline_us, "the op's cost or the target's peak rates are wrong"
    elif timing.candidate_us < least_us:
        who, took_us, cause = "the candidate", timing.candidate_us, "it does not do all of the work, or the op's cost is wrong"
    else:
        return timing
    words = f"{who} takes {took_us:.3g} µs a call, and the device at least {limit.least_us:.3g} µs ({limit.words}): {cause}"
    return replace(timing, verdict=INCONCLUSIVE, reason=words, speedup=None, low=None, high=None)


def _number(said: Any) -> float:
    """Zero for what is UNKNOWN, not finite or no cost at all."""
    return float(said) if isinstance(said, int | float) and math.isfinite(said) and said > 0 else 0.0


def _cache_bytes(question: Question) -> int | None:
    """Of the largest cache that the target pack or the device knows."""
    limits = question.plan["target"]["limits"]
    sizes = [limits.get("l2-bytes"), limits.get("l3-bytes"), conditions.cache_bytes(question.device)]
    return max((int(size) for size in sizes if size), default=None)
