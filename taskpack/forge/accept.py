"""What a harness's result says of a proposal that was measured against its stage's input."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from taskpack.packs.pipeline import Accept

from .trials import ACCEPTED, INCONCLUSIVE, NO_GAIN, REFUSED, VERIFIED, WORSE, WRONG


def judge_result(result: Mapping[str, Any], accept: Accept) -> tuple[str, str]:
    """The outcome and why. Only native time can show a gain; where there is none, being right is all that can be shown."""
    for gate in result["gates"]:
        if gate["gate"] != "fast" and gate["verdict"] not in ("pass", "skip"):
            outcome = {"inconclusive": INCONCLUSIVE}.get(gate["verdict"], REFUSED if gate["gate"] == "rules" else WRONG)
            return outcome, f"{gate['gate']}: {gate['reason']}"
    fast = next((gate for gate in result["gates"] if gate["gate"] == "fast"), None)
    if fast is None or fast["verdict"] == "skip":
        return VERIFIED, f"right, not measured: {fast['reason'] if fast else 'no gate *fast*'}"
    if result["speedup"] is None or fast["verdict"] == "inconclusive":
        return (WRONG if fast["verdict"] == "fail" else INCONCLUSIVE), f"fast: {fast['reason']}"
    return _measured(result, accept)


def _measured(result: Mapping[str, Any], accept: Accept) -> tuple[str, str]:
    speedup = result["speedup"]
    words = f"{speedup['geomean']:.2f}x ({speedup['low']:.2f}–{speedup['high']:.2f})"
    worse = [f"`{case}` {low_to_high}" for case, high, low_to_high in _cases(result) if high < 1 - accept.regression]
    if speedup["low"] <= 1 + accept.gain:
        wanted = f"more than {1 + accept.gain:.2f}x" if accept.gain else "faster"
        return NO_GAIN, f"{words} against the stage's input, want {wanted} beyond noise"
    if worse:
        return WORSE, f"{words} against the stage's input, but slower in {', '.join(worse)}"
    return ACCEPTED, f"{words} against the stage's input"


def _cases(result: Mapping[str, Any]) -> Iterator[tuple[str, float, str]]:
    """Scored cases with a measurement: id, upper end of the interval, the speedup in words."""
    for timing in result["timing"]:
        if not timing["unseen"] and timing["high"] is not None:
            yield timing["case"], timing["high"], f"{timing['speedup']:.2f}x ({timing['low']:.2f}–{timing['high']:.2f})"
