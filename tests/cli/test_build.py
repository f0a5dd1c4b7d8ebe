"""`taskpack build`: what is made, what is not made again, what is printed instead."""

import ast
import json
import shutil
from pathlib import Path

import pytest

from taskpack.cli.targets import _find_gpu, _of_gpu
from taskpack.packs.shelf import open_shelf

from .conftest import PACKS, Taskpack


@pytest.fixture
def task(tmp_path: Path) -> Path:
    return Path(shutil.copytree(PACKS / "arena" / "cpp2cpp-softmax", tmp_path / "task", ignore=shutil.ignore_patterns(".taskpack")))


def test_built_once(taskpack: Taskpack, task: Path) -> None:
    first = taskpack("build", cwd=task)
    assert (first.code, first.err) == (0, "")
    assert first.out.endswith(".pyz: built\n")
    again = taskpack("build", cwd=task)
    assert again.out == first.out.replace("built", "up to date")
    harness = task / first.out.partition(":")[0]
    assert harness.is_file()
    assert (task / ".taskpack" / "task.schema.json").is_file()
    assert (task / ".taskpack" / ".gitignore").read_text() == "*\n"
    (task / "kernel.cpp").write_text((task / "kernel.cpp").read_text() + "// changed\n")
    assert taskpack("build", cwd=task).out == first.out


def test_stages_are_printed(taskpack: Taskpack, task: Path) -> None:
    plan = json.loads(taskpack("build", "--emit", "plan", cwd=task).out)
    assert (plan["format"], plan["task"]) == (1, "arena/cpp2cpp-softmax")
    ast.parse(taskpack("build", "--emit", "harness", cwd=task).out)
    pack = json.loads(taskpack("build", "--emit", "pack", cwd=task).out)
    assert pack["pack"]["name"] == "arena/cpp2cpp-softmax"
    assert not (task / ".taskpack").exists()


def test_only_one_task_is_printed(taskpack: Taskpack) -> None:
    assert taskpack("build", "--emit", "plan", "arena/cpp2cpp-softmax", "arena/cpp2cpp-matmul").code == 2


def test_only_tasks_are_built(taskpack: Taskpack, task: Path) -> None:
    ran = taskpack("build", "ops/softmax")
    assert ran.code == 2
    assert "`op`" in ran.err
    shutil.copytree(PACKS / "ops" / "softmax", task.parent / "op")
    assert taskpack("build", task.parent).out.count("built") == 1


def test_a_target_that_there_is_not(taskpack: Taskpack, task: Path) -> None:
    ran = taskpack("build", "--target", "h20", cwd=task)
    assert ran.code == 2
    assert "did you mean `h200`?" in ran.err


def test_a_broken_pack_says_where_and_does_not_stop_the_others(taskpack: Taskpack, task: Path) -> None:
    broken = Path(shutil.copytree(task, task.parent / "broken"))
    (broken / "pack.toml").write_text((broken / "pack.toml").read_text().replace('"rows", "cols"]', '"rows", "kols"]'))
    alone = taskpack("build", cwd=broken)
    assert alone.code == 2
    assert alone.err.startswith("pack.toml:21:")
    assert "did you mean `cols`?" in alone.err
    both = taskpack("build", task.parent)
    assert both.code == 2
    assert "broken/pack.toml:21:" in both.err
    assert "built" in both.out


def test_a_pack_that_ships_leaves_nothing_in_the_current_folder(taskpack: Taskpack, tmp_path: Path) -> None:
    assert taskpack("build", "arena/cpp2cpp-softmax").code == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("task", "target"), [("hip2hip-softmax", "targets/cpu"), ("cpp2cpp-softmax", "targets/cpu")])
def test_auto_takes_a_gpu_only_where_the_tasks_languages_run_on_it(task: str, target: str) -> None:
    gpu = {"device": "cuda", "name": "NVIDIA H200", "arch": "", "capability": "9.0"}
    assert _of_gpu(gpu, PACKS / "arena" / task, open_shelf()) == target


def test_a_gpu_that_cannot_be_asked_is_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "torch.py").write_text("raise OSError('the driver is older than this build of torch')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr("taskpack.cli.targets._NODES", ("dev/null",))
    _find_gpu.cache_clear()

    assert _find_gpu() is None

    assert "warning: the CPU is taken, as torch cannot say what GPU this machine has: OSError: the driver is older" in capsys.readouterr().err
    _find_gpu.cache_clear()
