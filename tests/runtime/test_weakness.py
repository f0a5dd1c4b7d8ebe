"""Harnesses in probe mode: weak tasks are found weak for the reason that they are, strong ones are not."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from harnesses import Outcome, Warm, make_plan, write_harness

_PAGE = """
from taskpack_runtime.main import Harness

def shapes(*, rows, cols, T, twice=False, eps=0.0): return {SHAPES}
def inits(**_): return {INITS}
def derived(name, tensors, **_): raise KeyError(name)
def constraints(*, cols, **_): return (("cols > 0", cols > 0),)
def invariants(tensors, **_): return ()
def reductions(**_): return {"y": 1}
def cost(**_): return {"bytes": 0, "flops": 0}

HARNESS = Harness(
    __file__, shapes=shapes, inits=inits, constraints=constraints, invariants=invariants, reductions=reductions, cost=cost, derived=derived
)
"""
_NORMAL = {"normal": {"mean": 0.0, "std": 1.0}}


def _plan(inputs: tuple[str, ...], bound: float | None = None) -> dict[str, Any]:
    """An op with flag and scalar, a plain and a square case; `bound`, if given, is both tolerances (`rtol` below 1)."""
    plan = deepcopy(make_plan())
    tensor = {"dtype": "T", "shape": ["rows", "cols"], "static": False, "edges": [], "count": None, "compare": "close"}
    plain = {"shape": [], "static": False, "edges": [], "count": None, "compare": "exact"}
    plan["arguments"] = [
        *({"name": name, "role": "input", **tensor} for name in inputs),
        {"name": "y", "role": "output", **tensor},
        {"name": "twice", "role": "flag", "dtype": "int32", **plain},
        {"name": "eps", "role": "scalar", "dtype": "float32", **plain},
    ]
    plan["names"] |= {"flags": ["twice"], "scalars": ["eps"]}
    for number, case in enumerate(plan["cases"]):
        case["values"] |= {"twice": bool(number), "eps": 0.5 + number}
    plan["unseen"] = []
    plan["tolerance"]["y"] |= {"rtol": bound and min(bound, 0.9), "atol": bound}
    return plan


def _probe(
    warm: Warm, folder: Path, body: str, inputs: tuple[str, ...] = ("x",), bound: float | None = None, inits: dict[str, Any] | None = None
) -> tuple[Outcome, set[str], dict[str, str]]:
    """The outcome, the mutants that pass, and the verdict of each mutant."""
    plan = _plan(inputs, bound)
    page = _PAGE.replace("{SHAPES}", f"{{name: (rows, cols) for name in {(*inputs, 'y')!r}}}").replace("{INITS}", repr(inits or dict.fromkeys(inputs, _NORMAL)))
    reference = f"import torch\ndef softmax({', '.join(inputs)}, twice, eps):\n    return {body}\n"
    outcome = warm.run(write_harness(folder / "t.pyz", plan, reference, page=page), None, "--probe")
    assert outcome.result, outcome.stderr
    assert not outcome.left
    return outcome, {one["mutant"] for one in outcome.result["weak"]}, {one["mutant"]: one["verdict"] for one in outcome.result["mutants"]}


STRONG = "(x.exp() + eps) * (2.0 if twice else 1.0)"


def test_a_strong_task_refuses_every_wrong_answer(warm: Warm, tmp_path: Path) -> None:
    outcome, weak, verdicts = _probe(warm, tmp_path, STRONG)
    assert (outcome.code, weak) == (0, set())
    absent = {name for name, verdict in verdicts.items() if verdict == "not applicable"}
    assert absent == {"constant along axis 2", "constant along axis 3"}


def test_exchanged_inputs(warm: Warm, tmp_path: Path) -> None:
    """A difference tells its inputs apart; a sum does not, and is right not to."""
    _, weak, verdicts = _probe(warm, tmp_path, "(x - z + eps) * (2.0 if twice else 1.0)", ("x", "z"))
    assert (weak, verdicts["`x` and `z` exchanged"]) == (set(), "rejected")
    _, weak, verdicts = _probe(warm, tmp_path, "(x + z + eps) * (2.0 if twice else 1.0)", ("x", "z"))
    assert (weak, verdicts["`x` and `z` exchanged"]) == (set(), "not applicable")


@pytest.mark.parametrize(
    ("body", "bound", "expected"),
    [
        pytest.param(STRONG, 100.0, {"zeros", "ones", "mean", "row mean", "last tile missing", "last row missing", "transposed", "`x` ignored"}, id="loose"),
        pytest.param(STRONG, 0.2, {"one dtype coarser", "fp8 precision"}, id="of-little-precision"),
        pytest.param("x.exp() * (2.0 if twice else 1.0) + eps * 0", None, {"`eps` ignored"}, id="scalar-without-effect"),
        pytest.param("x.exp() + eps", None, {"`twice` ignored"}, id="flag-without-effect"),
        pytest.param("(x[:, :1].exp() + eps).expand(x.shape) * (2.0 if twice else 1.0)", None, {"constant along axis 1"}, id="constant-rows"),
        pytest.param("(x[:1].exp() + eps).expand(x.shape) * (2.0 if twice else 1.0)", None, {"constant along axis 0"}, id="same-rows"),
        pytest.param("x * 0", None, {"zeros", "`x` ignored", "`twice` ignored", "`eps` ignored"}, id="nothing"),
        pytest.param("x * (1 + 1e-7 * eps) * (1 + 1e-7 * twice)", None, {"copy of `x`", "`eps` ignored", "`twice` ignored"}, id="copy"),
        pytest.param(
            "(torch.arange(x.numel()).reshape(x.shape) + 10 * eps) * (2.0 if twice else 1.0)",
            None,
            {"`x` ignored"},
            id="input-without-effect",
        ),
    ],
)
def test_a_weak_task_is_found(warm: Warm, tmp_path: Path, body: str, bound: float | None, expected: set[str]) -> None:
    outcome, weak, _ = _probe(warm, tmp_path, body, bound=bound)
    assert outcome.code == 1
    assert expected <= weak
    assert all(one["advice"] and one["output"] == "y" for one in outcome.result["weak"])


def test_inputs_that_never_vary(warm: Warm, tmp_path: Path) -> None:
    """A constant input can be ignored, and leaves the same answer whatever came before."""
    outcome, weak, _ = _probe(warm, tmp_path, STRONG, inits={"x": {"constant": {"value": 2.0}}})
    assert outcome.code == 1
    assert {"answer from earlier contents", "`x` ignored"} <= weak


def test_what_passes_in_one_case_alone_is_no_weakness(warm: Warm, tmp_path: Path) -> None:
    """Rows that are constant where `twice` is set, and not elsewhere."""
    outcome, weak, _ = _probe(warm, tmp_path, "(x[:, :1].exp() + eps).expand(x.shape) * 2.0 if twice else x.exp() + eps")
    assert (outcome.code, weak) == (0, set())


def test_a_pack_that_does_not_hold_is_refused_in_words(warm: Warm, tmp_path: Path) -> None:
    plan = make_plan()
    outcome = warm.run(write_harness(tmp_path / "t.pyz", plan, "def softmax(x):\n    raise ValueError('no')\n"), None, "--probe")
    assert outcome.code == 2
    assert "the reference" in outcome.stderr
