"""All nine stages through the real command and the real judge: C++, where time is native, and Triton, where rules and answers are judged."""

from __future__ import annotations

import importlib.util
import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from .conftest import PACKS, needs_compiler, optimize, outcomes, run_of, taskpack, tree_of, write_proposals

STAGES = ["algorithm", "discovery", "dtypes", "fusion", "memory", "descriptors", "persistent", "device", "tuning"]


def _example(task: str, name: str, file: str) -> str:
    return (PACKS / task / "examples" / name / file).read_text(encoding="utf-8")


def _cpp(name: str) -> str:
    return _example("cpp2cpp-softmax", name, "kernel.cpp")


@needs_compiler
@pytest.mark.slow
@pytest.mark.alone
def test_nine_stages_on_cpp_where_time_is_native(tmp_path: Path) -> None:
    fast, start = _cpp("vector-exp"), (PACKS / "cpp2cpp-softmax" / "kernel.cpp").read_text(encoding="utf-8")
    script = {
        "algorithm": [_cpp("whole-tiles"), fast],
        "discovery": [start + "// what this began with, and slower than what stands\n"],
        "dtypes": [fast, fast, "never asked"],
        "memory": [f"#error {number}\n" for number in range(7)],
    }
    made = write_proposals(tmp_path / "made", "kernel.cpp", script)
    done = optimize(tmp_path, "arena/cpp2cpp-softmax", "--agent", str(made), "--quick")
    assert done.returncode == 0, done.stderr
    tree = tree_of(tmp_path)
    assert list(tree) == STAGES
    assert outcomes(tree["algorithm"]) == ["wrong", "accepted"], tree["algorithm"]["trials"]
    assert tree["algorithm"]["trials"][0]["reason"].startswith("general: ")
    assert tree["algorithm"]["taken"] == 2
    assert outcomes(tree["discovery"])[0] in ("no-gain", "inconclusive")
    assert outcomes(tree["dtypes"]) == ["repeated", "repeated"]
    assert outcomes(tree["memory"]) == ["wrong"] * 5
    assert [tree[stage]["taken"] for stage in STAGES[1:]] == [None] * 8
    assert [stage for stage in STAGES if tree[stage]["state"] == "skipped"] == ["descriptors", "persistent"]
    assert tree["persistent"]["skipped"] == "nothing to do in cpp: for triton, hip"
    assert (run_of(tmp_path) / "candidate" / "kernel.cpp").read_text(encoding="utf-8") == fast
    kept = json.loads((run_of(tmp_path) / "units" / "algorithm.002.json").read_text(encoding="utf-8"))
    seen = [timing for timing in kept["result"]["timing"] if not timing["unseen"]]
    assert seen
    assert all(timing["high"] > 0.98 for timing in seen)
    text = taskpack(tmp_path, "trials", run_of(tmp_path).name)
    assert "└─ 2         → accepted" in text.stdout
    assert taskpack(tmp_path, "report", run_of(tmp_path).name).stdout == text.stdout
    again = optimize(tmp_path, "arena/cpp2cpp-softmax", "--agent", str(made), "--quick", "--resume", str(run_of(tmp_path)))
    assert (again.returncode, again.stdout) == (0, done.stdout)
    assert again.stderr.count("\n") == 1  # where it is kept: nothing was judged again


@pytest.mark.slow
def test_nine_stages_on_triton_where_rules_and_answers_are_judged(tmp_path: Path) -> None:
    if importlib.util.find_spec("triton") is None:
        pytest.skip("Triton is not installed")
    start = (PACKS / "triton2triton-matmul" / "kernel.py").read_text(encoding="utf-8")
    tiles = _example("triton2triton-matmul", "grouped-tiles", "kernel.py")
    odd, larger = tiles.replace("num_warps=warps", "num_warps=3"), tiles.replace("GROUP = 8", "GROUP = 4")
    short = start.replace("range(0, k, TILE)", "range(0, k - TILE, TILE)")
    blocks = tiles.replace("left = a +", "block = tl.make_block_ptr(a, (m, k), (k, 1), (0, 0), (ROWS, DEPTH), (1, 0))\n    left = a +")
    assert len({start, tiles, odd, larger, short, blocks}) == 6
    script = {"algorithm": [odd, short, tiles], "fusion": ["never asked"], "dtypes": [tiles], "descriptors": [blocks], "tuning": [larger]}
    made = write_proposals(tmp_path / "made", "kernel.py", script)
    done = optimize(tmp_path, "arena/triton2triton-matmul", "--agent", str(made), "--quick", "--target", "cpu")
    assert done.returncode == 0, done.stderr
    tree = tree_of(tmp_path)
    assert outcomes(tree["algorithm"]) == ["refused", "wrong", "verified"]
    assert "warps-power-of-two" in tree["algorithm"]["trials"][0]["reason"]
    assert outcomes(tree["dtypes"]) == ["repeated"]
    assert tree["fusion"]["skipped"] == "nothing to do: kernels == 1"
    assert outcomes(tree["descriptors"]) == ["refused"]
    assert "block-pointers" in tree["descriptors"]["trials"][0]["reason"]
    assert outcomes(tree["tuning"]) == ["verified"]
    assert (run_of(tmp_path) / "candidate" / "kernel.py").read_text(encoding="utf-8") == larger


def _meaning(tree: dict[str, Any]) -> dict[str, Any]:
    """What must not depend on when the run was killed."""
    return {
        stage: (said["state"], said["skipped"], said["taken"], [(trial["round"], trial["outcome"], trial["candidate"]) for trial in said["trials"]])
        for stage, said in tree.items()
    }


@needs_compiler
@pytest.mark.slow
def test_a_run_that_is_killed_goes_on_as_if_nothing_had_been(tmp_path: Path) -> None:
    """Candidates whose verdicts do not depend on the clock: what does not compile, what is wrong, what was there."""
    start = (PACKS / "cpp2cpp-softmax" / "kernel.cpp").read_text(encoding="utf-8")
    script = {
        "algorithm": ["#error 1\n", "#error 2\n", _cpp("no-maximum")],
        "discovery": [start, "#error 1\n"],
        "memory": ["#error 1\n", _cpp("whole-tiles")],
        "tuning": ["#error 3\n"],
    }
    made = write_proposals(tmp_path / "made", "kernel.cpp", script)
    words = ["arena/cpp2cpp-softmax", "--agent", str(made), "--quick"]
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    whole.mkdir()
    killed.mkdir()
    assert optimize(whole, *words).returncode == 0
    rng = random.Random(11)
    resume: list[str] = []
    for _ in range(6):
        process = subprocess.Popen(
            [sys.executable, "-m", "taskpack", "optimize", *words, *resume], cwd=killed, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        assert process.stderr
        process.stderr.readline()  # it has begun
        time.sleep(rng.random() * 1.5)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stderr.close()
        resume = ["--resume", str(run_of(killed))]
    done = optimize(killed, *words, *resume)
    assert done.returncode == 0, done.stderr
    assert _meaning(tree_of(killed)) == _meaning(tree_of(whole))
    assert sorted(path.name for path in (run_of(killed) / "units").iterdir()) == sorted(path.name for path in (run_of(whole) / "units").iterdir())
