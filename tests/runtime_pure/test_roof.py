from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from taskpack.runtime.clock import Timing
from taskpack.runtime.question import Case, Question
from taskpack.runtime.roof import Roof, hold_under, roof

CASE = Case("n", {"rows": 1000}, {})
H200 = {"bandwidth": 4.8e12, "float32": 67e12, "float16": 989.5e12}


def asked(peak: dict[str, float], cost: dict[str, Any], limits: dict[str, float] | None = None) -> Question:
    target = {"device": "cuda", "limits": limits or {"l2-bytes": 0}, "peak": peak}
    return Question({"target": target}, SimpleNamespace(cost=lambda **_values: cost), Path())  # type: ignore[arg-type]


def test_bytes_over_the_bandwidth_less_what_a_cache_may_hold() -> None:
    question = asked(H200, {"bytes": 48e6, "flops": 1e6}, {"l2-bytes": 60e6})

    long, short = roof(question, CASE, 1000), roof(question, CASE, 5)

    assert long is not None
    assert short is not None
    assert long.least_us == pytest.approx((48e6 - 120e3) / 4.8e12 * 1e6)
    assert short.least_us == pytest.approx((48e6 - 24e6) / 4.8e12 * 1e6)
    assert "bytes/s" in long.words


def test_a_pass_that_fits_into_the_cache_has_no_roof_by_bytes() -> None:
    found = roof(asked(H200, {"bytes": 1e6, "flops": 1e3}, {"l2-bytes": 60e6}), CASE, 100)

    assert found is not None
    assert found.least_us == pytest.approx(1e3 / 989.5e12 * 1e6)


def test_arithmetic_is_held_against_the_highest_rate() -> None:
    found = roof(asked(H200, {"bytes": 1e3, "flops": 2 * 8192.0**3}), CASE, 10)

    assert found is not None
    assert found.least_us == pytest.approx(2 * 8192.0**3 / 989.5e12 * 1e6)
    assert "float16" in found.words


@pytest.mark.parametrize(
    ("peak", "cost", "limits"),
    [
        ({}, {"bytes": 1e9, "flops": 1e9}, None),
        (H200, {}, None),
        ({"bandwidth": 4.8e12}, {"bytes": 1e9, "flops": 1e9}, {"warp-size": 32}),
        (H200, {"bytes": float("nan"), "flops": float("inf")}, None),
        (H200, {"bytes": None, "flops": None}, None),
    ],
    ids=["no rates", "no cost", "no cache known", "not finite", "unknown"],
)
def test_where_something_is_not_known_there_is_no_roof(peak: dict[str, float], cost: dict[str, Any], limits: dict[str, float] | None) -> None:
    assert roof(asked(peak, cost, limits), CASE, 100) is None


def timing(baseline_us: float, candidate_us: float) -> Timing:
    return Timing("pass", "", baseline_us, candidate_us, baseline_us / candidate_us, 1.0, 3.0)


@pytest.mark.parametrize("candidate_us", [9.6, 10.0, 200.0])
def test_times_above_the_roof_stand(candidate_us: float) -> None:
    measured = timing(20.0, candidate_us)

    assert hold_under(measured, Roof(10.0, "")) is measured
    assert hold_under(measured, None) is measured


def test_a_candidate_faster_than_the_device_has_no_speedup() -> None:
    held = hold_under(timing(20.0, 9.4), Roof(10.0, "48 bytes at 4.8 bytes/s"))

    assert (held.verdict, held.speedup, held.low, held.high) == ("inconclusive", None, None, None)
    assert held.reason.startswith("the candidate takes 9.4 µs a call, and the device at least 10 µs (48 bytes at 4.8 bytes/s)")
    assert (held.baseline_us, held.candidate_us) == (20.0, 9.4)


def test_a_baseline_faster_than_the_device_tells_of_a_wrong_pack() -> None:
    held = hold_under(timing(5.0, 4.0), Roof(10.0, ""))

    assert held.verdict == "inconclusive"
    assert held.reason.startswith("the baseline takes 5 µs a call")
    assert held.reason.endswith("the op's cost or the target's peak rates are wrong")
