"""Models with candidates in them, on a library made for tests: each fault gets the verdict that names it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from toy import MINE, MODEL, PACK, install

from taskpack.compiler.build import build_pack
from taskpack.errors import NotFound, UsageError
from taskpack.models.candidates import gather
from taskpack.packs.load import load_pack
from taskpack.packs.shelf import Shelf, open_shelf
from taskpack.runtime import library

FOLDER = "local.module2torch-affine"
TASK = "local/module2torch-affine"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = tmp_path_factory.mktemp("site")
    install(site)
    return site


@pytest.fixture(scope="module")
def packs(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    packs = tmp_path_factory.mktemp("packs")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(site)
        for name, text, target in (("affine", PACK, "Affine"), ("net", MODEL, "Net")):
            (packs / name).mkdir()
            (packs / name / "pack.toml").write_text(text.replace("FINGERPRINT", library.fingerprint(f"toy_layers.affine:{target}")))
    return packs


def _shelf(packs: Path) -> Shelf:
    return open_shelf((packs,), explicit=(packs / "affine", packs / "net"))


@pytest.fixture(scope="module")
def harness(packs: Path, site: Path) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(site)
        return build_pack(packs / "net", "targets/cpu", _shelf(packs), out=packs / "x.pyz").path


def _swap(harness: Path, site: Path, folder: Path, code: str, *words: str) -> tuple[int, dict[str, tuple[str, str]], str]:
    """Exit code, gate → (verdict, reason), and what was said on stderr."""
    (folder / FOLDER).mkdir()
    (folder / FOLDER / "module.py").write_text(code)
    command = [sys.executable, str(harness), "--candidate", str(folder), "--quick", "--result", str(folder / "result.json"), *words]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(site)}, capture_output=True, text=True)
    path = folder / "result.json"
    gates = json.loads(path.read_text())["gates"] if path.exists() else []
    return done.returncode, {gate["gate"]: (gate["verdict"], gate["reason"]) for gate in gates}, done.stderr


@pytest.mark.parametrize(
    ("change", "gate", "words"),
    [
        ((", *, gain=1.0", ""), "interface", f"{TASK}: `__init__` has no parameter `gain`"),
        (("self.shift, x, self.scale", "self.shift, x, torch.ones_like(self.scale)"), "state-dict", "`norm.scale` is never used"),
        (("self.shift = nn", "self.offset = nn"), "state-dict", "has no `norm.shift`"),
        (("        return", "        x = x.bfloat16().float()\n        return"), "parity", "silent-drift: `tiny`"),
        pytest.param(
            ("        return", "        if x.max().item() > 1e30:\n            raise ValueError\n        return"),
            "stack",
            "breaks, the library's model has 0",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            ("        return", "        x = torch.stack([row + 0.0 for row in x])\n        return"),
            "throughput",
            "slower-in-situ: 0.",
            marks=[pytest.mark.slow, pytest.mark.alone],
        ),
    ],
    ids=["drops a keyword", "ignores the scale", "renames the shift", "drifts in bfloat16", "breaks the graph", "is slower"],
)
def test_each_fault_gets_the_verdict_that_names_it(change: tuple[str, str], gate: str, words: str, harness: Path, site: Path, tmp_path: Path) -> None:
    code, gates, errors = _swap(harness, site, tmp_path, MINE.replace(*change))
    assert (code, [name for name, (verdict, _) in gates.items() if verdict == "fail"]) == (1, [gate]), (gates, errors)
    assert words in gates[gate][1]


def test_a_plain_reimplementation_passes(harness: Path, site: Path, tmp_path: Path) -> None:
    _, gates, errors = _swap(harness, site, tmp_path, MINE)
    assert list(gates) == ["compile", "interface", "state-dict", "parity", "stack", "throughput"], errors
    assert [gates[name][0] for name in list(gates)[:5]] == ["pass"] * 5, gates
    assert gates["throughput"][0] != "fail"
    assert gates["interface"][1] == f"2 of {TASK}"
    result = json.loads((tmp_path / "result.json").read_text())
    assert set(result["in_situ"]) == {"share", "kernel_speedup", "amdahl_bound", "by"}
    assert [case["outputs"]["logits"]["noise_floor"] > 0 for case in result["cases"]] == [True]


@pytest.mark.slow
def test_a_candidate_that_dies_when_it_is_looked_into_is_still_judged(harness: Path, site: Path, tmp_path: Path) -> None:
    dies = MINE.replace("        return", "        if self._forward_hooks:\n            import os\n            os._exit(3)\n        return")
    code, gates, errors = _swap(harness, site, tmp_path, dies)
    assert code in (0, 1, 4), (gates, errors)
    assert json.loads((tmp_path / "result.json").read_text())["in_situ"] == "not measured: the candidate ended with status 3 before it answered"


def test_replacing_nothing_is_an_error(harness: Path, site: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(harness), "--candidate", str(tmp_path)], env={**os.environ, "PYTHONPATH": str(site)}, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert f"nothing is replaced: {tmp_path} holds none of {FOLDER}" in done.stderr


def test_a_pattern_that_no_module_has_is_an_error(packs: Path, site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(site)
    other = tmp_path / "other"
    other.mkdir()
    text = (packs / "net" / "pack.toml").read_text().replace(f'task = "{TASK}"\n', f'task = "{TASK}"\nmodules = "layers.*"\n')
    (other / "pack.toml").write_text(text)
    built = build_pack(other, "targets/cpu", _shelf(packs), out=tmp_path / "x.pyz")
    code, _, errors = _swap(built.path, site, tmp_path, MINE)
    assert code == 2
    assert "nothing is replaced: the model has no `toy_layers.affine:Affine` called `layers.*`" in errors


def test_a_configuration_that_the_device_is_not_asked_is_an_error(harness: Path, site: Path, tmp_path: Path) -> None:
    code, _, errors = _swap(harness, site, tmp_path, MINE, "--scale", "full")
    assert code == 2
    assert "targets/cpu is asked no case of the scale `full`" in errors


def test_gathering_candidates(packs: Path, tmp_path: Path) -> None:
    shelf, model = _shelf(packs), load_pack(packs / "net")
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "module.py").write_text(MINE)
    (mine / "notes.txt").write_text("not a candidate's file")
    gather(model, {"module2torch-affine": mine}, shelf, tmp_path / "all")
    assert [path.relative_to(tmp_path / "all").as_posix() for path in sorted((tmp_path / "all").rglob("*.*"))] == [FOLDER, f"{FOLDER}/module.py"]
    for given, error, words in (
        ({}, UsageError, "nothing is replaced"),
        ({"affline": mine}, UsageError, "`affline` replaces nothing in `local/net`"),
        ({TASK: tmp_path / "nowhere"}, NotFound, "there is no folder"),
    ):
        with pytest.raises(error, match=words):
            gather(model, given, shelf, tmp_path / "none")
    with pytest.raises(UsageError, match="of the kind `task`, not a model"):
        gather(load_pack(packs / "affine"), {TASK: mine}, shelf, tmp_path / "none")
