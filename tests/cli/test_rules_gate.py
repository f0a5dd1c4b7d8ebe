"""A run in which the gate *rules* has something to say: the harness judges by what the compiler put into its plan."""

import json
from pathlib import Path

import jsonschema

from taskpack.reports.text import render_result
from taskpack.resources import schemas

from .conftest import PACKS, Taskpack


def test_a_candidate_that_no_compiler_takes_is_refused_before_it_runs(taskpack: Taskpack, tmp_path: Path) -> None:
    source = (PACKS / "arena" / "triton2triton-softmax" / "kernel.py").read_text(encoding="utf-8")
    (tmp_path / "kernel.py").write_text(source.replace("BLOCK=BLOCK)", "BLOCK=BLOCK, num_warps=6)"), encoding="utf-8")
    ran = taskpack("run", "arena/triton2triton-softmax", "--candidate", tmp_path, "--target", "cpu", "--quick", "--json")
    result = json.loads(ran.out)
    verdicts = {gate["gate"]: (gate["verdict"], gate["reason"]) for gate in result["gates"]}
    assert ran.code == 1
    assert list(verdicts) == ["compile", "rules", "correct", "general", "fast"]
    assert verdicts["compile"][0] == "pass"
    assert verdicts["rules"] == (
        "fail",
        "kernel.py:32: triton/warps-power-of-two: softmax_rows: num_warps=6 (BLOCK=1024, num_warps=6), and the compiler takes powers of two only",
    )
    assert verdicts["correct"] == ("skip", "not reached: rules failed")
    jsonschema.validate(result, json.loads((schemas() / "result.schema.json").read_text(encoding="utf-8")))
    (error,) = [finding for finding in result["findings"] if finding["level"] == "error"]
    assert (error["file"], error["line"], error["fix"]) == ("kernel.py", 32, "num_warps is 1, 2, 4, 8, 16 or 32")


def test_findings_are_told_with_their_fixes() -> None:
    result = json.loads((Path(__file__).parent / "results" / "passed.json").read_text(encoding="utf-8"))
    finding = {"rule": "xe/most-warps", "level": "error", "file": "k.py", "line": 3, "message": "128 warps", "fix": "num_warps=64 at most"}
    unknown = {"rule": "xe/accumulator", "level": "unknown", "file": "k.py", "line": 9, "message": "`num_warps` is not known here", "fix": ""}
    lines = [line.split() for line in render_result({**result, "findings": [finding, unknown]}).splitlines()]
    assert ["xe/most-warps", "error", "k.py:3", "128", "warps;", "num_warps=64", "at", "most"] in lines
    assert ["xe/accumulator", "unknown", "k.py:9", "`num_warps`", "is", "not", "known", "here"] in lines
    assert "xe/" not in render_result(result)
