from __future__ import annotations

import hashlib
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from taskpack.runtime.edges import DISTRIBUTIONS
from taskpack.runtime.inputs import make_inputs

EDGES = [edge for edge in DISTRIBUTIONS if edge != "declared"]
seeds = st.integers(0, 2**63)
sizes = st.integers(0, 40)


def argument(name: str = "x", dtype: str = "float32", role: str = "input", edges: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"name": name, "role": role, "dtype": dtype, "edges": list(edges)}


def make(init: dict[str, Any], shape: tuple[int, ...], dtype: str = "float32", seed: int = 0, distribution: str = "declared", **more: Any) -> torch.Tensor:
    made = make_inputs([argument(dtype=dtype, edges=tuple(EDGES))], {"x": shape}, {"x": init}, {}, {}, seed, distribution, **more)
    assert tuple(made["x"].shape) == shape
    assert made["x"].dtype == getattr(torch, dtype)
    assert made["x"].is_contiguous()
    return made["x"]


def test_inputs_and_inouts_come_in_the_order_of_declaration_with_their_variables_filled_in() -> None:
    arguments = [argument("b", "T"), argument("rows", "int64", "dim"), argument("a", "U", "inout"), argument("y", "T", "output")]
    inits = {"a": {"uniform": {}}, "b": {"normal": {}}}
    made = make_inputs(arguments, {"a": (2,), "b": (3,), "y": (3,)}, inits, {"T": "bfloat16", "U": "float64"}, {}, 1)
    assert list(made) == ["b", "a"]
    assert (made["b"].dtype, made["a"].dtype) == (torch.bfloat16, torch.float64)


def test_a_tensor_does_not_depend_on_its_neighbours() -> None:
    shapes, inits = {"a": (5,), "b": (5,)}, {"a": {"normal": {}}, "b": {"normal": {}}}
    both = make_inputs([argument("a"), argument("b")], shapes, inits, {}, {}, 7)
    alone = make_inputs([argument("b")], shapes, inits, {}, {}, 7)
    assert torch.equal(both["b"], alone["b"])
    assert not torch.equal(both["a"], both["b"])


def test_the_same_seed_gives_the_same_bytes_on_any_machine() -> None:
    """Integers and uniform floats come straight from the Mersenne Twister; these digests hold everywhere."""
    found = {
        "uniform": make({"uniform": {"low": -2, "high": 3}}, (100,), seed=42),
        "index": make({"index": {"below": 1000}}, (100,), "int64", seed=42),
        "permutation": make({"permutation": {}}, (3, 50), "int32", seed=42),
    }
    digests = {name: hashlib.sha256(tensor.numpy().tobytes()).hexdigest()[:16] for name, tensor in found.items()}
    assert digests == {"uniform": "501f1d0dc216b8c2", "index": "a3e57fa54bf2b870", "permutation": "1d863aa560c16ec8"}


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_normal_has_its_mean_and_deviation(dtype: str) -> None:
    x = make({"normal": {"mean": 2.0, "std": 3.0}}, (100, 500), dtype).double()
    assert x.mean().item() == pytest.approx(2.0, abs=0.05)
    assert x.std().item() == pytest.approx(3.0, abs=0.05)


@pytest.mark.parametrize(("dtype", "low", "high"), [("int8", -128, 128), ("uint8", 0, 256), ("int32", -5, 6), ("int64", 10, 11)])
def test_uniform_integers_are_below_high_and_reach_all_values(dtype: str, low: int, high: int) -> None:
    x = make({"uniform": {"low": low, "high": high}}, (8000,), dtype).long()
    assert (int(x.min()), int(x.max())) == (low, high - 1)


def test_normal_integers_saturate() -> None:
    x = make({"normal": {"std": 1e6}}, (200,), "int8")
    assert set(x.tolist()) == {-128, 127}
    assert make({"normal": {"std": 1e30}}, (50,), "int64").unique().numel() == 2


def test_bool_is_fair_and_mask_has_its_density() -> None:
    assert make({"uniform": {}}, (4000,), "bool").float().mean().item() == pytest.approx(0.5, abs=0.05)
    for dtype in ("bool", "int32", "float16"):
        x = make({"mask": {"density": 0.2}}, (4000,), dtype).float()
        assert x.mean().item() == pytest.approx(0.2, abs=0.05)
        assert set(x.tolist()) == {0.0, 1.0}


