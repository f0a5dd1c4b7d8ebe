"""Ops of every form: in-outs, several outputs, counts, flags, scalars, generators, the functional style."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from harnesses import Outcome, Warm, make_plan, write_harness

PAGE = """
import sys
from taskpack_runtime.main import Harness, main

def shapes(*, n, T, up): return {SHAPES}
def inits(*, n, T, up): return {INITS}
def derived(name, tensors, *, n, T, up): return tensors["a"] * 2
def constraints(*, n, T, up): return ()
def invariants(tensors, *, n, T, up): return {INVARIANTS}
def reductions(*, n, T, up): return {}
def cost(*, n, T, up): return {"bytes": 0, "flops": 0}

HARNESS = Harness(
    __file__, shapes=shapes, inits=inits, constraints=constraints, invariants=invariants, reductions=reductions, cost=cost, derived=derived
)
"""

TENSOR = {"shape": ["n"], "static": False, "edges": [], "count": None, "compare": "close", "dtype": "T"}
PLAIN = {"shape": [], "static": False, "edges": [], "count": None, "compare": "exact"}


def tensor(name: str, role: str, **changes: Any) -> dict[str, Any]:
    return {"name": name, "role": role, **TENSOR, **changes}


def harness(
    folder: Path,
    tensors: list[dict[str, Any]],
    reference: str,
    *,
    entry: list[str],
    inits: str,
    shapes: str | None = None,
    invariants: str = "()",
    style: str = "destination",
    generator: str | None = None,
    language: str = "torch",
) -> Path:
    plan = make_plan(language)
    dims = [{"name": "n", "role": "dim", "dtype": "int64", **PLAIN}, {"name": "up", "role": "flag", "dtype": "int32", **PLAIN}]
    plan |= {
        "arguments": [*tensors, *dims],
        "names": {"dims": ["n"], "dtypes": ["T"], "flags": ["up"], "scalars": []},
        "reference": {"file": "reference.py", "entry": "op", "generator": generator},
        "cases": [{"id": "one", "scale": "small", "values": {"n": 33, "T": "float32", "up": True}, "digest": "sha256:1", "timed": True}],
        "unseen": [{"id": "drawn", "scale": "small", "count": 3, "draws": {"n": {"range": [1, 70]}, "T": "float32", "up": {"choice": [True, False]}}}],
        "tolerance": {},
        "gates": ["compile", "correct", "general"],
    }
    for side in ("baseline", "candidate"):
        plan[side] |= {"entry": "op", "arguments": entry, "style": style}
    shapes = shapes or "{" + ", ".join(f'"{t["name"]}": ({", ".join(map(str, t["shape"]))}{"," if t["shape"] else ""})' for t in tensors) + "}"
    page = PAGE.replace("{SHAPES}", shapes).replace("{INITS}", inits).replace("{INVARIANTS}", invariants)
    return write_harness(folder / "h.pyz", plan, reference=reference, page=page)


def passes(outcome: Outcome) -> bool:
    return outcome.code == 0


ADD = "def op(x, r, up):\n    s = x + r\n    return s, (s * 2 if up else s)\n"


def test_in_out_and_output(warm: Warm, tmp_path: Path) -> None:
    tensors = [tensor("x", "input"), tensor("y", "output"), tensor("r", "inout")]
    page = harness(tmp_path, tensors, ADD, entry=["x", "r", "y", "up"], inits='{"x": {"normal": {}}, "r": {"uniform": {}}}')

    right = warm.run(page, "def op(x, r, y, up):\n    r += x\n    y.copy_(r * 2 if up else r)\n")
    forgets = warm.run(page, "def op(x, r, y, up):\n    y.copy_((r + x) * 2 if up else r + x)\n")

    assert passes(right), right.stderr
    assert "r differs at" in forgets.reason("correct")


def test_functional_style(warm: Warm, tmp_path: Path) -> None:
    tensors = [tensor("x", "input"), tensor("y", "output"), tensor("r", "inout")]
    page = harness(tmp_path, tensors, ADD, entry=["x", "r", "up"], inits='{"x": {"normal": {}}, "r": {"uniform": {}}}', style="functional")

    right = warm.run(page, "def op(x, r, up):\n    s = x + r\n    return s, s * 2 if up else s\n")
    wide = warm.run(page, "def op(x, r, up):\n    s = x.double() + r\n    return s, s * 2 if up else s\n")
    shorter = warm.run(page, "def op(x, r, up):\n    s = x + r\n    return s, s[1:]\n")
    one = warm.run(page, "def op(x, r, up):\n    return x + r\n")

    assert passes(right), right.stderr
    assert "r has dtype torch.float64, want torch.float32" in wide.reason("correct")
    assert "y has shape [32], want [33]" in shorter.reason("correct")
    assert "returned 1 values, want 2: r, y" in one.reason("correct")


KEEP = """
import torch

