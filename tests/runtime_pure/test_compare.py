from __future__ import annotations

import json
import math
from collections.abc import Callable

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from taskpack.runtime.compare import Screen, compare, first_wrong
from taskpack.runtime.tolerance import EPS, bound

FLOATS = list(EPS)


def inner(x: Tensor) -> Tensor:
    """What a kernel computes in: float32, or float64."""
    return x if x.dtype == torch.float64 else x.float()


def one_by_one(x: Tensor) -> Tensor:
    """The naive sum along the last axis: one accumulator, in order."""
    total = torch.zeros(x.shape[:-1], dtype=x.dtype)
    for column in x.unbind(-1):
        total = total + column
    return total


def fast_exp(x: Tensor) -> Tensor:
    """exp as GPUs approximate it: by 2**x, and up to 2 units in the last place off."""
    if x.dtype == torch.float64:
        return x.exp()
    noise = torch.rand(x.shape, generator=torch.Generator().manual_seed(1)) * 2 - 1
    return torch.exp2(x * 1.4426950408889634) * (1 + 2 * EPS["float32"] * noise)


def softmax(x: Tensor) -> Tensor:
    e = fast_exp(inner(x) - inner(x).amax(-1, keepdim=True))
    return (e / one_by_one(e)[:, None]).to(x.dtype)


def softmax_stored_twice(x: Tensor) -> Tensor:
    e = fast_exp(inner(x) - inner(x).amax(-1, keepdim=True))
    return (inner(e.to(x.dtype)) / one_by_one(e)[:, None]).to(x.dtype)


def rmsnorm(x: Tensor) -> Tensor:
    a = inner(x)
    return (a * torch.rsqrt(one_by_one(a * a) / x.shape[-1] + 1e-5)[:, None]).to(x.dtype)


def gelu(x: Tensor) -> Tensor:
    a = inner(x)
    return (0.5 * a * (1 + torch.erf(a * math.sqrt(0.5)))).to(x.dtype)


def matmul(a: Tensor, b: Tensor) -> Tensor:
    total = torch.zeros(a.shape[0], b.shape[1], dtype=inner(a).dtype)
    for column, row in zip(inner(a).unbind(1), inner(b).unbind(0), strict=True):
        total = total + column[:, None] * row[None, :]
    return total


def operands(dtype: str, rows: int, cols: int, std: float = 1.0) -> Tensor:
    return (torch.randn(rows, cols, generator=torch.Generator().manual_seed(rows * cols)) * std).to(getattr(torch, dtype))


def reference_rmsnorm(x: Tensor) -> Tensor:
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5)


HONEST: dict[str, tuple[Callable[[Tensor], Tensor], Callable[[Tensor], Tensor]]] = {
    "sum": (lambda x: one_by_one(inner(x)).to(x.dtype), lambda x: x.sum(-1)),
    "sum kept": (lambda x: one_by_one(inner(x)).to(x.dtype)[:, None], lambda x: x.sum(-1, keepdim=True)),
    "softmax": (softmax, lambda x: x.softmax(-1)),
    "softmax stored twice": (softmax_stored_twice, lambda x: x.softmax(-1)),
    "rmsnorm": (rmsnorm, reference_rmsnorm),
    "gelu": (gelu, torch.nn.functional.gelu),
}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("cols", [7, 1000, 8192])
@pytest.mark.parametrize("op", HONEST)
def test_honest_kernels_are_right_and_lazy_ones_wrong(op: str, cols: int, dtype: str) -> None:
    kernel, reference = HONEST[op]
    x = operands(dtype, 16, cols, 3.0)
    expected, limit = reference(x.double()), bound(dtype, 1 if op == "gelu" else cols)
    seen = compare(kernel(x), expected, limit)
    assert seen.is_equal, seen.reason
    good = kernel(x)
    for name, lazy in lazies(good, expected).items():
        assert not compare(lazy, expected, limit).is_equal, name


