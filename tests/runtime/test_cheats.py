"""Every folder of tests/cheats: an attack is stopped by the gate that it names, an honest twin passes, and neither leaves anything behind."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest
from harnesses import FILES, Warm, make_plan, without, write_harness

CHEATS = Path(__file__).parents[1] / "cheats"
GATES = ("compile", "correct", "general", "fast")


def read(name: str) -> tuple[dict[str, Any], dict[str, str]]:
    folder = CHEATS / name
    told = tomllib.loads((folder / "cheat.toml").read_text(encoding="utf-8"))
    return told, {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir() if path.name != "cheat.toml"}


@pytest.mark.parametrize("name", sorted(path.name for path in CHEATS.iterdir() if path.is_dir()))
def test_cheat(name: str, warm: Warm, tmp_path: Path) -> None:
    told, files = read(name)
    if told["language"] in ("cpp", "hip") and not (shutil.which("g++") or shutil.which("clang++")):
        pytest.skip("no C++ compiler")
    if told["language"] == "triton":
        pytest.importorskip("triton")
    assert FILES[told["language"]] in files
    plan = make_plan(told["language"])
    plan["limits"] = {"compile_s": 60, "call_s": 2, "memory_mib": 512, "output_mib": 4}
    stopping = told["stopped-by"]
    harness = write_harness(tmp_path / "h.pyz", plan if stopping == "fast" else without(plan, "fast"))

    outcome = warm.run(harness, files)

    assert not outcome.left
    assert outcome.seconds < 60
    verdicts = {gate["gate"]: gate["verdict"] for gate in outcome.result["gates"]}
    if stopping == "none":
        assert set(verdicts.values()) == {"pass"}, outcome.stderr
        return
    assert outcome.code == 1
    if told.get("may-be-inconclusive") and verdicts[stopping] == "inconclusive":
        return
    assert verdicts[stopping] == "fail", outcome.stderr
    assert all(verdicts[gate] == "pass" for gate in GATES[: GATES.index(stopping)])
    assert told["reason"] in outcome.reason(stopping)
