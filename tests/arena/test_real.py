"""Candidates of every quality, judged for real by `taskpack run SUITE --agent AGENT`."""

import json
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from .conftest import BASELINE, FASTER, SIGNATURE, write_agent, write_replay, write_suite, write_task

needs_compiler = pytest.mark.skipif(not (shutil.which("g++") or shutil.which("clang++")), reason="needs g++ or clang++")
CANDIDATES = {
    "faster": FASTER,
    "identical": BASELINE,
    "unseen": f"{SIGNATURE} {{ for (long i = 0; i < rows * cols / 64 * 64; ++i) y[i] = 3.0f * x[i]; }}\n",
    "broken": "int x = ;\n",
    "crashing": f"{SIGNATURE} {{ *(volatile int*)nullptr = 1; }}\n",
    "endless": f"{SIGNATURE} {{ for (volatile int i = 0;; i = i + 1) {{ }} }}\n",
}
VERDICTS = {
    "faster": ["pass", "pass", "pass", "pass"],
    "identical": ["pass", "pass", "pass", "pass"],
    "unseen": ["pass", "pass", "fail", "skip"],
    "broken": ["fail", "skip", "skip", "skip"],
    "crashing": ["pass", "fail", "skip", "skip"],
    "endless": ["pass", "fail", "skip", "skip"],
}
SCORES = {"identical": 120, "unseen": 20, "broken": 0, "crashing": 20, "endless": 20}


def _taskpack(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "taskpack", *words]
    return subprocess.run(command, cwd=root / "local", capture_output=True, text=True, timeout=280, env=os.environ | {"COLUMNS": "150"})


def _units(root: Path, *words: str) -> dict[str, Any]:
    ran = _taskpack(root, "run", "suite", "--agent", "./agent", "--target", "cpu", "--quick", "--json", *words)
    assert ran.returncode == 0, ran.stderr
    report = json.loads(ran.stdout)
    return report | {"units": {unit["task"].removeprefix("local/"): unit for unit in report["units"]}}


@needs_compiler
@pytest.mark.alone
def test_candidates_of_every_quality(tmp_path: Path) -> None:
    for task in CANDIDATES:
        write_task(tmp_path, task)
    write_suite(tmp_path, list(CANDIDATES))
    write_replay(tmp_path, CANDIDATES)
    report = _units(tmp_path)
    for task, unit in report["units"].items():
        verdicts = [unit["gates"][gate] for gate in ("compile", "correct", "general", "fast")]
        is_undecided = verdicts == ["pass", "pass", "pass", "inconclusive"]  # the clock, on a machine that others use
        assert verdicts == VERDICTS[task] or (is_undecided and VERDICTS[task][-1] == "pass"), (task, unit["reason"])
        if task in SCORES:
            assert unit["score"]["value"] == SCORES[task], task
        elif not is_undecided:
            assert unit["score"]["value"] == pytest.approx(120 + 100 * unit["speedup"]["geomean"], abs=1e-3)
    assert report["all"]["units"] == report["all"]["judged"] == 6
    assert (report["all"]["compiled"], report["all"]["seen"], report["all"]["unseen"]) == (5, 3, 2)
    (run,) = (tmp_path / "local" / "suite" / ".taskpack" / "runs").iterdir()
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    assert _units(tmp_path, "--resume") == report
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before
    shown = _taskpack(tmp_path, "report", str(run)).stdout
    assert "right on seen" in shown
    assert "local/unseen" in shown


@needs_compiler
@pytest.mark.slow
def test_killed_with_a_real_judge_nothing_is_left_and_the_verdicts_are_the_same(tmp_path: Path) -> None:
    wrong = {task: source for task, source in CANDIDATES.items() if task in ("unseen", "broken", "crashing", "endless")}
    for task in wrong:
        write_task(tmp_path, task)
    write_suite(tmp_path, list(wrong))
    write_replay(tmp_path, wrong)
    words = [sys.executable, "-m", "taskpack", "run", "suite", "--agent", "./agent", "--target", "cpu", "--quick", "--resume"]
    rng = random.Random(5)
    for _ in range(10):
        process = subprocess.Popen(words, cwd=tmp_path / "local", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(1 + rng.random() * 5)
        process.kill()
        process.wait()
    report = _units(tmp_path, "--resume")
    for task, unit in report["units"].items():
        assert [unit["gates"][gate] for gate in ("compile", "correct", "general", "fast")] == VERDICTS[task]
        assert unit["score"]["value"] == SCORES[task]
    (run,) = (tmp_path / "local" / "suite" / ".taskpack" / "runs").iterdir()
    ended = [event["slot"] for line in (run / "journal.jsonl").read_text().splitlines() if (event := json.loads(line))["event"] == "end"]
    assert len(ended) == len(set(ended))


@needs_compiler
def test_an_agent_that_asks_before_it_gives_up(tmp_path: Path) -> None:
    write_task(tmp_path, "scale")
    write_suite(tmp_path, ["scale"])
    script = "./check > first.txt; sed -i s/3.0f/4.0f/ kernel.cpp; ./check > second.txt; ls -A > third.txt; exit 5"
    write_agent(tmp_path, f'\n[agent]\nlaunch = "command"\n\n[agent.command]\nargv = ["sh", "-c", "{script}"]\n')
    unit = _units(tmp_path)["units"]["scale"]
    assert unit["gates"]["correct"] == "fail"
    assert (unit["producer"]["agent"]["checks"], unit["producer"]["agent"]["code"]) == (2, 5)
    (diff,) = (tmp_path / "local" / "suite" / ".taskpack" / "runs").rglob("diff.patch")
    assert "+pass\n+compile: pass\n+correct: pass\n" in diff.read_text()
    assert "+fail\n+compile: pass\n+correct: fail: `square`" in diff.read_text()
    assert "+.door\n+PROMPT.md\n+baseline\n+cases.json\n+check\n" in diff.read_text()


def test_usage(tmp_path: Path) -> None:
    write_task(tmp_path, "scale")
    write_suite(tmp_path, ["scale"])
    (tmp_path / "local").mkdir(exist_ok=True)
    for words, hint in (
        (("run", "suite"), "`--agent` names one: command, none, "),
        (("run", "scale", "--agent", "none"), "for one suite"),
        (("run", "suite", "--agent", "./scale"), "not `agent`"),
        (("run", "suite", "--agent", "none", "--candidate", "."), "--candidate"),
    ):
        ran = _taskpack(tmp_path, *words)
        assert ran.returncode == 2, words
        assert hint in ran.stderr, ran.stderr
    assert _taskpack(tmp_path, "run", "suite", "--agent", "nobody").returncode == 3


def test_a_prompt(tmp_path: Path) -> None:
    write_task(tmp_path, "scale")
    ran = _taskpack(tmp_path, "prompt", "scale", "--target", "cpu")
    assert ran.returncode == 0
    assert 'extern "C" void scale_float32(const float* x, float* y, int64_t rows, int64_t cols)' in ran.stdout
    assert "thrice_the_secret" not in ran.stdout
    assert _taskpack(tmp_path, "prompt", ".", "--target", "cpu").returncode == 0
