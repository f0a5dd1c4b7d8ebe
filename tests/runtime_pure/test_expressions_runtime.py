from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from taskpack.runtime import expressions as ex


@given(a=st.integers(-(10**20), 10**20), b=st.integers(1, 10**6))
def test_ceil_div_and_round_up_are_exact(a: int, b: int) -> None:
    q = ex.ceil_div(a, b)
    assert (q - 1) * b < a <= q * b
    assert ex.round_up(a, b) == q * b


@given(n=st.integers(-5, 2**70))
def test_is_power_of_2(n: int) -> None:
    assert ex.is_power_of_2(n) == (n > 0 and n.bit_count() == 1)


def test_sizes_are_those_of_torch() -> None:
    for name, size in ex.SIZES.items():
        assert getattr(torch, name).itemsize == size
    with pytest.raises(ValueError, match="`half` is no dtype"):
        ex.sizeof("half")


def test_reductions_of_tensors_give_numbers() -> None:
    t = torch.tensor([3, -1, 0, 7], dtype=torch.int32)
    assert (ex.first(t), ex.last(t), ex.sum_(t), ex.min_(t), ex.max_(t), ex.count(t), ex.count(t > 0)) == (3, 7, 9, -1, 7, 3, 2)
    assert ex.sum_(torch.full((1000,), 0.1)) == pytest.approx(100, rel=1e-6)
    assert (ex.min_(2, 1), ex.max_(2, 1)) == (1, 2)
    for function in (ex.first, ex.last):
        with pytest.raises(ValueError, match="without elements"):
            function(torch.empty(0))


def test_functions_work_on_numbers_and_element_by_element() -> None:
    assert (ex.log2(8), ex.sqrt(9), ex.exp(0)) == (3.0, 3.0, 1.0)
    for function, plain in ((ex.log2, math.log2), (ex.sqrt, math.sqrt), (ex.exp, math.exp)):
        assert function(torch.tensor([4.0], dtype=torch.float64)).item() == pytest.approx(plain(4.0))
    assert torch.equal(ex.ceil_div(torch.tensor([5, 8]), 4), torch.tensor([2, 2]))
