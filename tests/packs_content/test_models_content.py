"""The models that ship: plain re-implementations pass in them, and each planted fault gets the verdict that names it."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from taskpack.compiler.build import build_pack
from taskpack.models.candidates import gather
from taskpack.packs.load import load_pack
from taskpack.packs.shelf import open_shelf
from taskpack.resources import shipped_packs

HAS_LIBRARY = importlib.util.find_spec("transformers") is not None
RMSNORM, MLP = "production/hf-llama-rmsnorm", "production/hf-llama-mlp"

pytestmark = [pytest.mark.skipif(not HAS_LIBRARY, reason="needs transformers: pip install 'taskpack[models]'"), pytest.mark.slow]


def _swap(model: str, given: dict[str, str], tmp_path: Path) -> tuple[int, dict[str, tuple[str, str]]]:
    """Exit code, and gate → (verdict, reason)."""
    packs, shelf = shipped_packs(), open_shelf(())
    built = build_pack(packs / model, "targets/cpu", shelf, out=tmp_path / "x.pyz")
    gather(load_pack(packs / model), {task: packs / task / folder for task, folder in given.items()}, shelf, tmp_path / "candidate")
    words = ["--candidate", tmp_path / "candidate", "--quick", "--result", tmp_path / "result.json"]
    done = subprocess.run([sys.executable, built.path, *words], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    gates = json.loads((tmp_path / "result.json").read_text())["gates"]
    return done.returncode, {gate["gate"]: (gate["verdict"], gate["reason"]) for gate in gates}


@pytest.mark.parametrize(
    ("model", "tasks"),
    [("models/llama", (RMSNORM, MLP)), ("models/convnext", ("production/hf-convnext-layernorm",)), ("models/bert", ("production/hf-bert-intermediate",))],
)
def test_plain_reimplementations_pass(model: str, tasks: tuple[str, ...], tmp_path: Path) -> None:
    _, gates = _swap(model, dict.fromkeys(tasks, "start"), tmp_path)
    assert [gates[gate][0] for gate in ("compile", "interface", "state-dict", "parity", "stack")] == ["pass"] * 5, gates
    assert gates["throughput"][0] != "fail", gates  # a busy machine may leave it undecided


@pytest.mark.parametrize(
    ("task", "example", "gate", "words"),
    [
        (RMSNORM, "drops-a-keyword", "interface", "`__init__` has no parameter `eps`"),
        (RMSNORM, "ignores-the-weight", "state-dict", "`model.layers.0.input_layernorm.weight` is never used"),
        (MLP, "one-projection", "state-dict", "`model.layers.0.mlp.up_proj.weight` is never used"),
        (RMSNORM, "narrow", "parity", "silent-drift: `tiny-prefill`"),
        (MLP, "narrow", "parity", "silent-drift: `tiny-prefill`"),
        (RMSNORM, "asks-the-values", "stack", "graph-break: "),
        (RMSNORM, "row-by-row", "throughput", "slower-in-situ: 0."),
    ],
)
def test_planted_faults_get_the_verdict_that_names_them(task: str, example: str, gate: str, words: str, tmp_path: Path) -> None:
    code, gates = _swap("models/llama", {task: f"examples/{example}"}, tmp_path)
    assert (code, [name for name, (verdict, _) in gates.items() if verdict == "fail"]) == (1, [gate]), gates
    assert words in gates[gate][1]