@given(parts=st.integers(1, 20), of=st.integers(0, 100), seed=seeds)
def test_partition_starts_at_zero_never_falls_and_ends_at_the_whole(parts: int, of: int, seed: int) -> None:
    x = make({"partition": {"of": of}}, (parts + 1,), "int32", seed)
    assert x[0] == 0
    assert x[-1] == of
    assert (x.diff() >= 0).all()


@given(rows=sizes, row=st.integers(0, 12), spare=sizes, seed=seeds)
def test_paged_rows_hold_no_page_twice(rows: int, row: int, spare: int, seed: int) -> None:
    x = make({"paged": {"pages": row + spare}}, (rows, row), "int32", seed)
    assert all(len(set(line)) == row and all(0 <= page < row + spare for page in line) for line in x.tolist())


@given(count=sizes, spare=sizes, seed=seeds)
def test_unique_index_has_no_twins(count: int, spare: int, seed: int) -> None:
    x = make({"unique-index": {"below": count + spare}}, (count,), "int64", seed).tolist()
    assert len(set(x)) == count
    assert all(0 <= value < count + spare for value in x)


@given(rows=sizes, n=sizes, seed=seeds)
def test_permutation_holds_each_value_once_a_row(rows: int, n: int, seed: int) -> None:
    assert all(sorted(line) == list(range(n)) for line in make({"permutation": {}}, (rows, n), "int64", seed).tolist())


@given(rows=sizes, n=sizes, seed=seeds)
def test_sorted_rises_along_the_last_axis(rows: int, n: int, seed: int) -> None:
    x = make({"sorted": {"low": -1, "high": 5}}, (rows, n), "float32", seed)
    assert (x.diff(dim=-1) >= 0).all()


@given(tokens=sizes, picks=st.integers(1, 4), spare=st.integers(0, 6), skew=st.sampled_from([0.0, 1.0, 3.0]), seed=seeds)
def test_routing_picks_distinct_experts_for_each_token(tokens: int, picks: int, spare: int, skew: float, seed: int) -> None:
    x = make({"routing": {"experts": picks + spare, "skew": skew}}, (tokens, picks), "int32", seed)
    assert all(len(set(line)) == picks and all(0 <= expert < picks + spare for expert in line) for line in x.tolist())


@pytest.mark.parametrize("shape", [(20_000,), (20_000, 1)])
def test_routing_follows_its_skew(shape: tuple[int, ...]) -> None:
    counts = torch.bincount(make({"routing": {"experts": 8, "skew": 1.0}}, shape, "int64").flatten(), minlength=8).sort(descending=True).values
    harmonic = sum(1 / rank for rank in range(1, 9))
    assert (counts / shape[0]).tolist() == pytest.approx([1 / rank / harmonic for rank in range(1, 9)], abs=0.02)


@given(lengths=st.lists(st.integers(0, 9), min_size=1, max_size=12), spare=st.integers(0, 5), capacity=st.integers(0, 5), seed=seeds)
def test_csr_columns_rise_strictly_within_each_row(lengths: list[int], spare: int, capacity: int, seed: int) -> None:
    columns, total = max(lengths) + spare, sum(lengths)
    pointers = torch.tensor([0, *lengths]).cumsum(0)
    arguments = [argument("ptr", "int64"), argument("x", "int32")]
    inits = {"ptr": {"generator": True}, "x": {"csr": {"columns": columns, "indptr": "ptr"}}}
    x = make_inputs(arguments, {"ptr": (len(lengths) + 1,), "x": (total + capacity,)}, inits, {}, {}, seed, given={"ptr": pointers})["x"]
    for start, end in zip(pointers[:-1].tolist(), pointers[1:].tolist(), strict=True):
        row = x[start:end].tolist()
        assert row == sorted(set(row))
        assert all(0 <= column < columns for column in row)
    assert not x[total:].any()


def test_derived_inputs_see_earlier_tensors_and_scalars() -> None:
    arguments = [argument("a", "int64"), argument("x", "int32"), argument("n", "float32")]
    inits = {"a": {"index": {"below": 9}}, "x": {"derive": {"expression": "a * k"}}, "n": {"derive": {"expression": "last(a)"}}}

    def derived(name: str, known: dict[str, Any]) -> Any:
        return known["a"] * known["k"] if name == "x" else known["a"][-1].item()

    made = make_inputs(arguments, {"a": (6,), "x": (6,), "n": ()}, inits, {}, {"k": 3}, 1, derived=derived)
    assert torch.equal(made["x"], (made["a"] * 3).int())
    assert made["n"].item() == made["a"][-1].item()


