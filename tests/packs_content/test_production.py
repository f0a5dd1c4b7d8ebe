"""The tasks about modules of transformers: what ships passes, and each planted fault gets the verdict that names it."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from taskpack.compiler.build import build_pack
from taskpack.packs.load import load_pack
from taskpack.packs.shelf import open_shelf
from taskpack.packs.task import TaskPack
from taskpack.resources import shipped_packs

TASKS = ("hf-llama-rmsnorm", "hf-llama-mlp", "hf-convnext-layernorm")
HAS_LIBRARY = importlib.util.find_spec("transformers") is not None

pytestmark = pytest.mark.skipif(not HAS_LIBRARY, reason="needs transformers: pip install 'taskpack[models]'")


def _candidates(task: str) -> list[tuple[str, str]]:
    """Folder and expected verdict of everything that the pack brings along."""
    document = load_pack(shipped_packs() / "production" / task).document
    assert isinstance(document, TaskPack)
    return [("start", "pass"), *((example.folder, example.expect) for example in document.task.examples)]


CANDIDATES = [(task, folder, expected) for task in TASKS for folder, expected in _candidates(task)]
QUICK = ("hf-llama-rmsnorm", "examples/ignores-the-weight")


@pytest.mark.parametrize(
    ("task", "folder", "expected"),
    [pytest.param(*one, id=f"{one[0]}-{Path(one[1]).name}", marks=() if one[:2] == QUICK else pytest.mark.slow) for one in CANDIDATES],
)
def test_what_ships_gets_its_verdict(task: str, folder: str, expected: str, tmp_path: Path) -> None:
    pack = shipped_packs() / "production" / task
    built = build_pack(pack, "targets/cpu", open_shelf(()), out=tmp_path / "x.pyz")
    words = ["--candidate", pack / folder, "--quick", "--result", tmp_path / "result.json"]

    done = subprocess.run([sys.executable, built.path, *words], cwd=tmp_path, capture_output=True, text=True)

    gates = json.loads((tmp_path / "result.json").read_text())["gates"]
    # A busy machine may call anything slow: *fast* counts only where it is what must fail.
    failed = [gate["gate"] for gate in gates if gate["verdict"] == "fail" and (gate["gate"] != "fast" or expected == "fast")]
    assert failed == ([] if expected == "pass" else [expected]), done.stdout + done.stderr
    if expected == "pass":
        assert [gate["verdict"] for gate in gates if gate["gate"] != "fast"] == ["pass"] * 5
