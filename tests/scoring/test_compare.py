"""Two runs beside each other: pairs, and what is noise."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from taskpack.runs.folder import Unit, slot_name, unit_key
from taskpack.scoring.compare import compare_units

PASSED: dict[str, Any] = json.loads((Path(__file__).parents[1] / "cli" / "results" / "passed.json").read_text(encoding="utf-8"))


def _unit(speedup: tuple[float, float, float] | None = None, attempt: int = 1, **verdicts: str) -> Unit:
    result = copy.deepcopy(PASSED)
    result["speedup"] = dict(zip(("geomean", "low", "high"), speedup, strict=True)) if speedup else None
    for gate in result["gates"]:
        gate["verdict"] = verdicts.get(gate["gate"], gate["verdict"])
    return Unit(unit_key(result, attempt), result)


def _units(*units: Unit) -> dict[str, Unit]:
    return {slot_name("local/softmax", unit.key["attempt"]): unit for unit in units}


@pytest.mark.parametrize(
    ("first", "second", "difference"),
    [
        (_unit((1.5, 1.4, 1.6)), _unit((1.62, 1.55, 1.7)), "noise"),
        (_unit((1.5, 1.4, 1.6)), _unit((1.8, 1.7, 1.9)), "faster"),
        (_unit((1.5, 1.4, 1.6)), _unit((1.2, 1.1, 1.3)), "slower"),
        (_unit((1.0, 0.97, 1.02)), _unit((0.96, 0.94, 0.975), fast="fail"), "noise"),
        (_unit((1.5, 1.4, 1.6)), _unit(None, fast="inconclusive"), "undecided"),
        (_unit((1.5, 1.4, 1.6)), _unit(None, fast="fail"), "verdict"),
        (_unit((1.5, 1.4, 1.6)), _unit(None, general="fail", fast="skip"), "verdict"),
        (_unit(None, fast="skip"), _unit(None, fast="skip"), "same"),
    ],
)
def test_differences(first: Unit, second: Unit, difference: str) -> None:
    (pair,) = compare_units(_units(first), _units(second))["pairs"]
    assert pair["difference"] == difference


def test_units_of_one_side_only() -> None:
    comparison = compare_units(_units(_unit(), _unit(attempt=2)), _units(_unit(attempt=2), _unit(attempt=3)))
    assert [(pair["attempt"], pair["difference"]) for pair in comparison["pairs"]] == [(1, "only-in-first"), (2, "same"), (3, "only-in-second")]
    assert comparison["counts"] == {"only-in-first": 1, "same": 1, "only-in-second": 1}


def test_a_task_with_another_meaning_is_not_compared() -> None:
    other = _unit((9.0, 8.0, 10.0))
    other.result["digests"]["task"] = "sha256:other"  # type: ignore[index]
    (pair,) = compare_units(_units(_unit((1.5, 1.4, 1.6))), _units(other))["pairs"]
    assert pair["difference"] == "other-task"
