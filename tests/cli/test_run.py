"""`taskpack run`: real tasks, real candidates, every verdict and exit code."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from taskpack.packs.task import FAMILIES

from .conftest import PACKS, Taskpack

SOFTMAX = PACKS / "arena" / "cpp2cpp-softmax"
needs_compiler = pytest.mark.skipif(not (shutil.which("g++") or shutil.which("clang++")), reason="needs g++ or clang++")


@pytest.fixture
def task(taskpack: Taskpack, tmp_path: Path) -> Path:
    assert taskpack("new", "cpp2cpp", "softmax").code == 0
    return tmp_path / "softmax"


@needs_compiler
def test_a_new_task_passes_and_its_result_is_kept(taskpack: Taskpack, task: Path) -> None:
    ran = taskpack("run", "--quick", cwd=task)
    assert ran.code == 0 or "\nfast     inconclusive" in ran.out, ran.out
    for gate in ("compile", "correct", "general"):
        assert f"\n{gate}  pass" in ran.out
        assert f"local/softmax: {gate} pass" in ran.err
    (kept,) = (task / ".taskpack" / "runs").iterdir()
    assert f"kept in .taskpack/runs/{kept.name}; --seed " in ran.err
    result = json.loads((kept / "units" / "local.softmax.1.json").read_text(encoding="utf-8"))["result"]
    assert result["task"] == "local/softmax"
    assert len({case["case"] for case in result["cases"] if case["gate"] == "general"}) >= 8


@needs_compiler
def test_a_candidate_that_is_wrong_on_unseen_sizes(taskpack: Taskpack) -> None:
    ran = taskpack("run", "--quick", "arena/cpp2cpp-softmax", "--candidate", SOFTMAX / "examples" / "whole-tiles")
    assert ran.code == 1
    assert "\ncorrect  pass" in ran.out
    assert "\ngeneral  fail" in ran.out
    assert "not reached: general failed" in ran.out


@needs_compiler
def test_json_and_a_seed_that_repeats(taskpack: Taskpack, task: Path) -> None:
    shutil.copytree(SOFTMAX / "examples" / "whole-tiles", task / "wrong")
    first = json.loads(taskpack("run", "--quick", "--json", "--candidate", "wrong", cwd=task).out)
    again = json.loads(taskpack("run", "--quick", "--json", "--candidate", "wrong", "--seed", first["seed"], cwd=task).out)
    cases = [[(case["case"], case["values"]) for case in result["cases"]] for result in (first, again)]
    assert cases[0] == cases[1]
    kept = list((task / ".taskpack" / "runs").glob("*/units/local.softmax.1/*"))
    assert [path.name for path in kept] == ["kernel.cpp"] * 2, "a run can be repeated when the candidate's folder has changed"
    assert {path.read_bytes() for path in kept} == {(task / "wrong" / "kernel.cpp").read_bytes()}


@needs_compiler
def test_several_tasks_and_one_of_them_broken(taskpack: Taskpack, task: Path) -> None:
    broken = Path(shutil.copytree(task, task.parent / "broken"))
    (broken / "pack.toml").write_text(re.sub(r"\^1\.\d+", "^7.0", (broken / "pack.toml").read_text()))
    (task / "kernel.cpp").write_text("int x = ;")
    ran = taskpack("run", "--quick", broken, task, "--json", cwd=task.parent)
    assert ran.code == 2
    assert [result["kind"] for result in json.loads(ran.out)] == ["error", "result"]
    table = taskpack("run", "--quick", broken, task, cwd=task.parent)
    assert table.code == 2
    assert "broken" in table.out.splitlines()[-2]
    assert table.out.splitlines()[-1].split()[:2] == ["local/softmax", "fail"]


def test_usage(taskpack: Taskpack, task: Path) -> None:
    assert taskpack("run", "--candidate", "nowhere", cwd=task).code == 2
    assert taskpack("run", "--candidate", ".", "arena/cpp2cpp-softmax", "arena/cpp2cpp-matmul").code == 2
    assert taskpack("run", "ops/softmax").code == 2
    assert taskpack("run", "--seed", "not hexadecimal", cwd=task).code == 2


def test_a_candidate_is_needed_where_the_task_has_no_start(taskpack: Taskpack) -> None:
    ran = taskpack("run", "arena/torch2hip-softmax")
    assert ran.code == 2
    assert "--candidate" in ran.err


def test_a_target_that_is_not_in_this_machine(taskpack: Taskpack) -> None:
    ran = taskpack("run", "arena/triton2triton-softmax", "--target", "mi300x")
    assert ran.code == 3
    assert ran.err.startswith("error: ")


def test_a_language_that_cannot_run_there(taskpack: Taskpack) -> None:
    assert taskpack("run", "arena/cpp2cpp-softmax", "--target", "h200").code in (2, 3)


def test_without_torch(task: Path) -> None:
    script = (
        "import importlib.util, sys\nfind = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *more: None if name == 'torch' else find(name, *more)\n"
        "sys.argv = ['taskpack', 'run']\nfrom taskpack.cli.app import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=task, capture_output=True, text=True)
    assert done.returncode == 3
    assert "pip install 'taskpack[run]'" in done.stderr


_QUICK = {("torch2triton", "softmax")}
_PAIRS = [(family, name) for family in sorted(FAMILIES) for name in ("softmax", "my-rows")]


@pytest.mark.parametrize(("family", "name"), [pytest.param(*pair, marks=() if pair in _QUICK else pytest.mark.slow) for pair in _PAIRS])
def test_what_new_makes_passes_as_it_is(family: str, name: str, taskpack: Taskpack, tmp_path: Path) -> None:
    if not (shutil.which("g++") or shutil.which("clang++")) and not {"hip", "cpp"}.isdisjoint(family.split("2")):
        pytest.skip("needs g++ or clang++")
    assert taskpack("new", family, name).code == 0
    assert "built" in taskpack("build", cwd=tmp_path / name).out
    ran = taskpack("run", "--quick", cwd=tmp_path / name)
    assert ran.code == 0 or "\nfast     inconclusive" in ran.out, ran.out + ran.err  # the clock, on a machine that others use
    assert "\ngeneral  pass" in ran.out
    assert ("only native time is speed" in ran.out) == (family != "cpp2cpp")


@needs_compiler
def test_a_run_in_a_folder_that_cannot_be_written_is_kept_in_the_cache(taskpack: Taskpack, task: Path) -> None:
    (task / ".taskpack").mkdir(exist_ok=True)
    (task / ".taskpack" / "runs").write_text("a file", encoding="utf-8")
    ran = taskpack("run", "--quick", "--candidate", SOFTMAX / "examples" / "whole-tiles", cwd=task)
    assert ran.code == 1
    assert "\ngeneral  fail" in ran.out
    assert "/runs/" in ran.err
    assert "kept in .taskpack" not in ran.err


@needs_compiler
def test_an_error_under_json_is_json(taskpack: Taskpack, task: Path) -> None:
    (task / "reference.py").unlink(missing_ok=True)
    (task / "kernel.cpp").unlink()
    ran = taskpack("run", "--json", cwd=task)
    assert ran.code == 2
    assert json.loads(ran.out)["kind"] == "error"


@pytest.mark.parametrize("folder", ["", "nowhere", "kernel.cpp"])
def test_a_candidate_that_is_no_folder_is_refused(folder: str, taskpack: Taskpack, task: Path) -> None:
    ran = taskpack("run", "--candidate", folder, cwd=task)
    assert ran.code == 2
    assert "--candidate" in ran.err


@needs_compiler
@pytest.mark.parametrize(
    ("made", "words"), [("folder", "has a folder in the place of `kernel.cpp`"), ("link", "has a link in the place of `kernel.cpp`"), ("", "has no file")]
)
def test_a_candidates_file_that_is_none_is_a_verdict(made: str, words: str, taskpack: Taskpack, task: Path) -> None:
    folder = task / "odd"
    folder.mkdir()
    if made == "folder":
        (folder / "kernel.cpp").mkdir()
    elif made == "link":
        (folder / "kernel.cpp").symlink_to(task / "kernel.cpp")
    ran = taskpack("run", "--quick", "--candidate", folder, cwd=task)
    assert ran.code == 1
    assert words in " ".join(ran.out.split())


@needs_compiler
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_nothing_outlives_a_run_that_is_ended(number: signal.Signals, task: Path, tmp_path: Path) -> None:
    (task / "kernel.cpp").write_text(
        '#include <cstdint>\nextern "C" void softmax_float32(const float*, float*, int64_t, int64_t) { for (volatile int i = 0;; i = i) {} }\n',
        encoding="utf-8",
    )
    mark = {**os.environ, "TMPDIR": str(tmp_path / "own")}
    (tmp_path / "own").mkdir()
    process = subprocess.Popen([sys.executable, "-m", "taskpack", "run"], cwd=task, env=mark, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout
    while "compile" not in (line := process.stdout.readline()):
        assert line, "it ended before it was asked to"
    process.send_signal(number)
    ends = time.monotonic() + 10
    process.stdout.close()
    assert process.wait(10) in (128 + number, -number)
    while _with_temporary_folder(tmp_path / "own") and time.monotonic() < ends:
        time.sleep(0.1)
    assert not _with_temporary_folder(tmp_path / "own")


def _with_temporary_folder(folder: Path) -> list[str]:
    """Processes that were started with that TMPDIR."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if f"TMPDIR={folder}".encode() in entry.read_bytes().split(b"\0"):
                found.append(entry.parent.name)
    return found
