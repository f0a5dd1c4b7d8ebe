"""`taskpack optimize` on real tasks: rules and answers in HIP and Triton, speed in C++."""

from __future__ import annotations

import importlib.util
import json
import shutil
from pathlib import Path

import pytest

from .conftest import PACKS, needs_compiler, optimize, run_of


@needs_compiler
def test_tune_finds_another_block_in_hip_that_is_right(tmp_path: Path) -> None:
    done = optimize(tmp_path, "arena/hip2hip-softmax", "--agent", "tune", "--quick")
    assert done.returncode == 0, done.stderr
    assert "taken over: right, not measured: emulated: only native time is speed" in done.stdout
    changed = (run_of(tmp_path) / "candidate" / "kernel.hip").read_text(encoding="utf-8")
    assert changed == (PACKS / "hip2hip-softmax" / "kernel.hip").read_text(encoding="utf-8").replace("kThreads = 256", "kThreads = 512")


def test_tune_finds_another_block_in_triton_that_is_right(tmp_path: Path) -> None:
    if importlib.util.find_spec("triton") is None:
        pytest.skip("Triton is not installed")
    done = optimize(tmp_path, "arena/triton2triton-reduce-sum", "--agent", "tune", "--quick")
    assert done.returncode == 0, done.stderr
    assert "taken over: right, not measured: interpreted: only native time is speed" in done.stdout


@needs_compiler
def test_a_run_is_not_gone_on_with_in_another_way(tmp_path: Path) -> None:
    words = ("arena/hip2hip-softmax", "--agent", "tune")
    assert optimize(tmp_path, *words, "--quick").returncode == 0
    run = run_of(tmp_path)
    full = optimize(tmp_path, *words, "--pipeline", "tune", "--resume", run.name)
    assert full.returncode == 2
    assert "is a run with other options" in full.stderr
    other = optimize(tmp_path, "arena/hip2hip-rmsnorm", "--agent", "tune", "--quick", "--resume", str(run))
    assert other.returncode == 2
    assert "is a run with other asked" in other.stderr
    header = json.loads((run / "run.json").read_text(encoding="utf-8"))
    (run / "run.json").write_text(json.dumps({**header, "taskpack": "0.0.1"}), encoding="utf-8")
    older = optimize(tmp_path, *words, "--quick", "--resume", str(run))
    assert older.returncode == 2
    assert "is a run of taskpack 0.0.1" in older.stderr


@needs_compiler
def test_a_source_without_numbers_is_told(tmp_path: Path) -> None:
    done = optimize(tmp_path, "arena/cpp2cpp-softmax", "--agent", "tune", "--quick")
    assert done.returncode == 0
    assert "nothing was proposed: tune finds no number in the source" in done.stdout


@pytest.mark.slow
@needs_compiler
def test_what_is_wrong_in_a_timed_call_of_an_unseen_case_alone_is_not_taken_over(tmp_path: Path) -> None:
    """Faster by far on what is scored, and right whenever it is asked once."""
    fast = (PACKS / "cpp2cpp-softmax" / "examples" / "vector-exp" / "kernel.cpp").read_text(encoding="utf-8")
    made = tmp_path / "made" / "memory" / "1"
    made.mkdir(parents=True)
    changed = fast
    for dtype, kind in (("float32", "float"), ("float16", "float16"), ("bfloat16", "bfloat16")):
        one = f"softmax_{dtype}(const {kind}* x, {kind}* y, int64_t rows, int64_t cols) {{"
        assert one in fast
        changed = changed.replace(one, f"{one} static int calls; if ((rows == 1 || rows == 7 || rows == 33) && ++calls > 60) return;")
    (made / "kernel.cpp").write_text(changed, encoding="utf-8")
    done = optimize(tmp_path, "arena/cpp2cpp-softmax", "--agent", "made", "--quick", "--stage", "memory")
    assert done.returncode == 0, done.stderr
    assert "memory 1: wrong: fast: `unseen-" in done.stderr
    assert "as it was: " in done.stdout
    (unit,) = (run_of(tmp_path) / "units").glob("*.json")
    assert json.loads(unit.read_text(encoding="utf-8"))["result"]["speedup"] is None


@needs_compiler
@pytest.mark.slow
def test_tune_finds_faster_numbers_in_cpp(tmp_path: Path) -> None:
    """Rows of a tile that leave registers idle: 1 instead of 4."""
    start = tmp_path / "start"
    shutil.copytree(PACKS / "cpp2cpp-matmul" / "examples" / "register-tiles", start)
    source = start / "kernel.cpp"
    source.write_text(source.read_text(encoding="utf-8").replace("kTileRows = 4", "kTileRows = 1"), encoding="utf-8")
    done = optimize(tmp_path, "arena/cpp2cpp-matmul", "--agent", "tune", "--candidate", "start", "--quick")
    assert done.returncode == 0, done.stderr
    assert "tuning: taken over: " in done.stdout, done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("arena/hip2hip-softmax", "--agent", "nobody"), "there is neither an agent nor a folder `nobody`"),
        (("arena/hip2hip-softmax", "--agent", "tune", "--pipeline", "targets/cpu"), "`targets/cpu` is of the kind `target`, not a pipeline"),
        (("arena/hip2hip-softmax", "--agent", "tune", "--stage", "tunning"), "has no stage `tunning`"),
        (("arena/torch2hip-softmax", "--agent", "tune"), "has no candidate of its own"),
        (("packs", "--agent", "tune"), "tasks, and one is optimised at a time"),
    ],
)
def test_what_cannot_be_optimised_is_told(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    done = optimize(PACKS.parents[1] if words[0] == "packs" else tmp_path, *words)
    assert done.returncode == 2
    assert said in done.stderr
