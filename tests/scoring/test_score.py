"""Scores computed by hand, on scripted evidence."""

from typing import Any

import pytest

from taskpack.packs.suite import POLICIES
from taskpack.runs.folder import Header, Unit
from taskpack.scoring.score import Scoring, combine_scores, score_unit
from taskpack.scoring.summary import summarise_run

ARENA = Scoring(POLICIES["arena"].unit, POLICIES["arena"].aggregate)
GEOMEAN = Scoring(POLICIES["geomean"].unit, POLICIES["geomean"].aggregate)


def _result(*verdicts: str, speedup: float | None = None, execution: str = "native", is_baseline: bool = False, timing: tuple[Any, ...] = ()) -> dict[str, Any]:
    """Of a harness whose gates compile, correct, general and fast said `verdicts`; those that are not given were not reached."""
    said = (*verdicts, *["skip"] * (4 - len(verdicts)))
    return {
        "task": "local/softmax",
        "family": "cpp2cpp",
        "target": "targets/cpu",
        "execution": execution,
        "candidate_is_baseline": is_baseline,
        "gates": [{"gate": gate, "verdict": verdict, "reason": ""} for gate, verdict in zip(("compile", "correct", "general", "fast"), said, strict=True)],
        "cases": [],
        "timing": [{"case": "a", "unseen": unseen, "verdict": verdict, "speedup": number} for unseen, verdict, number in timing],
        "speedup": {"geomean": speedup, "low": speedup, "high": speedup} if speedup else None,
    }


FASTER = _result("pass", "pass", "pass", "pass", speedup=1.8)
SLOWER = _result("pass", "pass", "pass", "fail", speedup=0.5)
IDENTICAL = _result("pass", "pass", "pass", "pass", speedup=1.01, is_baseline=True)
ONLY_SEEN = _result("pass", "pass", "fail")
WRONG = _result("pass", "fail")
BROKEN = _result("fail")
EMULATED = _result("pass", "pass", "pass", "skip", execution="emulated")
EMULATED_AND_FAST = _result("pass", "pass", "pass", "skip", speedup=9.0, execution="emulated")
UNDECIDED = _result("pass", "pass", "pass", "inconclusive", speedup=1.4)
CAUGHT = _result("pass", "pass", "pass", "fail", speedup=3.0, timing=((False, "fail", None), (False, "pass", 3.0)))
CAUGHT_UNSEEN = _result("pass", "pass", "pass", "fail", speedup=3.0, timing=((True, "fail", None), (False, "pass", 3.0)))


@pytest.mark.parametrize(
    ("result", "arena", "geomean", "is_partial"),
    [
        (FASTER, 20 + 100 + 180, 1.8, False),
        (SLOWER, 20 + 100 + 50, 0.5, False),
        (IDENTICAL, 20 + 100, 1, False),
        (ONLY_SEEN, 20, 0.1, False),
        (WRONG, 20, 0.1, False),
        (BROKEN, 0, 0.1, False),
        (EMULATED, 20 + 100, None, True),
        (EMULATED_AND_FAST, 20 + 100, None, True),
        (UNDECIDED, 20 + 100, None, True),
        (CAUGHT, 20, 0.1, False),
        (CAUGHT_UNSEEN, 20, 0.1, False),
        (None, 0, 0.1, False),
    ],
)
def test_policies(result: dict[str, Any] | None, arena: float, geomean: float | None, is_partial: bool) -> None:
    assert (score_unit(ARENA, result)["value"], score_unit(GEOMEAN, result)["value"]) == (arena, geomean)
    assert score_unit(ARENA, result)["partial"] is is_partial
    assert score_unit(GEOMEAN, result)["partial"] is is_partial


def test_unseen_cases_that_are_only_reported() -> None:
    lenient = Scoring(ARENA.unit, "mean", "reported")
    assert score_unit(lenient, ONLY_SEEN)["value"] == 120
    assert score_unit(lenient, ONLY_SEEN)["partial"], "what was not timed lacks a speed, whatever the reason"
    assert score_unit(lenient, WRONG)["value"] == 20


def test_an_expression_of_the_suite() -> None:
    own = Scoring("min(4, speedup) if general and timed and not identical else 0", "sum")
    assert [score_unit(own, result)["value"] for result in (FASTER, IDENTICAL, EMULATED, WRONG)] == [1.8, 0, 0, 0]


def test_an_expression_without_a_value_says_why() -> None:
    score = score_unit(Scoring("1 / (speedup - 1.8)", "mean"), FASTER)
    assert score["value"] is None
    assert "division by zero" in score["reason"]


@pytest.mark.parametrize(
    ("scoring", "value", "scored", "partial"),
    [
        (ARENA, (300 + 120 + 20 + 0 + 120 + 0) / 6, 6, 1),
        (GEOMEAN, (1.8 * 1 * 0.1 * 0.1 * 0.1) ** (1 / 5), 5, 1),
        (Scoring(ARENA.unit, "sum"), 560, 6, 1),
        (Scoring(ARENA.unit, "geomean"), None, 6, 1),
    ],
)
def test_units_together(scoring: Scoring, value: float | None, scored: int, partial: int) -> None:
    combined = combine_scores(scoring, [score_unit(scoring, result) for result in (FASTER, IDENTICAL, ONLY_SEEN, BROKEN, EMULATED, None)])
    assert combined["value"] == (value if value is None else pytest.approx(value, abs=1e-6))
    assert (combined["units"], combined["scored"], combined["partial"]) == (6, scored, partial)


def test_no_unit_has_no_score() -> None:
    assert combine_scores(ARENA, [])["value"] is None


def test_a_report_scores_what_was_never_judged() -> None:
    header = Header("suite", {"suite": "suites/s"}, ("a.b.1", "a.c.1", "a.d.1"), options={"score": ARENA.to_dict()})
    key = {"harness": "", "candidate": "", "attempt": 1, "target": "", "toolchain": {}}
    report = summarise_run(header, {"a.b.1": Unit(key, FASTER, score_unit(ARENA, FASTER))})
    assert report["score"] == {"aggregate": "mean", "units": 3, "scored": 3, "partial": 0, "value": 100.0}
    assert [unit["score"]["value"] for unit in report["units"]] == [300, 0, 0]