def lazies(good: Tensor, expected: Tensor) -> dict[str, Tensor]:
    return {
        "zeros": torch.zeros_like(good),
        "ones": torch.ones_like(good),
        "nan": torch.full_like(good, math.nan),
        "the mean": torch.full_like(good, expected.mean().item()),
        "five percent off": (expected * 1.05).to(good.dtype),
        "shifted by one": good.roll(1, 0),
        "infinite once": good.masked_fill(torch.arange(good.numel()).reshape(good.shape) == 3, math.inf),
    }


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("op", ["sum", "softmax", "rmsnorm", "gelu"])
@pytest.mark.parametrize("edge", ["constant rows", "near zero", "large offset"])
def test_honest_kernels_are_right_on_edges(edge: str, op: str, dtype: str) -> None:
    kernel, reference = HONEST[op]
    x = operands(dtype, 16, 1000, 3.0)
    if edge == "constant rows":
        x = x[:, :1].expand(x.shape).contiguous()
    elif edge == "near zero":
        x[::2] *= 2.0**-10
    elif dtype in ("float32", "float64"):
        x += 1024
    seen = compare(kernel(x), reference(x.double()), bound(dtype, 1 if op == "gelu" else 1000))
    assert seen.is_equal, seen.reason


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("depth", [33, 1024])
def test_matmul_and_a_fused_chain(depth: int, dtype: str) -> None:
    a, b = operands(dtype, 24, depth), operands(dtype, depth, 40, depth**-0.5)
    exact, got = a.double() @ b.double(), matmul(a, b)
    limit = bound(dtype, depth)
    stored = got.to(a.dtype)
    assert compare(stored, exact, limit).is_equal
    assert compare(gelu(got).to(a.dtype), torch.nn.functional.gelu(exact), limit).is_equal
    assert compare(gelu(stored), torch.nn.functional.gelu(exact), limit).is_equal
    assert not compare(matmul(a[:, 1:], b[1:]).to(a.dtype), exact, limit).is_equal, "one term is missing"


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_float32_tolerance_refuses_arithmetic_in_a_narrow_type(dtype: str) -> None:
    a, b = operands("float32", 24, 256), operands("float32", 256, 40)
    narrow = (a.to(getattr(torch, dtype)).float() @ b.to(getattr(torch, dtype)).float()).float()
    assert not compare(narrow, a.double() @ b.double(), bound("float32", 256)).is_equal


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_small_rows_beside_large_ones_must_be_right_by_their_own_measure(dtype: str) -> None:
    expected = operands("float64", 8, 64) * torch.logspace(0, -3, 8, dtype=torch.float64)[:, None]
    good = expected.to(getattr(torch, dtype))
    assert compare(good, expected, bound(dtype, 64)).is_equal
    good[7] = 0
    seen = compare(good, expected, bound(dtype, 64))
    assert seen.worst_index[0] == 7
    assert seen.mismatch_fraction == pytest.approx(1 / 8, abs=0.01)


def test_nan_and_infinities_are_right_only_where_the_reference_has_them() -> None:
    expected = torch.tensor([1.0, math.nan, math.inf, -math.inf, 2.0], dtype=torch.float64)
    limit = bound("float32")
    assert compare(expected.float(), expected, limit).is_equal
    for place, value in [(0, math.nan), (0, math.inf), (1, 1.0), (1, math.inf), (2, -math.inf), (2, 3e38), (3, math.nan)]:
        got = expected.float()
        got[place] = value
        seen = compare(got, expected, limit)
        assert not seen.is_equal
        assert seen.worst_index == (place,)
        assert json.loads(json.dumps(seen.to_dict(), allow_nan=False))["worst_index"] == [place]


def test_overflow_of_the_outputs_dtype_is_expected_to_overflow() -> None:
    expected = torch.tensor([1.0, 1e6, -1e6, 65519.0, 65521.0], dtype=torch.float64)
    limit = bound("float16")
    assert compare(expected.half(), expected, limit).is_equal
    assert compare(torch.tensor([1.0, math.inf, -math.inf, math.inf, 65504.0]).half(), expected, limit).is_equal, "at the very edge both are right"
    assert not compare(torch.tensor([1.0, 65504.0, -math.inf, 65504.0, 65504.0]).half(), expected, limit).is_equal


