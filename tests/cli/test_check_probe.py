"""`taskpack check --probe`: strong tasks pass, weak ones are named with what would mend them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from .conftest import PACKS, Taskpack


def _task(taskpack: Taskpack, folder: Path) -> Path:
    """A task with an op of its own, `local/own`; both below `folder`."""
    shutil.copytree(PACKS / "ops/softmax", folder / "own", ignore=shutil.ignore_patterns(".taskpack"))
    shutil.copytree(PACKS / "arena/cpp2cpp-softmax", folder / "task", ignore=shutil.ignore_patterns(".taskpack"))
    for name in ("own", "task"):
        file = folder / name / "pack.toml"
        file.write_text(file.read_text().replace("ops/softmax", "local/own"))
    return folder / "own" / "pack.toml"


@pytest.mark.slow
def test_a_strong_task(taskpack: Taskpack, tmp_path: Path) -> None:
    _task(taskpack, tmp_path)
    ran = taskpack("check", "--probe", "task")
    assert ran.code == 0, ran.out + ran.err
    lines = ran.out.splitlines()
    assert lines[0] == "checked 1 pack: no problems"
    assert lines[1].startswith("arena/cpp2cpp-softmax: 18 cases, wrong answers: ")
    assert lines[2:] == ["probed 1 question of 1 task: none weak"]


def test_a_weak_task_is_named_with_what_would_mend_it(taskpack: Taskpack, tmp_path: Path) -> None:
    op = _task(taskpack, tmp_path)
    op.write_text(op.read_text().replace('[op.tolerance]\nreduction = "cols"', '[op.tolerance]\nrtol = 0.2\natol = 0.2\nreason = "none"'))
    ran = taskpack("check", "--probe", "task")
    assert ran.code == 1, ran.out + ran.err
    assert 'task/pack.toml: error[weak]: arena/cpp2cpp-softmax: no case refuses the wrong answer "fp8 precision" for y; nearest to refusal is `' in ran.out
    assert "hint: tighten `rtol` and `atol`" in ran.out
    assert ran.out.endswith("probed 1 question of 1 task: 1 weak\n")


@pytest.mark.slow
def test_json_names_what_passes_in_some_cases(taskpack: Taskpack, tmp_path: Path) -> None:
    _task(taskpack, tmp_path)
    ran = taskpack("check", "--probe", "--json", "task")
    assert ran.code == 0
    said = json.loads(ran.out)
    (probe,) = said["probes"]
    assert (probe["tasks"], probe["weak"], probe["skipped"]) == (["arena/cpp2cpp-softmax"], [], "")
    kinds = {one["mutant"]: one for one in probe["mutants"]}
    assert kinds["zeros"]["verdict"] == "rejected"
    assert {"case": "square", "distribution": "constant-rows"} in kinds["row mean"]["survives"] or kinds["row mean"]["judged"] < kinds["zeros"]["judged"]


def test_an_error_is_reported_and_nothing_is_run(taskpack: Taskpack, tmp_path: Path) -> None:
    op = _task(taskpack, tmp_path)
    op.write_text(op.read_text().replace('dtype = "T"', 'dtype = "U"'))
    ran = taskpack("check", "--probe", "own")
    assert ran.code == 1
    assert "P022" in ran.out
    assert "probed" not in ran.out


def test_models_and_other_packs_are_left_out_with_a_reason(taskpack: Taskpack) -> None:
    ran = taskpack("check", "--probe", PACKS / "models/bert", PACKS / "ops/softmax")
    assert ran.code == 0, ran.out + ran.err
    assert "warning[probe]: not probed: a model is judged by a measured noise floor" in ran.out
    assert ran.out.endswith("probed 0 questions of 0 tasks: none weak, 1 not probed\n")


@pytest.mark.slow
def test_tasks_that_ask_the_same_are_probed_once(taskpack: Taskpack, tmp_path: Path) -> None:
    ran = taskpack("check", "--probe", *(PACKS / f"arena/{family}-softmax" for family in ("cpp2cpp", "torch2hip", "triton2triton")))
    assert ran.code == 0, ran.out + ran.err
    assert "(the same question as arena/torch2hip-softmax, arena/triton2triton-softmax)" in ran.out
    assert ran.out.endswith("probed 1 question of 3 tasks: none weak\n")


@pytest.mark.slow
def test_every_task_that_ships_refuses_wrong_answers(taskpack: Taskpack) -> None:
    ran = taskpack("check", "--probe", PACKS)
    assert ran.code == 0, ran.out + ran.err
    assert "none weak" in ran.out
