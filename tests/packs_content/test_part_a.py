"""What must hold of the packs for softmax, reduce-sum, matmul and rmsnorm, and of the targets, besides being free of mistakes."""

import importlib.util
import inspect
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from taskpack import resources
from taskpack.packs.check import check_pack
from taskpack.packs.load import load_pack
from taskpack.packs.op import Draw, Op, OpPack, Unseen
from taskpack.packs.shelf import open_shelf
from taskpack.packs.target import TargetPack
from taskpack.packs.task import Task, TaskPack
from taskpack.runtime.draw import draw_values
from taskpack.runtime.inputs import make_inputs

PACKS = resources.shipped_packs()
OPS = ("softmax", "reduce-sum", "matmul", "rmsnorm")
FAMILIES = ("hip2hip", "triton2triton", "torch2hip", "cpp2cpp")
TASKS = tuple(f"{family}-{op}" for family in FAMILIES for op in OPS)
TARGETS = ("cpu", "h200", "mi300x", "arc-b70")


def _op(name: str) -> Op:
    document = load_pack(PACKS / "ops" / name).document
    assert isinstance(document, OpPack)
    return document.op


def _task(name: str) -> Task:
    document = load_pack(PACKS / "arena" / name).document
    assert isinstance(document, TaskPack)
    return document.task


@pytest.mark.parametrize("name", [*(f"ops/{op}" for op in OPS), *(f"arena/{task}" for task in TASKS), *(f"targets/{target}" for target in TARGETS)])
def test_checks_clean(name: str) -> None:
    assert not check_pack(load_pack(PACKS / name), open_shelf())


@pytest.mark.parametrize("name", OPS)
def test_small_cases_suit_an_emulator(name: str) -> None:
    op = _op(name)
    small = [op.values_of(case) for case in op.cases if case.scale == "small"]
    assert len(small) >= 3
    assert sum(case.scale == "full" for case in op.cases) >= 2
    for values in small:
        sizes = [int(values[dim]) for dim in op.dims]
        assert math.prod(sizes) <= (96**3 if name == "matmul" else 200_000)
        assert all(size % 64 == 0 for size in sizes[1:])  # so that only unseen cases have a remainder


@pytest.mark.parametrize("name", OPS)
def test_unseen_cases_are_awkward(name: str) -> None:
    op = _op(name)
    for scale in ("small", "full"):
        assert sum(table.count for table in op.unseen if table.scale == scale) >= 8
    last = list(op.dims)[-1]
    rng = random.Random(0)
    drawn = [_draw(op, table, rng)[last] for table in op.unseen for _ in range(20)]
    assert all(size % 64 for size in drawn)


@pytest.mark.parametrize("name", OPS)
def test_reference_computes_a_drawn_case_in_float64(name: str) -> None:
    op = _op(name)
    function = _reference(name, op)
    table = next(table for table in op.unseen if table.scale == "small")
    values = _draw(op, table, random.Random(7))
    inputs = {key: tensor.double() for key, tensor in _inputs(op, values).items()}
    known = {**inputs, **values}
    output = function(**{key: known[key] for key in inspect.signature(function).parameters})
    (declared,) = op.outputs
    assert output.dtype == torch.float64
    assert list(output.shape) == [values[str(size)] for size in declared.shape]
    torch.testing.assert_close(output, _known_answer(name, inputs, values), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", TASKS)
def test_task_names_every_dtype_and_its_files(name: str) -> None:
    task = _task(name)
    assert task.family == name.partition("-")[0]
    candidate = task.candidate.as_side(task.baseline)
    if candidate.language in ("cpp", "hip"):
        assert "{T}" in candidate.entry
    if task.family == "torch2hip":
        assert task.candidate.start is None
        assert task.examples


@pytest.mark.parametrize("name", [task for task in TASKS if not task.endswith("reduce-sum")])
def test_a_better_candidate_comes_along(name: str) -> None:
    assert any(example.expect == "pass" for example in _task(name).examples)


def test_wrong_candidates_come_along() -> None:
    assert {example.expect for example in _task("cpp2cpp-softmax").examples} == {"pass", "compile", "correct", "general", "fast"}
    assert "general" in {example.expect for example in _task("hip2hip-softmax").examples}


@pytest.mark.parametrize("name", TARGETS)
def test_target_limits(name: str) -> None:
    document = load_pack(PACKS / "targets" / name).document
    assert isinstance(document, TargetPack)
    target = document.target
    assert target.limits["warp-size"].value in (16, 32, 64)
    assert bool(target.peak) == (target.device != "cpu")  # a CPU is whichever is at hand, and has no rates of its own


def _draw(op: Op, table: Unseen, rng: random.Random) -> dict[str, Any]:
    rules = {name: rule.to_dict() if isinstance(rule, Draw) else rule for name, rule in table.draws.items()}
    names = {"dims": list(op.dims), "dtypes": list(op.dtypes), "scalars": [scalar.name for scalar in op.scalars]}
    return draw_values({"id": "unseen", "draws": rules}, names, rng, lambda **_: ())


def _inputs(op: Op, values: dict[str, Any]) -> dict[str, torch.Tensor]:
    arguments = [
        {"name": tensor.name, "role": "input", "dtype": tensor.dtype, "shape": list(tensor.shape), "static": tensor.static, "edges": list(tensor.edges)}
        for tensor in op.given()
    ]
    shapes = {tensor.name: tuple(int(values[str(size)]) for size in tensor.shape) for tensor in op.given()}
    inits = {tensor.name: {tensor.init.kind: tensor.init.arguments()} for tensor in op.given()}
    return make_inputs(arguments, shapes, inits, {name: values[name] for name in op.dtypes}, {}, seed=1)


def _reference(name: str, op: Op) -> Callable[..., torch.Tensor]:
    file, _, entry = op.reference.partition(":")
    path = Path(PACKS, "ops", name, file)
    spec = importlib.util.spec_from_file_location(f"reference_of_{name.replace('-', '_')}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function: Callable[..., torch.Tensor] = getattr(module, entry)
    return function


def _known_answer(name: str, inputs: dict[str, torch.Tensor], values: dict[str, Any]) -> torch.Tensor:
    """torch's own operation, where the reference spells it out, and the other way round."""
    if name == "matmul":
        return torch.einsum("mk,kn->mn", inputs["a"], inputs["b"])
    x = inputs["x"]
    if name == "softmax":
        return torch.softmax(x, -1)
    if name == "reduce-sum":
        return torch.stack([row.sum() for row in x])
    return torch.nn.functional.rms_norm(x, x.shape[-1:], inputs["weight"], values["eps"])
