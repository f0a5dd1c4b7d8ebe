"""Every folder of tests/cheats/honest: unusual habits that harm nobody pass every gate, and leave nothing behind."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

import pytest
from harnesses import FILES, Warm, make_plan, without, write_harness

HONEST = Path(__file__).parents[1] / "cheats" / "honest"
NATIVE = ("cpp", "torch")


@pytest.mark.parametrize("name", sorted(path.parent.name for path in HONEST.glob("*/cheat.toml")))
def test_honest(name: str, warm: Warm, tmp_path: Path) -> None:
    told = tomllib.loads((HONEST / name / "cheat.toml").read_text(encoding="utf-8"))
    files = {path.name: path.read_text(encoding="utf-8") for path in (HONEST / name).iterdir() if path.name != "cheat.toml"}
    language = told["language"]
    if language in ("cpp", "hip") and not (shutil.which("g++") or shutil.which("clang++")):
        pytest.skip("no C++ compiler")
    if language == "triton":
        pytest.importorskip("triton")
    assert (told["class"], told["stopped-by"], set(files)) == ("honest", "none", {FILES[language]})
    plan = make_plan(language)
    plan["limits"] = {"compile_s": 60, "call_s": 5, "memory_mib": 1024, "output_mib": 4}

    outcome = warm.run(write_harness(tmp_path / "h.pyz", plan if language in NATIVE else without(plan, "fast")), files)

    assert not outcome.left
    for gate in ("compile", "correct", "general"):
        assert outcome.verdict(gate) == "pass", outcome.reason(gate) + outcome.stderr
    if language in NATIVE:  # slower than the baseline is an honest verdict, and noise is nobody's fault
        is_slow = "slower than the baseline" in outcome.reason("fast")
        assert outcome.verdict("fast") in ("pass", "inconclusive") or is_slow, outcome.reason("fast")
