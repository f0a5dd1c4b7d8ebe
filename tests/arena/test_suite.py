"""A suite from plan to score: killed and gone on with, resumed, and judged for real."""

import json
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from taskpack.arena.suite import Plan, run_suite, start_run
from taskpack.errors import Conflict
from taskpack.runs.folder import Run, held, open_run, read_units
from taskpack.runs.judging import HarnessError
from taskpack.scoring.summary import summarise_run

from .conftest import plan_here, write_agent, write_suite, write_task
from .crash import judge

ROOT = Path(__file__).parents[2]
AGENT = """
[agent]
launch = "command"

[agent.command]
argv = ["sh", "-c", "grep -o 'local/[a-z]*' PROMPT.md | head -1 > kernel.cpp; echo said; echo more > notes.txt; sleep 0.02"]
"""


def _root(folder: Path, attempts: int = 2) -> Path:
    for task in ("a", "bb", "ccc"):
        write_task(folder, task)
    write_suite(folder, ["a", "bb", "ccc"], attempts)
    write_agent(folder, AGENT)
    return folder


def _judged(plan: Plan, runs: Path) -> Run:
    run = start_run(plan, runs, is_resumed=True)
    for _ in run_suite(plan, run, judge):
        pass
    return run


def _meaning(run: Run) -> dict[str, Any]:
    """What must not depend on when the run was interrupted."""
    return {slot: (unit.key, unit.result, unit.score) for slot, unit in read_units(run).items()}


def test_every_unit_is_kept_with_what_made_it(tmp_path: Path) -> None:
    plan = plan_here(_root(tmp_path), tmp_path / "no.pyz")
    run = _judged(plan, tmp_path / "runs")
    assert list(read_units(run)) == ["local.a.1", "local.bb.1", "local.ccc.1", "local.a.2", "local.bb.2", "local.ccc.2"]
    unit, folder = read_units(run)["local.bb.2"], run.folder / "units" / "local.bb.2"
    assert unit.score
    assert unit.score["value"] == 20 + 100 + 100 * (1 + len("local/bb\n") % 7)
    assert unit.producer["agent"]["ending"] == "exit"
    assert (folder / "candidate" / "kernel.cpp").read_text() == "local/bb\n"
    assert "+++ b/notes.txt" in (folder / "diff.patch").read_text()
    assert (folder / "log.txt").read_text() == "said\n"
    assert "local/bb" in (folder / "prompt.md").read_text()
    report = summarise_run(run.header, read_units(run))
    assert report["score"]["value"] == pytest.approx(sum(120 + 100 * (1 + len(f"local/{task}\n") % 7) for task in ("a", "bb", "ccc")) / 3)


def test_a_finished_run_is_not_run_again(tmp_path: Path) -> None:
    plan = plan_here(_root(tmp_path), tmp_path / "no.pyz")
    run = _judged(plan, tmp_path / "runs")
    again = start_run(plan, tmp_path / "runs", is_resumed=True)
    assert again.folder == run.folder
    assert list(run_suite(plan, again, judge)) == []
    assert start_run(plan, tmp_path / "runs", is_resumed=False).folder != run.folder


def test_another_agent_is_another_run(tmp_path: Path) -> None:
    root = _root(tmp_path)
    first = _judged(plan_here(root, root / "no.pyz"), tmp_path / "runs")
    (root / "local" / "agent" / "notes.md").write_text("The same agent, thought over.")
    second = start_run(plan_here(root, root / "no.pyz"), tmp_path / "runs", is_resumed=True)
    assert second.folder != first.folder


def test_one_process_at_a_time(tmp_path: Path) -> None:
    plan = plan_here(_root(tmp_path), tmp_path / "no.pyz")
    run = start_run(plan, tmp_path / "runs", is_resumed=False)
    with held(run), pytest.raises(Conflict):
        list(run_suite(plan, run, judge))


def test_a_harness_that_breaks_stops_no_other_unit_and_is_tried_again(tmp_path: Path) -> None:
    plan = plan_here(_root(tmp_path, attempts=1), tmp_path / "no.pyz")
    run = start_run(plan, tmp_path / "runs", is_resumed=False)

    def broken(task: str, harness: Path, words: Sequence[str]) -> dict[str, Any]:
        if task == "local/bb":
            raise HarnessError("lost")
        return judge(task, harness, words)

    with pytest.raises(HarnessError):
        list(run_suite(plan, run, broken))
    assert list(read_units(run)) == ["local.a.1", "local.ccc.1"]
    assert summarise_run(run.header, read_units(run))["score"]["units"] == 3
    assert [slot for slot, _ in run_suite(plan, run, judge)] == ["local.bb.1"]


def test_killed_at_ten_moments_the_result_is_the_same_and_no_unit_is_judged_twice(tmp_path: Path) -> None:
    whole = _judged(plan_here(_root(tmp_path / "whole"), tmp_path / "whole" / "no.pyz"), tmp_path / "whole" / "runs")
    root = _root(tmp_path / "killed")
    command = [sys.executable, "-m", "tests.arena.crash", str(root)]
    rng = random.Random(3)
    for _ in range(10):
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert process.stdout
        process.stdout.readline()
        time.sleep(rng.random() * 0.15)
        process.kill()
        process.stdout.close()
        process.wait()
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    (folder,) = (root / "runs").iterdir()
    run = open_run(folder)
    assert _meaning(run) == _meaning(whole)
    events = [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines()]
    ended = [event["slot"] for event in events if event["event"] == "end"]
    assert len(ended) == len(set(ended))
    assert {path.name.removesuffix(".json") for path in (folder / "units").iterdir()} == set(whole.header.slots)