def test_flushed_denormals_are_honest() -> None:
    expected = torch.tensor([1e-39, -1e-40, 0.0], dtype=torch.float64)
    assert compare(torch.zeros(3), expected, bound("float32")).is_equal
    assert not compare(torch.full((3,), 1e-37), expected, bound("float32")).is_equal


@pytest.mark.parametrize("dtype", ["int64", "int32", "int16", "int8", "uint8", "bool"])
def test_integers_and_bool_are_exact(dtype: str) -> None:
    expected = torch.tensor([[0, 1], [1, 1]]).to(getattr(torch, dtype))
    assert compare(expected.clone(), expected, bound(dtype)).is_equal
    wrong = expected.clone()
    wrong[1, 0] = 0
    seen = compare(wrong, expected, bound(dtype))
    assert not seen.is_equal
    assert seen.worst_index == (1, 0)
    assert seen.reason.startswith("differs at [1, 0]: got ")
    assert seen.mismatch_fraction == 0.25


def test_integers_beyond_float64_differ_by_one() -> None:
    expected = torch.tensor([2**62, 2**62 + 1])
    seen = compare(torch.tensor([2**62, 2**62]), expected, bound("int64"))
    assert not seen.is_equal
    assert seen.worst_index == (1,)


def test_exact_floats_must_be_the_reference_rounded() -> None:
    expected = torch.tensor([0.1, 1 / 3], dtype=torch.float64)
    assert compare(expected.float(), expected, bound("float32"), exact=True).is_equal
    seen = compare(expected.float() * (1 + EPS["float32"]), expected, bound("float32"), exact=True)
    assert not seen.is_equal
    assert "(exact)" in seen.reason


def test_dtype_and_shape_must_agree() -> None:
    expected = torch.zeros(2, 3, dtype=torch.float64)
    assert compare(torch.zeros(2, 3), expected, bound("float16")).reason == "has dtype float32, want float16"
    assert compare(torch.zeros(3, 2), expected, bound("float32")).reason == "has shape [3, 2], want [2, 3]"


def test_outputs_without_elements_and_scalars() -> None:
    assert compare(torch.empty(0, 4), torch.empty(0, 4, dtype=torch.float64), bound("float32")).is_equal
    assert not compare(torch.tensor(1.0), torch.tensor(2.0, dtype=torch.float64), bound("float32")).is_equal
    assert compare(torch.zeros(3), torch.zeros(3, dtype=torch.float64), bound("float32")).cosine == 1.0


def test_the_reason_names_the_worst_element() -> None:
    expected = torch.zeros(7, 33, dtype=torch.float64)
    expected[3, 32] = 0.0123
    reason = compare(torch.zeros(7, 33), expected, bound("float32")).reason
    assert reason.startswith("differs at [3, 32]: got 0, want 0.0123 (tolerance ")


def test_numbers_of_the_comparison() -> None:
    expected = torch.tensor([3.0, -4.0], dtype=torch.float64)
    seen = compare(torch.tensor([3.0, -4.0 * (1 + 2 * EPS["float32"])]), expected, bound("float32"))
    assert seen.scale == pytest.approx(math.sqrt(12.5))
    assert seen.max_abs == pytest.approx(8 * EPS["float32"])
    assert seen.max_rel == pytest.approx(2 * EPS["float32"])
    assert seen.ulp == pytest.approx(2.0)
    assert seen.cosine == pytest.approx(1.0)


@given(error=st.floats(0, 1), more=st.floats(1, 10), dtype=st.sampled_from(FLOATS), reduction=st.integers(1, 10**6))
def test_a_worse_output_never_passes_where_a_better_one_fails(error: float, more: float, dtype: str, reduction: int) -> None:
    expected = torch.linspace(-2, 2, 40, dtype=torch.float64)
    kind, limit = getattr(torch, dtype), bound(dtype, reduction)
    better = compare((expected + error).to(kind), expected, limit)
    worse = compare((expected + error * more + 4 * EPS[dtype]).to(kind), expected, limit)
    assert better.is_equal or not worse.is_equal


