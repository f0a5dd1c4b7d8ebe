"""`taskpack check`: what is found, how it is said, and which packs are meant."""

import json
import shutil
from pathlib import Path

import pytest

from .conftest import PACKS, Taskpack

BROKEN = 'format = 1\n\n[pack]\nkind = "op"\nname = "local/broken"\nversion = "1"\nsummary = "x"\nlicence = "MIT"\n'


def _copy(name: str, to: Path) -> Path:
    return Path(shutil.copytree(PACKS / name, to, ignore=shutil.ignore_patterns(".taskpack")))


def test_the_packs_that_ship_have_no_problems(taskpack: Taskpack) -> None:
    ran = taskpack("check", PACKS)
    count = len(list(PACKS.glob("*/*/pack.toml")))
    assert (ran.code, ran.out, ran.err) == (0, f"checked {count} packs: no problems\n", "")


def test_the_pack_in_the_current_folder(taskpack: Taskpack, tmp_path: Path) -> None:
    assert taskpack("check", cwd=_copy("ops/softmax", tmp_path / "p")).out == "checked 1 pack: no problems\n"


def test_names_paths_and_folders_together(taskpack: Taskpack, tmp_path: Path) -> None:
    _copy("ops/softmax", tmp_path / "many" / "a")
    _copy("ops/matmul", tmp_path / "many" / "deep" / "b")
    ran = taskpack("check", "many", "arena/cpp2cpp-softmax", tmp_path / "many" / "a" / "pack.toml")
    assert ran.out == "checked 3 packs: no problems\n"


def test_no_pack_here(taskpack: Taskpack, tmp_path: Path) -> None:
    assert taskpack("check").code == 2
    (tmp_path / "empty").mkdir()
    ran = taskpack("check", "empty")
    assert ran.code == 2
    assert "there is no pack.toml in empty" in ran.err


def test_every_mistake_is_shown_where_it_stands(taskpack: Taskpack, tmp_path: Path) -> None:
    (tmp_path / "pack.toml").write_text(BROKEN)
    ran = taskpack("check")
    assert ran.code == 1
    assert "pack.toml:6:11: error[P016]" in ran.out
    assert "did you mean `license`" in ran.out
    assert ran.out.splitlines()[-1].startswith("checked 1 pack: ")
    assert "errors" in ran.out.splitlines()[-1]


def test_one_broken_pack_does_not_hide_the_others(taskpack: Taskpack, tmp_path: Path) -> None:
    for name in ("a", "z"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "pack.toml").write_text(BROKEN)
    _copy("ops/softmax", tmp_path / "m")
    ran = taskpack("check", tmp_path)
    assert ran.code == 1
    assert "a/pack.toml:6" in ran.out
    assert "z/pack.toml:6" in ran.out
    assert "checked 3 packs" in ran.out


def test_json(taskpack: Taskpack, tmp_path: Path) -> None:
    (tmp_path / "pack.toml").write_text(BROKEN)
    ran = taskpack("check", "--json", ".", "ops/softmax")
    said = json.loads(ran.out)
    assert ran.code == 1
    assert said["errors"] == len(said["packs"][0]["findings"]) > 1
    found = next(finding for finding in said["packs"][0]["findings"] if finding["code"] == "P016")
    assert (found["file"], found["line"], found["column"], found["severity"]) == ("pack.toml", 6, 11, "error")
    assert said["packs"][1]["findings"] == []


def test_a_pack_finds_its_neighbour(taskpack: Taskpack, tmp_path: Path) -> None:
    op = _copy("ops/softmax", tmp_path / "own-op") / "pack.toml"
    op.write_text(op.read_text().replace("ops/softmax", "local/own-op"))
    task = _copy("arena/cpp2cpp-softmax", tmp_path / "task") / "pack.toml"
    task.write_text(task.read_text().replace("ops/softmax", "local/own-op"))
    assert taskpack("check", cwd=tmp_path / "task").out == "checked 1 pack: no problems\n"


@pytest.mark.parametrize("verb", [["check"], ["build"], ["build", "--emit", "plan"], ["run"], ["prompt"], ["optimize", "--agent", "tune"]], ids=" ".join)
def test_every_verb_reports_a_mistake_of_the_author_where_it_stands(verb: list[str], taskpack: Taskpack, tmp_path: Path) -> None:
    """A mistake that is found only where the pack is held against another one."""
    assert taskpack("new", "cpp2cpp", "softmax").code == 0
    file = tmp_path / "softmax" / "pack.toml"
    file.write_text(file.read_text().replace('"cols"]', '"columns"]'))
    ran = taskpack(verb[0], "softmax", *verb[1:], *([] if verb == ["check"] else ["--target", "cpu"]))
    assert ran.code == (1 if verb == ["check"] else 2), ran.out + ran.err
    assert "softmax/pack.toml:" in ran.out + ran.err
    assert "`columns`" in ran.out + ran.err
