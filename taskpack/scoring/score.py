"""What a unit is worth by a suite's policy, and what all planned units are worth together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from taskpack.packs.expressions import UNKNOWN, ExpressionError, parse
from taskpack.packs.suite import SCORE_NAMES, Suite

Json = dict[str, Any]


@dataclass(frozen=True)
class Scoring:
    """A suite's policy, spelled out: everything that is needed to score a run again."""

    unit: str
    """An expression over `SCORE_NAMES`."""
    aggregate: str
    """`mean`, `sum` or `geomean`."""
    unseen: str = "required"
    """`required`, or `reported`: then what is wrong on unseen cases alone counts as right."""

    def to_dict(self) -> Json:
        return {"unit": self.unit, "aggregate": self.aggregate, "unseen": self.unseen}


def scoring_of(suite: Suite) -> Scoring:
    """The policy of a suite."""
    return Scoring(suite.score.expression, suite.score.way, suite.unseen.policy)


def score_unit(scoring: Scoring, result: Mapping[str, Any] | None) -> Json:
    """`value` (None where it cannot be had, and then `reason`), `partial`, and the `names` that the expression saw; without a result, nothing was passed.

    Partial is what is right and was not timed: its score lacks what its speed would have added.
    """
    names = _facts(scoring, result) if result else dict.fromkeys(SCORE_NAMES, False) | {"speedup": None}
    known = {name: value for name, value in names.items() if value is not None}
    expression = parse(scoring.unit, {name: kind for name, (kind, _) in SCORE_NAMES.items()})
    score: Json = {"value": None, "partial": names["correct"] and names["general"] and not names["timed"], "names": names}
    try:
        value = expression.evaluate(known)
    except ExpressionError as error:
        return {**score, "reason": error.message}
    if value is UNKNOWN:
        return {**score, "reason": "no native time was measured"}
    assert isinstance(value, int | float), "the suite's check says that a score is a number"
    return {**score, "value": round(float(value), 6)}


def combine_scores(scoring: Scoring, scores: Sequence[Mapping[str, Any]]) -> Json:
    """One number for all planned units, `value`, and how many of the `units` it rests on (`scored`) and how many of their scores are `partial`."""
    values = [score["value"] for score in scores if score["value"] is not None]
    partial = sum(bool(score["partial"]) for score in scores)
    combined = {"aggregate": scoring.aggregate, "units": len(scores), "scored": len(values), "partial": partial}
    return {**combined, "value": round(_AGGREGATES[scoring.aggregate](values), 6) if values and _has_value(scoring.aggregate, values) else None}


def _facts(scoring: Scoring, result: Mapping[str, Any]) -> Json:
    """The names' values. What was wrong in a timed call is wrong: the calls that are timed are calls that are checked."""
    gates = {gate["gate"]: gate["verdict"] for gate in result["gates"]}
    wrong = {timing["unseen"] for timing in result["timing"] if timing["verdict"] == "fail" and timing["speedup"] is None}
    is_timed = result["execution"] == "native" and result["speedup"] is not None and gates.get("fast") in ("pass", "fail")
    return {
        "compiled": gates.get("compile") == "pass",
        "correct": gates.get("correct") == "pass" and False not in wrong,
        "general": scoring.unseen == "reported" or (gates.get("general") == "pass" and True not in wrong),
        "identical": bool(result["candidate_is_baseline"]),
        "timed": is_timed and not wrong,
        "speedup": result["speedup"]["geomean"] if is_timed and not wrong else None,
    }


def _has_value(aggregate: str, values: Sequence[float]) -> bool:
    return aggregate != "geomean" or min(values) > 0


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _geomean(values: Sequence[float]) -> float:
    return math.exp(_mean([math.log(value) for value in values]))


_AGGREGATES = {"mean": _mean, "sum": math.fsum, "geomean": _geomean}
