"""What is compiled from packs that ship, and from two that use what those do not: read it in tests/golden; then it is run."""

import importlib.util
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from taskpack import resources
from taskpack.compiler.build import build_pack, emit
from taskpack.packs.shelf import open_shelf

from .conftest import PACKS


@dataclass(frozen=True)
class Example:
    """A pack for a target, and the candidate to judge where it brings none."""

    pack: str
    target: str = "cpu"
    candidate: str = ""
    is_timed_long: bool = False

    @property
    def name(self) -> str:
        return f"{self.pack.partition('/')[2]}-{self.target}"

    def marks(self) -> tuple[pytest.MarkDecorator, ...]:
        return (pytest.mark.slow,) if self.is_timed_long else ()

    @property
    def folder(self) -> Path:
        own = PACKS / self.pack
        return own if own.is_dir() else resources.shipped_packs() / self.pack


EXAMPLES = (
    Example("arena/cpp2cpp-segment-mean", is_timed_long=True),
    Example("arena/torch2triton-segment-mean"),
    Example("arena/torch2triton-segment-mean", "h200"),
    Example("arena/cpp2cpp-softmax", is_timed_long=True),
    Example("arena/hip2hip-rmsnorm"),
    Example("arena/torch2hip-matmul", candidate="examples/*"),
    Example("arena/triton2triton-reduce-sum"),
)
NEEDS = {"cpp": "a C++ compiler", "hip": "a C++ compiler, and HIP's back end", "triton": "triton", "torch": "torch"}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_golden(example: Example, golden: Callable[[str | Path], object]) -> None:
    shelf, target = open_shelf((PACKS,)), f"targets/{example.target}"
    assert emit(example.folder, target, shelf, "harness") == golden(f"{example.name}/harness.py")
    assert emit(example.folder, target, shelf, "plan") == golden(f"{example.name}/plan.json")


@pytest.mark.parametrize("example", [pytest.param(one, id=one.name, marks=one.marks()) for one in EXAMPLES if one.target == "cpu"])
def test_it_runs(example: Example, tmp_path: Path) -> None:
    built = build_pack(example.folder, "targets/cpu", open_shelf((PACKS,)), out=tmp_path / "x.pyz")
    languages = {json.loads(emit(example.folder, "targets/cpu", open_shelf((PACKS,)), "plan"))[side]["language"] for side in ("baseline", "candidate")}
    for language in languages:
        _skip_without(language)
    words = ["--quick", "--result", tmp_path / "result.json", "--seed", "07"]
    if example.candidate:
        words += ["--candidate", min(example.folder.glob(example.candidate))]

    done = subprocess.run([sys.executable, built.path, *words], cwd=tmp_path, capture_output=True, text=True)

    result = json.loads((tmp_path / "result.json").read_text())
    verdicts = {gate["gate"]: gate["verdict"] for gate in result["gates"]}
    # A busy machine may leave `fast` undecided, or call a candidate slower than itself; that is for the clock's own tests.
    assert [verdicts[gate] for gate in ("compile", "correct", "general")] == ["pass"] * 3, done.stdout + done.stderr
    assert result["digests"]["harness"] == built.harness_digest
    assert result["digests"]["task"] == built.task_digest
    assert done.returncode in (0, 1)


def _skip_without(language: str) -> None:
    is_there = {
        "cpp": bool(shutil.which("g++") or shutil.which("clang++")),
        "hip": bool(shutil.which("g++") or shutil.which("clang++")) and (resources.runtime_folder() / "languages" / "hip.py").is_file(),
        "triton": importlib.util.find_spec("triton") is not None,
        "torch": importlib.util.find_spec("torch") is not None,
    }
    if not is_there[language]:
        pytest.skip(f"needs {NEEDS[language]}")
