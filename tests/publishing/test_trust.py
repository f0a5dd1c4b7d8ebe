"""Strangers: packs of an index, and whatever is made with them."""

from pathlib import Path

import pytest

from taskpack import resources
from taskpack.packs.shelf import open_shelf
from taskpack.publishing.publish import publish
from taskpack.registry.adding import add
from taskpack.registry.index import begin_folder
from taskpack.registry.installed import Installed
from taskpack.registry.lock import LOCK
from taskpack.registry.trust import must_be_walled

from .conftest import PACKS


@pytest.fixture
def project(tmp_path: Path, op: Path) -> Path:
    """`demo/sum` is installed in it."""
    index = begin_folder(tmp_path / "index")
    publish(op, index)
    (tmp_path / "project").mkdir()
    add("demo/sum", "*", index, tmp_path / "project" / LOCK)
    return tmp_path / "project"


def test_ones_own_and_what_ships_are_no_strangers(op: Path) -> None:
    for folder in (op, PACKS / "arena/cpp2cpp-softmax"):
        assert not must_be_walled(folder, open_shelf(), is_trusting=False)


def test_ones_own_task_about_a_strangers_op_is_walled(project: Path, task: Path) -> None:
    shelf = open_shelf(explicit=[task], pinned=Installed(project))
    installed = shelf.find("demo/sum")
    assert installed
    assert must_be_walled(installed, shelf, is_trusting=False)
    assert must_be_walled(task, shelf, is_trusting=False)


def test_trust_is_for_a_content(project: Path, task: Path) -> None:
    shelf = open_shelf(explicit=[task], pinned=Installed(project))
    assert not must_be_walled(task, shelf, is_trusting=True)
    assert not must_be_walled(task, shelf, is_trusting=False)
    assert [path.name for path in (resources.cache() / "trusted").iterdir()] == [path.name for path in resources.installed_packs().iterdir()]
