"""What must hold of the packs for fused-add-rmsnorm, gemm-bias-gelu, topk-router and varlen-attention, besides being free of mistakes."""

import importlib.util
import inspect
import math
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from taskpack import resources
from taskpack.packs.check import check_pack
from taskpack.packs.expressions import parse
from taskpack.packs.load import load_pack
from taskpack.packs.op import Draw, Op, OpPack, Unseen
from taskpack.packs.shelf import open_shelf
from taskpack.packs.task import Task, TaskPack
from taskpack.runtime.draw import draw_values
from taskpack.runtime.inputs import make_inputs

PACKS = resources.shipped_packs()
OPS = ("fused-add-rmsnorm", "gemm-bias-gelu", "topk-router", "varlen-attention")
FAMILIES = ("hip2hip", "triton2triton", "torch2hip", "cpp2cpp")
TASKS = tuple(f"{family}-{op}" for family in FAMILIES for op in OPS)


def _op(name: str) -> Op:
    document = load_pack(PACKS / "ops" / name).document
    assert isinstance(document, OpPack)
    return document.op


def _task(name: str) -> Task:
    document = load_pack(PACKS / "arena" / name).document
    assert isinstance(document, TaskPack)
    return document.task


@pytest.mark.parametrize("name", [*(f"ops/{op}" for op in OPS), *(f"arena/{task}" for task in TASKS)])
def test_checks_clean(name: str) -> None:
    assert not check_pack(load_pack(PACKS / name), open_shelf())


@pytest.mark.parametrize("name", OPS)
def test_small_cases_suit_an_emulator_and_full_ones_a_gpu(name: str) -> None:
    op = _op(name)
    assert op.cost is not None
    cost = parse(op.cost.flops, op.scope())
    flops: dict[str, list[float]] = {"small": [], "full": []}
    for case in op.cases:
        value = cost.evaluate(op.values_of(case))
        assert isinstance(value, int | float)
        flops[case.scale].append(value)
    assert len(flops["small"]) >= 3
    assert len(flops["full"]) >= 2
    assert max(flops["small"]) < 5e6
    assert max(flops["full"]) > 20 * max(flops["small"])


@pytest.mark.parametrize("name", OPS)
def test_unseen_cases_are_enough_and_keep_the_constraints(name: str) -> None:
    op = _op(name)
    for scale in ("small", "full"):
        assert sum(table.count for table in op.unseen if table.scale == scale) >= 8
    rng = random.Random(0)
    for table in op.unseen:
        for _ in range(20):
            values = _draw(op, table, rng)
            assert all(holds for _, holds in _constraints(op, values))


@pytest.mark.parametrize("name", OPS)
def test_reference_computes_drawn_cases_in_float64(name: str) -> None:
    op = _op(name)
    function = _reference(name, op)
    rng = random.Random(7)
    for table in op.unseen:
        if table.scale != "small":
            continue
        values = _draw(op, table, rng)
        inputs = {key: tensor.double() if tensor.is_floating_point() else tensor for key, tensor in _inputs(op, values).items()}
        known = {**inputs, **values}
        returned = function(**{key: known[key] for key in inspect.signature(function).parameters})
        outputs = returned if isinstance(returned, tuple) else (returned,)
        for declared, output, answer in zip(op.written(), outputs, KNOWN_ANSWERS[name](inputs, values), strict=True):
            assert output.dtype == (torch.int32 if declared.dtype == "int32" else torch.float64)
            assert tuple(output.shape) == _shape(op, declared.shape, values)
            torch.testing.assert_close(output, answer, rtol=1e-12, atol=1e-12)


def test_references_leave_their_inputs_alone() -> None:
    residual = torch.ones(2, 3, dtype=torch.float64)
    x, weight = torch.full_like(residual, 2.0), torch.ones(3, dtype=torch.float64)
    total, y = _reference("fused-add-rmsnorm", _op("fused-add-rmsnorm"))(x=x, weight=weight, residual=residual, eps=0.0)
    assert residual.eq(1.0).all()
    assert total.eq(3.0).all()
    torch.testing.assert_close(y, torch.ones_like(y))


def test_router_takes_the_lower_of_equal_experts() -> None:
    indices, weights = _reference("topk-router", _op("topk-router"))(logits=torch.tensor([[1.0, 2.0, 2.0, 2.0, 0.0]], dtype=torch.float64), k=4)
    assert indices.tolist() == [[1, 2, 3, 0]]
    torch.testing.assert_close(weights.sum(), torch.tensor(1.0, dtype=torch.float64))


def test_attention_has_empty_sequences_among_its_cases() -> None:
    op = _op("varlen-attention")
    assert any(int(values["batch"]) > int(values["tokens"]) for values in (op.values_of(case) for case in op.cases if case.scale == "small"))


