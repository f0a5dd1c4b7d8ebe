"""What tests of the compiler share: small packs of their own, copied where a test changes them, and the way from words to a plan."""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import tomli

from taskpack.compiler.lower import lower_pack
from taskpack.compiler.plan import Plan
from taskpack.compiler.resolve import Resolved, resolve_pack
from taskpack.packs.load import Loaded, load_pack
from taskpack.packs.shelf import Shelf, open_shelf

PACKS = Path(__file__).parent / "packs"
TASK = "arena/cpp2cpp-segment-mean"
OP = "ops/segment-mean"


@pytest.fixture
def packs(tmp_path: Path) -> Path:
    """The packs of these tests, where they can be changed."""
    return Path(shutil.copytree(PACKS, tmp_path / "packs", ignore=shutil.ignore_patterns(".taskpack")))


def shelf(packs: Path = PACKS) -> Shelf:
    return open_shelf((packs,))


def resolve(packs: Path = PACKS, task: str = TASK, target: str = "targets/cpu") -> Resolved:
    return resolve_pack(load_pack(packs / task), target, shelf(packs).fetch)


def lower(packs: Path = PACKS, task: str = TASK, target: str = "targets/cpu") -> Plan:
    return lower_pack(resolve(packs, task, target))


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert text.count(old) >= 1, old
    file.write_text(text.replace(old, new, 1), encoding="utf-8", newline="\n")


def raw(packs: Path, name: str) -> dict[str, Any]:
    return tomli.loads((packs / name / "pack.toml").read_text(encoding="utf-8"))


Rewrite = Callable[[Mapping[str, Any]], Mapping[str, Any]]


def loaded(name: str) -> Loaded:
    return load_pack(PACKS / name)
