"""What only a CUDA device can show: memory shared by descriptor, and harnesses that judge there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from harnesses import REFERENCE, TORCH, TRITON, Outcome, Warm, make_gpu_plan, write_harness

from taskpack.runtime import device_memory
from taskpack.runtime.memory import Arena, lay_out

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.alone,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not torch.cuda.is_available(), reason=f"needs a CUDA device: torch {torch.__version__} finds none"),
]

_OTHER = """
import json, sys, torch
from taskpack.runtime.memory import Layout, Mapping
said = json.loads(sys.argv[1])
mapping = Mapping(said["descriptor"], Layout.from_dict(said["layout"]), said["writable"])
exec(said["code"])
torch.cuda.synchronize()
"""


def _other_process(arena: Arena, code: str) -> subprocess.CompletedProcess[str]:
    """Runs code that knows the arena as `mapping`."""
    torch.cuda.synchronize()
    said = {"descriptor": arena.descriptor, "layout": arena.layout.to_dict(), "writable": arena.is_writable, "code": code}
    root = str(Path(__file__).parents[2])
    return subprocess.run(
        [sys.executable, "-c", _OTHER, json.dumps(said)],
        pass_fds=[arena.descriptor],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])},
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "bool"])
@pytest.mark.parametrize(("shape", "sets"), [((), 1), ((7, 5), 1), ((7, 5), 3), ((0, 3), 2), ((1200, 1000), 3)])
def test_both_sides_see_the_same(dtype: str, shape: tuple[int, ...], sets: int) -> None:
    arena = Arena(lay_out(shape, dtype, sets, "cuda"), is_writable=True)

    done = _other_process(arena, f"for index in range({sets}): mapping.tensor(index).fill_(index)")

    assert done.returncode == 0, done.stderr
    for index in range(sets):
        assert torch.equal(arena.tensor(index), torch.full(shape, index, dtype=getattr(torch, dtype), device="cuda"))
        assert arena.tensor(index).data_ptr() % 256 == 0
    assert arena.holds(torch.stack([arena.tensor(index) for index in range(sets)]))
    arena.close()


@pytest.mark.parametrize("sets", [1, 4])
def test_poison_and_slack(sets: int) -> None:
    arena = Arena(lay_out((3, 5), "float32", sets, "cuda"), is_writable=True)
    arena.poison(0x0123456789ABCDEF, sets)
    assert all(arena.is_untouched(index) for index in range(sets))
    assert arena.slack_damage(sets) is None
    arena.tensor(0).zero_()
    assert not arena.is_untouched(0)
    assert not arena.holds(torch.ones(1, 3, 5, device="cuda"))
    arena._bytes[arena.layout.start(sets - 1) + arena.layout.nbytes] = 0
    assert arena.slack_damage(sets) == "after"
    arena.poison(5, sets)
    arena._bytes[arena.layout.offset - 1] = 1
    assert arena.slack_damage(sets) == "before"
    arena.close()


_PAST_THE_END = """
class Longer:
    __cuda_array_interface__ = {"shape": (257,), "typestr": "|u1", "data": (mapping.tensor().data_ptr(), False), "version": 3}
torch.as_tensor(Longer(), device="cuda").fill_(1)
"""


@pytest.mark.parametrize(
    ("is_writable", "code"),
    [
        (False, "mapping.tensor().fill_(1)"),
        (True, _PAST_THE_END),
    ],
    ids=["an input", "past the end"],
)
def test_a_write_where_none_is_allowed_ends_the_writer_alone(is_writable: bool, code: str) -> None:
    arena = Arena(lay_out((16,), "float32", home="cuda"), is_writable)
    done = _other_process(arena, code)

    assert done.returncode != 0
    assert "illegal memory access" in done.stderr, done.stderr
    assert float(arena.tensor().fill_(3).sum()) == 48.0, "this process goes on"
    arena.close()


def test_memory_goes_back() -> None:
    device_memory.page()
    before = torch.cuda.mem_get_info()[0]
    for _ in range(8):
        arena = Arena(lay_out((1 << 28,), "float32", home="cuda"), is_writable=True)
        arena.close()
        del arena
    assert torch.cuda.mem_get_info()[0] > before - (1 << 30)


_NAIVE = (
    "import torch\ndef softmax(x, y, rows, cols):\n    e = torch.exp(x - x.max(-1, keepdim=True).values)\n    torch.div(e, e.sum(-1, keepdim=True), out=y)\n"
)


_ONCE_AN_ADDRESS = """
SEEN = set()
whole = softmax