@pytest.mark.parametrize("name", TASKS)
def test_task_names_every_dtype_and_its_files(name: str) -> None:
    task = _task(name)
    assert task.family == name.partition("-")[0]
    candidate = task.candidate.as_side(task.baseline)
    if candidate.language in ("cpp", "hip"):
        assert "{T}" in candidate.entry
    if task.family == "torch2hip":
        assert task.candidate.start is None
        assert any(example.expect == "pass" for example in task.examples)


@pytest.mark.parametrize("name", [task for task in TASKS if task.endswith(("fused-add-rmsnorm", "gemm-bias-gelu"))])
def test_a_better_candidate_comes_along(name: str) -> None:
    assert any(example.expect == "pass" for example in _task(name).examples)


def _draw(op: Op, table: Unseen, rng: random.Random) -> dict[str, Any]:
    rules = {name: rule.to_dict() if isinstance(rule, Draw) else rule for name, rule in table.draws.items()}
    names = {"dims": list(op.dims), "dtypes": list(op.dtypes), "flags": list(op.flags), "scalars": [scalar.name for scalar in op.scalars]}
    return draw_values({"id": "unseen", "draws": rules}, names, rng, lambda **values: _constraints(op, values))


def _constraints(op: Op, values: dict[str, Any]) -> list[tuple[str, bool]]:
    return [(text, parse(text, op.scope()).evaluate(values) is True) for text in op.constraints]


def _evaluate(op: Op, size: int | str, values: dict[str, Any]) -> int:
    value = parse(size, op.scope()).evaluate(values) if isinstance(size, str) else size
    assert isinstance(value, int)
    return value


def _shape(op: Op, shape: tuple[int | str, ...], values: dict[str, Any]) -> tuple[int, ...]:
    return tuple(_evaluate(op, size, values) for size in shape)


def _inputs(op: Op, values: dict[str, Any]) -> dict[str, torch.Tensor]:
    arguments = [{"name": tensor.name, "role": "input", "dtype": tensor.dtype} for tensor in op.given()]
    shapes = {tensor.name: _shape(op, tensor.shape, values) for tensor in op.given()}
    inits = {}
    for tensor in op.given():
        said = {key: _evaluate(op, value, values) if key in tensor.init.expressions() else value for key, value in tensor.init.arguments().items()}
        inits[tensor.name] = {tensor.init.kind: said}
    return make_inputs(arguments, shapes, inits, {name: values[name] for name in op.dtypes}, {}, seed=1)


def _reference(name: str, op: Op) -> Callable[..., Any]:
    file, _, entry = op.reference.partition(":")
    spec = importlib.util.spec_from_file_location(f"reference_of_{name.replace('-', '_')}", Path(PACKS, "ops", name, file))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function: Callable[..., Any] = getattr(module, entry)
    return function


def _known_norm(inputs: dict[str, torch.Tensor], values: dict[str, Any]) -> Iterator[torch.Tensor]:
    total = inputs["x"] + inputs["residual"]
    yield total
    yield torch.nn.functional.rms_norm(total, total.shape[-1:], inputs["weight"], values["eps"])


def _known_gelu(inputs: dict[str, torch.Tensor], _: dict[str, Any]) -> Iterator[torch.Tensor]:
    yield torch.nn.functional.gelu(torch.nn.functional.linear(inputs["x"], inputs["weight"], inputs["bias"]))


def _known_experts(inputs: dict[str, torch.Tensor], values: dict[str, Any]) -> Iterator[torch.Tensor]:
    """Python's own sort, of pairs."""
    rows = inputs["logits"].tolist()
    chosen = [sorted(range(len(row)), key=lambda expert, row=row: (-row[expert], expert))[: values["k"]] for row in rows]  # type: ignore[misc]
    powers = [[math.exp(row[expert] - row[best[0]]) for expert in best] for row, best in zip(rows, chosen, strict=True)]
    yield torch.tensor(chosen, dtype=torch.int32)
    yield torch.tensor([[power / sum(row) for power in row] for row in powers], dtype=torch.float64)


def _known_attention(inputs: dict[str, torch.Tensor], values: dict[str, Any]) -> Iterator[torch.Tensor]:
    """torch's attention, one sequence and head after another."""
    q, k, v, starts = inputs["q"], inputs["k"], inputs["v"], inputs["cu_seqlens"].tolist()
    o = torch.zeros_like(q)
    for sequence in range(values["batch"]):
        own = slice(starts[sequence], starts[sequence + 1])
        if own.start == own.stop:
            continue
        for head in range(values["heads"]):
            o[own, head] = torch.nn.functional.scaled_dot_product_attention(q[own, head], k[own, head], v[own, head], is_causal=values["causal"])
    yield o


KNOWN_ANSWERS: dict[str, Callable[[dict[str, torch.Tensor], dict[str, Any]], Iterator[torch.Tensor]]] = {
    "fused-add-rmsnorm": _known_norm,
    "gemm-bias-gelu": _known_gelu,
    "topk-router": _known_experts,
    "varlen-attention": _known_attention,
}
"""The same by other means than the reference's."""