@given(dtype=st.sampled_from(FLOATS), power=st.integers(-6, 6))
def test_the_verdict_does_not_depend_on_the_outputs_unit(dtype: str, power: int) -> None:
    expected = operands("float64", 4, 32)
    for error in (0.1, 10.0):
        limit = bound(dtype, 16)
        got = expected + error * limit.atol
        verdicts = {compare((t * 2.0**power).to(getattr(torch, dtype)), expected * 2.0**power, limit).is_equal for t in (got,)}
        assert verdicts == {error < 1}


@pytest.mark.parametrize("reduction", [-1, math.nan, math.inf])
def test_a_reduction_has_a_length(reduction: float) -> None:
    with pytest.raises(ValueError, match="finite length"):
        bound("float32", reduction)


def test_overrides_stand_as_they_are() -> None:
    limit = bound("float32", 100, rtol=0.5, atol=0.0)
    assert (limit.rtol, limit.atol) == (0.5, 0.0)
    assert compare(torch.tensor([1.4]), torch.tensor([1.0], dtype=torch.float64), limit).is_equal


@pytest.mark.parametrize("dtype", [*FLOATS, "int32", "bool"])
@pytest.mark.parametrize("shape", [(), (5,), (3, 20), (2, 3, 4)])
def test_outputs_of_one_pass_are_judged_as_each_alone(shape: tuple[int, ...], dtype: str) -> None:
    generator = torch.Generator().manual_seed(3)
    for _ in range(30):
        expected = torch.randn(6, *shape, generator=generator, dtype=torch.float64) * torch.logspace(-3, 3, 6, dtype=torch.float64).reshape(
            6, *[1] * len(shape)
        )
        got = (expected + expected.abs() * 2.0**-6 * (torch.rand(expected.shape, generator=generator) < 0.05)).to(getattr(torch, dtype))
        if dtype not in FLOATS:
            expected = expected.round().to(torch.int64).clamp(0, 1)
            got = torch.where(torch.rand(expected.shape, generator=generator) < 0.02, 1 - expected, expected).to(getattr(torch, dtype))
        if torch.rand((), generator=generator) < 0.3 and dtype in FLOATS:
            expected[4] = math.inf
        limit = bound(dtype, 4)
        alone = [index for index in range(6) if not compare(got[index], expected[index], limit).is_equal]
        assert first_wrong(got, expected, limit) == (alone[0] if alone else None)


def test_only_like_outputs_are_stacked() -> None:
    with pytest.raises(ValueError, match="cannot be compared"):
        first_wrong(torch.zeros(2, 3), torch.zeros(3, 2, dtype=torch.float64), bound("float32"))
    assert first_wrong(torch.zeros(4, 0), torch.zeros(4, 0, dtype=torch.float64), bound("float32")) is None


@given(
    dtype=st.sampled_from(["float64", "float32", "float16", "bfloat16"]),
    shape=st.sampled_from([(1,), (7,), (3, 16), (4, 40000), (2, 3, 5)]),
    error=st.sampled_from([0.0, 0.1, 0.5, 1.0, 3.0, 100.0, math.nan, math.inf]),
    seed=st.integers(0, 1000),
)
def test_what_the_screen_accepts_is_right(dtype: str, shape: tuple[int, ...], error: float, seed: int) -> None:
    """One element is off by so many of its tolerances; the screen may be stricter than the comparison, never milder."""
    generator = torch.Generator().manual_seed(seed)
    expected = torch.randn(3, *shape, generator=generator, dtype=torch.float64)
    limit = bound(dtype, 64)
    actual = expected.to(getattr(torch, dtype))
    place = tuple(int(torch.randint(0, size, (), generator=generator)) for size in actual.shape)
    allowed = compare(actual[place[0]], expected[place[0]], limit)
    actual[place] += error * (allowed.rtol * abs(float(expected[place])) + allowed.atol * allowed.scale)

    is_right = all(compare(actual[index], expected[index], limit).is_equal for index in range(3))

    accepted = Screen().accepts(actual, expected, limit)
    assert is_right or not accepted
    assert accepted or error != 0, "what is only rounded passes at first sight"