def softmax(x, y, rows, cols):
    if x.data_ptr() not in SEEN:
        SEEN.add(x.data_ptr())
        whole(x, y, rows, cols)
"""


def _run(warm: Warm, tmp_path: Path, plan: dict[str, Any], candidate: str, baseline: str = _NAIVE) -> Outcome:
    return warm.run(write_harness(tmp_path / "h.pyz", plan, baseline=baseline), candidate)


def test_a_fused_kernel_is_faster_than_five_launches(warm: Warm, tmp_path: Path) -> None:
    outcome = _run(warm, tmp_path, make_gpu_plan(), TRITON)

    assert outcome.code == 0, outcome.stdout + outcome.stderr
    (scored,) = (timing for timing in outcome.result["timing"] if not timing["unseen"])
    assert scored["launch"] == "graph"
    assert scored["low"] > 2, scored["reason"]
    assert scored["other"]["launch"] == "call"
    assert scored["other"]["baseline_us"] > scored["baseline_us"], "five launches take the host longer than the device"
    assert outcome.result["isolation"] in ("namespaces", "process")
    assert not outcome.left


def test_the_host_s_time_is_scored_where_the_task_says_so(warm: Warm, tmp_path: Path) -> None:
    outcome = _run(warm, tmp_path, make_gpu_plan() | {"timing": {"score": "host"}}, TRITON)

    (scored,) = (timing for timing in outcome.result["timing"] if not timing["unseen"])
    assert (scored["launch"], scored["other"]["launch"]) == ("call", "graph")


@pytest.mark.parametrize("also", ["", "; torch.rand(4, device=x.device)"], ids=["looks at a value", "and draws random numbers"])
def test_what_cannot_be_captured_is_timed_call_by_call(also: str, warm: Warm, tmp_path: Path) -> None:
    looks = "import torch\n" + TRITON.replace("def softmax(x, y, rows, cols):", f"def softmax(x, y, rows, cols):\n    assert x.sum().item() < 1e30{also}")

    outcome = _run(warm, tmp_path, make_gpu_plan(), looks)

    assert {timing["launch"] for timing in outcome.result["timing"]} == {"call"}
    assert outcome.verdict("correct") == "pass"
    assert all(timing["speedup"] is not None for timing in outcome.result["timing"]), outcome.reason("fast")


@pytest.mark.parametrize("reference", [REFERENCE, REFERENCE.replace("    return", "    assert x.sum().item() < 1e30\n    return")], ids=["launches", "looks"])
def test_many_answers_at_once(reference: str, warm: Warm, tmp_path: Path) -> None:
    """Of small cases there are hundreds of sets; a reference that does nothing but launch is captured."""
    plan = make_gpu_plan()
    plan["cases"][1]["values"].update(rows=64)

    outcome = warm.run(write_harness(tmp_path / "h.pyz", plan, reference, _NAIVE), TRITON)

    (scored,) = (timing for timing in outcome.result["timing"] if not timing["unseen"])
    assert scored["sets"][1] > 128
    assert scored["low"] > 2, scored["reason"]


@pytest.mark.parametrize(
    ("gate", "candidate", "words"),
    [
        ("correct", TORCH.replace("-1, out", "0, out"), "y differs at"),
        ("correct", TORCH.replace("torch.softmax", "x.add_(1); torch.softmax"), "illegal memory access"),
        ("correct", TORCH.replace("    torch", "    if rows % 2: return\n    torch"), "was never written"),
        ("correct", TRITON.replace("mask=at < n)\n\ndef", "mask=at < n + 64)\n\ndef"), "wrote outside of `y`"),
        ("fast", TRITON + _ONCE_AN_ADDRESS, "output was wrong"),
    ],
    ids=["wrong", "writes its input", "writes nothing", "writes past the end", "works once an address"],
)
def test_bad_candidates(warm: Warm, tmp_path: Path, gate: str, candidate: str, words: str) -> None:
    plan = make_gpu_plan()
    if gate == "fast":  # it looks at addresses: twice on one would be seen by *correct* as well
        plan["gates"] = ["compile", "fast"]

    outcome = _run(warm, tmp_path, plan, candidate)

    assert outcome.verdict(gate) == "fail", outcome.reason(gate)
    assert words in outcome.reason(gate)
    assert not outcome.left
