"""The candidate's own work, held to what a task allows: by its source in *compile*, by a trace of what a call runs in *correct*."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from harnesses import CPP, TRITON, Outcome, Warm, make_plan, without, write_harness

_HEAD = "import torch\nimport torch.nn.functional as F\n"
_IN = "def softmax(x, y, rows, cols):\n"
_ALLOWS = '[task.allow] torch = "none"'


def _plan(language: str, torch: str = "none", vendor: bool = False) -> dict[str, Any]:
    plan = without(make_plan(language), "fast")
    plan["limits"]["call_s"] = 10
    return {**plan, "allow": {"torch": torch, "vendor_libraries": vendor}}


def _judge(warm: Warm, folder: Path, plan: dict[str, Any], source: str) -> Outcome:
    outcome = warm.run(write_harness(folder / "h.pyz", plan), source)
    assert not outcome.left
    return outcome


@pytest.mark.parametrize("language", ["torch", "triton"])
def test_softmax_of_torch_is_read(warm: Warm, tmp_path: Path, language: str) -> None:
    if language == "triton":
        pytest.importorskip("triton")
    outcome = _judge(warm, tmp_path, _plan(language), f"{_HEAD}{_IN}    y.copy_(F.softmax(x, -1))\n    torch.softmax(x, -1, out=y)\n")

    assert outcome.verdict("compile") == "fail"
    words = f"kernel.py:4: calls torch.nn.functional.softmax, and this task allows torch for allocation and views only ({_ALLOWS}) (and 1 more)"
    assert outcome.reason("compile") == words
    assert outcome.result["own_work"] == {"allow": {"torch": "none", "vendor-libraries": False}, "ops": {}}


@pytest.mark.parametrize(
    ("line", "operation"),
    [
        ("y.copy_(x.softmax(-1))", "aten._softmax.default"),
        ("getattr(torch, 'soft' + 'max')(x, -1, out=y)", "aten.softmax.int_out"),
        ("e = (x - x.amax(-1, keepdim=True)).exp(); y.copy_(e / (e @ torch.ones(cols, cols)))", "aten.amax.default"),
    ],
)
def test_what_the_source_hides_is_traced(warm: Warm, tmp_path: Path, line: str, operation: str) -> None:
    outcome = _judge(warm, tmp_path, _plan("torch"), f"{_HEAD}{_IN}    {line}\n")

    assert outcome.verdict("compile") == "pass"
    assert outcome.verdict("correct") == "fail"
    assert outcome.reason("correct").startswith(f"ran {operation} (kernel.py:4), and this task allows torch for allocation and views only ({_ALLOWS})")
    assert operation in outcome.result["own_work"]["ops"]


def test_products_of_torch_are_a_vendors(warm: Warm, tmp_path: Path) -> None:
    source = f"{_HEAD}{_IN}    e = (x - x.max(-1, keepdim=True).values).exp()\n    y.copy_(e / (e @ torch.ones(cols, cols)))\n"
    outcome = _judge(warm, tmp_path, _plan("torch", "all"), source)

    assert (
        outcome.reason("correct") == "ran aten.mm.default (kernel.py:5), and this task allows no libraries of vendors ([task.allow] vendor-libraries = false)"
    )

    assert _judge(warm, tmp_path, _plan("torch", "all", True), source).verdict("correct") == "pass"


def test_an_honest_triton_candidate(warm: Warm, tmp_path: Path) -> None:
    pytest.importorskip("triton")
    source = TRITON.replace("    rows_kernel[", "    x = x.contiguous()\n    out = torch.empty_like(y)\n    rows_kernel[").replace(
        "(x, y, cols, B", "(x, out, cols, B"
    )
    outcome = _judge(warm, tmp_path, _plan("triton"), f"import torch\n{source}    y.copy_(out)\n")

    assert {gate["gate"]: gate["verdict"] for gate in outcome.result["gates"]} == {"compile": "pass", "correct": "pass", "general": "pass"}, outcome.stderr
    assert set(outcome.result["own_work"]["ops"]) == {"aten.empty_like.default", "aten.copy_.default"}


def test_elementwise_arithmetic(warm: Warm, tmp_path: Path) -> None:
    plan = _plan("torch", "elementwise")
    double = f"{_HEAD}{_IN}    torch.mul(x * 2, 0.5, out=y)\n"

    outcome = _judge(warm, tmp_path, plan, double)
    assert (outcome.verdict("compile"), outcome.verdict("correct")) == ("pass", "fail")
    assert "y differs" in outcome.reason("correct")

    outcome = _judge(warm, tmp_path, plan, f"{_HEAD}{_IN}    e = torch.exp(x)\n    y.copy_(e / torch.sum(e, -1, keepdim=True))\n")
    assert outcome.reason("compile").startswith(
        "kernel.py:5: calls torch.sum, and this task allows torch for allocation, views and elementwise arithmetic only"
    )


def test_elementwise_arithmetic_that_is_right(warm: Warm, tmp_path: Path) -> None:
    plan = _plan("torch", "elementwise")
    harness = write_harness(tmp_path / "h.pyz", plan, "def softmax(x):\n    return x * 2\n")
    outcome = warm.run(harness, f"{_HEAD}{_IN}    y.copy_(x * 2)\n")

    assert outcome.verdict("correct") == "pass", outcome.reason("correct")
    assert outcome.result["own_work"]["ops"] == {"aten.mul.Tensor": 1, "aten.copy_.default": 1}


def test_the_copy_of_the_functional_style_is_the_harness_own(warm: Warm, tmp_path: Path) -> None:
    plan = _plan("torch", "all")
    plan["candidate"] |= {"style": "functional", "arguments": ["x"]}
    outcome = _judge(warm, tmp_path, plan, "def softmax(x):\n    return x.softmax(-1)\n")

    assert outcome.verdict("correct") == "pass", outcome.reason("correct")
    assert outcome.result["own_work"]["ops"] == {"aten._softmax.default": 1}


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("#include <cblas.h>\n", "kernel.cpp:1: includes <cblas.h>"),
        ('#include <dlfcn.h>\nvoid* held = dlopen("libblas.so.3", 1);\n', 'kernel.cpp:2: opens "libblas.so.3"'),
        ('// <cblas.h>\nextern "C" void cblas_sgemm(int);\n', "kernel.cpp:2: names cblas_sgemm"),
    ],
)
def test_libraries_of_native_candidates_are_read(warm: Warm, tmp_path: Path, code: str, words: str) -> None:
    outcome = _judge(warm, tmp_path, _plan("cpp"), code + CPP)

    assert outcome.reason("compile") == f"{words}, and this task allows no libraries of vendors ([task.allow] vendor-libraries = false)"


def test_native_candidates_are_not_traced(warm: Warm, tmp_path: Path) -> None:
    outcome = _judge(warm, tmp_path, _plan("cpp"), CPP)

    assert outcome.verdict("general") == "pass"
    assert outcome.result["own_work"]["ops"] == {}


def test_where_everything_is_allowed_nothing_is_said(warm: Warm, tmp_path: Path) -> None:
    outcome = _judge(warm, tmp_path, _plan("torch", "all", True), f"{_HEAD}{_IN}    torch.softmax(x, -1, out=y)\n")

    assert outcome.verdict("general") == "pass"
    assert "own_work" not in outcome.result