def test_file_is_read_whole_and_must_fit(tmp_path: Any) -> None:
    values = torch.arange(6, dtype=torch.int16).reshape(2, 3)
    (tmp_path / "data.bin").write_bytes(values.numpy().tobytes())
    assert torch.equal(make({"file": {"path": "data.bin"}}, (2, 3), "int16", folder=tmp_path), values)
    with pytest.raises(ValueError, match="holds 12 bytes, the tensor needs 16"):
        make({"file": {"path": "data.bin"}}, (2, 4), "int16", folder=tmp_path)
    with pytest.raises(ValueError, match="not a file of the pack"):
        make({"file": {"path": "../data.bin"}}, (2, 3), "int16", folder=tmp_path)


@pytest.mark.parametrize(
    ("init", "shape", "message"),
    [
        ({"index": {"below": 0}}, (2,), r"no integer lies in \[0, 0\)"),
        ({"unique-index": {"below": 2}}, (3,), "3 different indices below 2"),
        ({"paged": {"pages": 2}}, (1, 3), "3 different values below 2"),
        ({"routing": {"experts": 2}}, (1, 3), "3 different experts of 2"),
        ({"routing": {"experts": 0}}, (3,), "needs experts"),
        ({"partition": {"of": 3}}, (1,), "cannot be divided into no parts"),
        ({"partition": {"of": -1}}, (3,), "a partition of -1"),
        ({"derive": {"expression": "1"}}, (1,), "nothing derives it"),
        ({"generator": True}, (1,), "no such tensor"),
    ],
)
def test_what_cannot_be_met_is_said(init: dict[str, Any], shape: tuple[int, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make(init, shape, "int64")


def test_an_unknown_distribution_is_refused() -> None:
    with pytest.raises(ValueError, match="no distribution"):
        make({"normal": {}}, (1,), distribution="odd")


FLOAT_INITS: list[dict[str, Any]] = [{"normal": {}}, {"uniform": {}}, {"sorted": {}}, {"constant": {"value": 2}}, {"mask": {}}]
INT_INITS: list[dict[str, Any]] = [
    {"index": {"below": 3}},
    {"unique-index": {"below": 0}},
    {"permutation": {}},
    {"routing": {"experts": 0}},
    {"paged": {"pages": 0}},
]


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
@pytest.mark.parametrize("init", FLOAT_INITS + INT_INITS, ids=lambda init: next(iter(init)))
def test_tensors_without_elements_are_made(init: dict[str, Any], distribution: str) -> None:
    for shape in ((0,), (0, 3), (3, 0)):
        if shape != (0, 3) or init in FLOAT_INITS:
            make(init, shape, "float16" if init in FLOAT_INITS else "int32", distribution=distribution)


def test_edges_change_only_floats_that_declare_them() -> None:
    arguments = [argument("a", edges=("ties",)), argument("b"), argument("c", "int32", edges=("ties",))]
    shapes, inits = dict.fromkeys("abc", (50,)), {"a": {"normal": {}}, "b": {"normal": {}}, "c": {"index": {"below": 1000}}}
    made = make_inputs(arguments, shapes, inits, {}, {}, 3, "ties")
    assert made["a"].unique().numel() <= 4
    assert made["b"].unique().numel() > 40
    assert made["c"].unique().numel() > 40


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_edges_are_what_they_say(dtype: str) -> None:
    made = {edge: make({"normal": {"std": 2.0}}, (64, 32), dtype, 5, edge) for edge in EDGES}
    assert all(x.isfinite().all() for x in made.values())
    assert (made["constant-rows"] == made["constant-rows"][:, :1]).all()
    assert made["constant-rows"][:, 0].unique().numel() > 30
    sizes_of_rows = made["near-zero"].double().abs().amax(1)
    assert 16 < int((sizes_of_rows < 0.02).sum()) < 48
    offset = made["large-offset"].double()
    assert offset.mean() > 100
    assert offset.unique().numel() > 5
    spikes = made["spikes"].double().abs() > 100
    assert 16 < int(spikes.any(1).sum()) < 48
    assert int(spikes.sum(1).max()) == 1
    assert int(spikes.any(0).sum()) > 8
    subnormal = (made["denormals"] != 0) & (made["denormals"].abs() < torch.finfo(made["denormals"].dtype).tiny)
    assert 0.4 < subnormal.double().mean() < 0.6


@settings(max_examples=30)
@given(seed=seeds, edge=st.sampled_from(DISTRIBUTIONS))
def test_every_distribution_repeats(seed: int, edge: str) -> None:
    assert torch.equal(make({"normal": {}}, (7, 9), "float32", seed, edge), make({"normal": {}}, (7, 9), "float32", seed, edge))
