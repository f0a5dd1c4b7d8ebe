"""Packs of a namespace of their own, and a cache that is the test's."""

import shutil
from pathlib import Path

import pytest

PACKS = Path(__file__).parents[2] / "packs"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TASKPACK_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def _copy(name: str, folder: Path, renamed: dict[str, str]) -> Path:
    shutil.copytree(PACKS / name, folder, ignore=shutil.ignore_patterns(".taskpack"))
    text = (folder / "pack.toml").read_text()
    for old, new in renamed.items():
        text = text.replace(f'"{old}"', f'"{new}"')
    (folder / "pack.toml").write_text(text)
    return folder


@pytest.fixture
def op(tmp_path: Path) -> Path:
    """`demo/sum` 1.0.0, an op."""
    return _copy("ops/reduce-sum", tmp_path / "sum", {"ops/reduce-sum": "demo/sum"})


@pytest.fixture
def task(tmp_path: Path) -> Path:
    """`demo/cpp-sum` 0.1.0, a task about `demo/sum` ^1.0."""
    return _copy("arena/cpp2cpp-reduce-sum", tmp_path / "cpp-sum", {"arena/cpp2cpp-reduce-sum": "demo/cpp-sum", "ops/reduce-sum": "demo/sum"})


@pytest.fixture
def knowing(tmp_path: Path) -> Path:
    """`demo/cpu` 0.1.0 or so, a target."""
    return _copy("targets/cpu", tmp_path / "cpu", {"targets/cpu": "demo/cpu"})


def edit(folder: Path, *changes: tuple[str, str], file: str = "pack.toml") -> None:
    """Replaces texts of a file, each of which must be there."""
    text = (folder / file).read_text()
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    (folder / file).write_text(text)
