"""`taskpack new`: what it writes, what it refuses, and what it leaves alone."""

import itertools
import json
from pathlib import Path

import pytest
import tomli
from hypothesis import given
from hypothesis import strategies as st

from taskpack import resources, scaffold
from taskpack.errors import Conflict, NotFound, UsageError
from taskpack.packs.check import check_pack
from taskpack.packs.load import load_pack
from taskpack.packs.shelf import open_shelf
from taskpack.packs.task import FAMILIES

from .conftest import PACKS, Taskpack

AWKWARD = ("a", "range", "torch", "class", "log-softmax-rows", "x1-y2-z3", "a" * 64)


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_every_family_has_a_template(family: str) -> None:
    assert family in scaffold.families()


@pytest.mark.parametrize(("family", "name"), list(itertools.product(sorted(FAMILIES), ["softmax", "my-rows", *AWKWARD])))
def test_what_is_made_is_a_pack_without_problems(family: str, name: str, tmp_path: Path) -> None:
    shelf = open_shelf()
    taken = scaffold.scaffold(family, name, tmp_path / name, shelf)
    assert taken == ("ops/softmax" if name == "softmax" else None)
    loaded = load_pack(tmp_path / name)
    assert check_pack(loaded, shelf) == ()
    assert loaded.name == f"local/{name}"
    assert loaded.document.task.family == family  # type: ignore[union-attr]
    for file in tmp_path.rglob("*"):
        if file.is_file():
            content = file.read_bytes()
            assert b"\r" not in content
            assert b"cookiecutter" not in content
            assert content.endswith(b"\n")
            assert not content.endswith(b"\n\n")


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_every_op_that_has_code_can_be_taken(family: str, tmp_path: Path) -> None:
    shelf = open_shelf()
    ops = [path.parent.name for path in PACKS.glob(f"arena/{family}-*/pack.toml")]
    for op in (name.partition("-")[2] for name in ops):
        scaffold.scaffold(family, op, tmp_path / op, shelf)
        assert check_pack(load_pack(tmp_path / op), shelf) == ()


def test_files_of_a_task_from_pytorch(tmp_path: Path) -> None:
    scaffold.scaffold("torch2triton", "softmax", tmp_path / "s", open_shelf())
    arena = PACKS / "arena"
    assert (tmp_path / "s" / "baseline.py").read_bytes() == (arena / "torch2hip-softmax" / "baseline.py").read_bytes()
    assert (tmp_path / "s" / "start" / "kernel.py").read_bytes() == (arena / "triton2triton-softmax" / "kernel.py").read_bytes()
    assert not (tmp_path / "s" / "reference.py").exists()


def test_an_op_under_another_name(taskpack: Taskpack, tmp_path: Path) -> None:
    ran = taskpack("new", "cpp2cpp", "mine", "--op", "softmax", "--folder", tmp_path / "there")
    assert (ran.code, ran.out) == (0, "made there: a cpp2cpp task, about `ops/softmax`\n")
    assert 'name = "local/mine"' in (tmp_path / "there" / "pack.toml").read_text()


def test_the_schema_resolves_and_git_ignores_it(tmp_path: Path) -> None:
    scaffold.scaffold("hip2hip", "rows", tmp_path / "rows", open_shelf())
    first = (tmp_path / "rows" / "pack.toml").read_text().splitlines()[0]
    schema = tmp_path / "rows" / first.removeprefix("#:schema ")
    assert json.loads(schema.read_text()) == json.loads((resources.schemas() / "task.schema.json").read_text())
    assert (schema.parent / ".gitignore").read_text() == "*\n"


def test_nothing_is_overwritten(taskpack: Taskpack, tmp_path: Path) -> None:
    (tmp_path / "softmax").mkdir()
    (tmp_path / "softmax" / "mine").write_text("precious")
    ran = taskpack("new", "hip2hip", "softmax")
    assert ran.code == 4
    assert "softmax is there already" in ran.err
    assert [path.name for path in (tmp_path / "softmax").iterdir()] == ["mine"]
    (tmp_path / "dangling").symlink_to("nowhere")
    with pytest.raises(Conflict):
        scaffold.scaffold("hip2hip", "x", tmp_path / "dangling", open_shelf())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dangling", "softmax"]


def test_a_failure_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scaffold.resources, "schemas", lambda: tmp_path / "no-schemas")
    with pytest.raises(FileNotFoundError):
        scaffold.scaffold("hip2hip", "rows", tmp_path / "rows", open_shelf())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["", "A", "../x", "a/b", "a--b", "-a", "1a", "a_b", "a" * 65, "{{ 7 }}", "a\n"])
def test_names_that_cannot_be(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        scaffold.scaffold("hip2hip", name, tmp_path / "x", open_shelf())
    assert list(tmp_path.iterdir()) == []


def test_refusals_name_what_there_is(taskpack: Taskpack) -> None:
    ran = taskpack("new", "hip3hip", "x")
    assert (ran.code, ran.err) == (2, "error: there is no family `hip3hip`\n\nhint: did you mean `hip2hip`?\n")
    ran = taskpack("new", "hip2hip", "x", "--op", "sofmax")
    assert ran.code == 3
    assert "did you mean `ops/softmax`?" in ran.err
    ran = taskpack("new", "hip2hip", "x", "--op", "targets/cpu")
    assert ran.code == 2
    assert taskpack("new", "hip2hip", "x", "--folder", "no/where").code == 3


def test_an_op_for_which_nobody_wrote_code(tmp_path: Path) -> None:
    without = [path.parent.name for path in PACKS.glob("ops/*/pack.toml") if not (PACKS / "arena" / f"cpp2cpp-{path.parent.name}").exists()]
    assert without
    for op in without:
        with pytest.raises(NotFound) as raised:
            scaffold.scaffold("cpp2cpp", op, tmp_path / op, open_shelf())
        assert "families with code for it: " in raised.value.hint


@given(st.text(max_size=300))
def test_any_words_survive_as_toml(text: str) -> None:
    if not any(0xD800 <= ord(character) < 0xE000 for character in text):
        assert tomli.loads(f'x = "{scaffold._toml_text(text)}"') == {"x": text}
