"""`taskpack report` and `taskpack compare`, on runs made of real results."""

import json
from pathlib import Path
from typing import Any

import pytest

from taskpack.packs.suite import POLICIES
from taskpack.reports.run import render_comparison, render_run
from taskpack.reports.text import render_result
from taskpack.runs.folder import Header, Run, Unit, create_run, read_units, slot_name, unit_key, write_unit
from taskpack.scoring.compare import compare_units
from taskpack.scoring.score import Scoring, score_unit

from .conftest import Taskpack

ARENA = Scoring(POLICIES["arena"].unit, POLICIES["arena"].aggregate)
RESULTS = sorted((Path(__file__).parent / "results").glob("*.json"))


def _result(path: Path) -> dict[str, Any]:
    return {**json.loads(path.read_text(encoding="utf-8")), "task": f"local/{path.stem}"}


@pytest.fixture
def suite(tmp_path: Path) -> Run:
    """Four real results; a fifth unit was planned and never judged."""
    results = [_result(path) for path in RESULTS]
    slots = tuple(slot_name(result["task"], 1) for result in results)
    run = create_run(
        tmp_path / ".taskpack" / "runs" / "one",
        Header("suite", {"suite": "suites/s", "agent": "agents/a"}, (*slots, "local.lost.1"), (), "targets/cpu", {"score": ARENA.to_dict()}),
    )
    for slot, result in zip(slots, results, strict=True):
        write_unit(run, slot, Unit(unit_key(result, 1), result, score_unit(ARENA, result)), {})
    return run


def test_a_suite_as_text(suite: Run, golden: Any) -> None:
    assert render_run(suite, read_units(suite)) == golden("reports/suite.txt")


def test_two_suites_as_text(suite: Run, golden: Any) -> None:
    units = read_units(suite)
    assert render_comparison(compare_units(units, dict(list(units.items())[1:]))) == golden("reports/comparison.txt")


def test_what_was_not_judged_stays_in_every_denominator(suite: Run, taskpack: Taskpack) -> None:
    report = json.loads(taskpack("report", "one", "--json").out)
    assert len(report["units"]) == 5
    assert report["all"] == {"family": "all", "units": 5, "judged": 4, "compiled": 3, "seen": 3, "unseen": 2, "faster": 0, "timed": 1}
    assert "local/lost" in taskpack("report", suite.folder).out


def test_a_task_is_shown_as_run_showed_it(tmp_path: Path, taskpack: Taskpack) -> None:
    result = _result(RESULTS[0])
    run = create_run(tmp_path / "run", Header("task", {"task": result["task"]}, ("a.b.1",)))
    write_unit(run, "a.b.1", Unit(unit_key(result, 1), result), {})
    assert taskpack("report", "run").out == render_result(result, width=100)


def test_comparing(suite: Run, taskpack: Taskpack) -> None:
    ran = taskpack("compare", "one", suite.folder)
    assert ran.code == 0
    assert "1 noise" in ran.out
    assert json.loads(taskpack("compare", "one", "one", "--json").out)["counts"] == {"same": 3, "noise": 1}


def test_no_such_run(suite: Run, taskpack: Taskpack) -> None:
    ran = taskpack("report", "ones")
    assert ran.code == 3
    assert "did you mean `one`?" in ran.err
    assert taskpack("compare", "one", "two").code == 3


def test_a_unit_that_cannot_be_read(suite: Run, taskpack: Taskpack) -> None:
    (suite.folder / "units" / "local.passed.1.json").write_text("{")
    ran = taskpack("report", "one")
    assert ran.code == 5
    assert "local.passed.1.json cannot be read" in ran.err