def op(x, n):
    kept = x[x > 0]
    out = torch.full((n,), 7.0, dtype=x.dtype)
    out[: len(kept)] = kept
    return out, len(kept)
"""


def test_only_counted_rows_are_compared(warm: Warm, tmp_path: Path) -> None:
    tensors = [tensor("x", "input"), tensor("y", "output", count="k"), tensor("k", "output", shape=[], dtype="int32", compare="exact")]
    page = harness(tmp_path, tensors, KEEP, entry=["x", "y", "k", "n"], inits='{"x": {"normal": {}}}')
    candidate = "def op(x, y, k, n):\n    kept = x[x > 0]\n    y[: len(kept)] = kept\n    k.fill_(len(kept))\n"

    assert passes(warm.run(page, candidate))
    assert "k differs" in warm.run(page, candidate.replace("k.fill_(len(kept))", "k.fill_(0)")).reason("correct")


def test_bool_outputs_hold_zero_or_one(warm: Warm, tmp_path: Path) -> None:
    tensors = [tensor("x", "input"), tensor("y", "output", dtype="bool", compare="exact")]
    page = harness(tmp_path, tensors, "def op(x):\n    return x > 0\n", entry=["x", "y"], inits='{"x": {"normal": {}}}')

    assert passes(warm.run(page, "import torch\ndef op(x, y):\n    torch.gt(x, 0, out=y)\n"))
    assert "y differs" in warm.run(page, "import torch\ndef op(x, y):\n    y.view(torch.uint8).copy_((x > 0) * 255)\n").reason("correct")


def test_derived_and_generated_inputs(warm: Warm, tmp_path: Path) -> None:
    tensors = [tensor("a", "input"), tensor("b", "input"), tensor("c", "input", dtype="int32"), tensor("y", "output")]
    reference = (
        "import torch\n\ndef op(a, b, c):\n    return a + b + c\n\n"
        "def draw(n, seed):\n    return {'c': torch.randint(0, 9, (n,), generator=torch.Generator().manual_seed(seed))}\n"
    )
    inits = '{"a": {"normal": {}}, "b": {"derive": {}}, "c": {"generator": True}}'
    page = harness(
        tmp_path,
        tensors,
        reference,
        entry=["a", "b", "c", "y"],
        inits=inits,
        invariants='(("b == 2 a", bool((tensors["b"] == 2 * tensors["a"]).all())),)',
        generator="reference.py:draw",
    )

    right = warm.run(page, "def op(a, b, c, y):\n    y.copy_(3 * a + c)\n")

    assert passes(right), right.stderr


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"invariants": '(("never", False),)'}, "the invariant `never` does not hold for `one`"),
        ({"inits": '{"x": {"permutation": {}}}', "reference": "def op(x):\n    return x[1:]\n"}, "y came out with shape [32], the declaration says [33]"),
        ({"inits": '{"x": {"unique-index": {"below": 3}}}'}, "33 different indices below 3 do not exist"),
        ({"reference": "def op(x, unknown):\n    return x\n"}, "the reference raised TypeError"),
        ({"reference": "import os\ndef op(x):\n    os._exit(3)\n"}, "the reference ended with status 3"),
        ({"reference": "def other(x):\n    return x\n"}, "the reference reference.py has no function `op`"),
    ],
)
def test_faults_of_the_pack_are_inconclusive(warm: Warm, tmp_path: Path, changes: dict[str, str], words: str) -> None:
    asked = {"reference": "def op(x):\n    return x\n", "inits": '{"x": {"normal": {}}}', **changes}
    page = harness(tmp_path, [tensor("x", "input"), tensor("y", "output")], entry=["x", "y"], **asked)  # type: ignore[arg-type]

    outcome = warm.run(page, "def op(x, y):\n    y.copy_(x)\n")

    assert outcome.verdict("correct") == "inconclusive"
    assert words in outcome.reason("correct")
    assert outcome.code == 1
    assert not outcome.left


def test_empty_tensors(warm: Warm, tmp_path: Path) -> None:
    shapes = '{"x": (n, 0), "y": (n, 0)}'
    page = harness(
        tmp_path, [tensor("x", "input"), tensor("y", "output")], "def op(x):\n    return x\n", entry=["x", "y"], inits='{"x": {"normal": {}}}', shapes=shapes
    )

    outcome = warm.run(page, "def op(x, y):\n    y.copy_(x)\n")

    assert passes(outcome), outcome.reason("correct")
