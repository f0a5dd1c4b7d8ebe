"""How far an honest kernel may be from the float64 reference, from its output's dtype and the length of its longest reduction.

An element `a` with reference `e` is accepted when `|a - e| <= rtol * |e| + atol * scale + smallest`, where

- `rtol` covers what is relative to the element: roundings into the output's dtype (two of them, as fused chains often store
  one intermediate in it), a few float32 operations and approximate intrinsics before them, and sums that scale every element;
- `atol` covers what is relative to the output as a whole: a sum of n terms in float32 errs by about sqrt(n) roundings of
  the *terms'* size, however small the sum comes out. `compare` says what `scale` is;
- `smallest` lets values be flushed to zero below the dtype's normal range (float16: only below its subnormal range).

Kernels accumulate in float32 whatever the output is, except for float64. Below, eps is the spacing of the dtype's numbers at 1, n the length of
the reduction: `rtol` is 2 eps(output) + (16 + 4 sqrt(n)) eps(float32), `atol` is 2 eps(output) + 24 sqrt(n) eps(float32), without the first term for
float32 outputs and with eps(float64) alone for float64 ones.

Measured: the worst error of honest kernels as a fraction of what is allowed (1.0 would be refused); sums with one accumulator in order, an exp that is up to
2 units in the last place off, n from 7 to 16384, normal inputs:

    kernel                                  float64  float32  float16  bfloat16
    sum                                     0.02     0.01     0.13     0.11
    sum, all terms of a row equal           0.54     0.42     0.13     0.12
    softmax (inputs of deviation 3)         0.07     0.12     0.22     0.21
    softmax, exp stored in the output dtype 0.07     0.13     0.41     0.31
    rmsnorm                                 0.03     0.02     0.20     0.20
    rmsnorm, stored before the weight       0.03     0.02     0.33     0.34
    rmsnorm, all elements of a row equal    0.43     0.52     0.10     0.26
    matmul                                  0.03     0.03     0.18     0.17
    gemm, bias, gelu, stored in between     0.04     0.04     0.31     0.32
    attention, probabilities stored         0.04     0.05     0.23     0.33

- Zeros, ones, the mean, a result 5 % off, one shifted by a row and a matmul without one of its 1024 terms are refused in all of these dtypes.
- `rtol` needs its sqrt(n): a softmax over 8192 with one large element has that element 45 eps(float32) off, as its sum is.
- One accumulator errs in proportion to n, not sqrt(n), where all terms are equal, as every rounding goes the same way (0.11 n eps at 16384): above about 40,000
  equal terms an honest naive sum needs an override.
- What no tolerance by dtype can refuse: the mean of outputs that differ by less than the tolerance, as sums of 16384 positive numbers in bfloat16.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

EPS = {"float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}
"""Spacing at 1.0; equals `torch.finfo(dtype).eps`."""

_SMALLEST = {"float64": 2.0**-1022, "float32": 2.0**-126, "float16": 2.0**-24, "bfloat16": 2.0**-126}
_OUTPUT_ROUNDINGS = 2
_ELEMENT_ROUNDINGS = 16
_SHARED_ROUNDINGS = 4
"""Of a sum that scales every element alike, as in softmax; per sqrt(n)."""
_TERM_ROUNDINGS = 24
"""Per sqrt(n)."""


@dataclass(frozen=True)
class Bound:
    """What `compare` allows for one output."""

    dtype: str
    rtol: float
    """Relative to the element's own reference value."""
    atol: float
    """Relative to the output's scale; not in the output's unit."""
    smallest: float
    """In the output's unit: where numbers of the dtype end."""
    floor: float
    """The scale of a row is at least this fraction of the scale of the whole output."""


def bound(dtype: str, reduction: float = 1.0, rtol: float | None = None, atol: float | None = None, roundings: int | None = None) -> Bound:
    """The bound for an output of `dtype` whose longest reduction has `reduction` terms and rounded `roundings` times on the way; `rtol`, `atol` override.

    Integers and bool give a bound of zero. Raises ValueError for a reduction that is negative or not a number.
    """
    if not reduction >= 0 or math.isinf(reduction):
        raise ValueError(f"a reduction has a finite length of at least 0, not {reduction}")
    if dtype not in EPS:
        return Bound(dtype, 0.0, 0.0, 0.0, 1.0)
    internal = EPS[dtype] if dtype == "float64" else EPS["float32"]
    stored = (roundings or _OUTPUT_ROUNDINGS) * EPS[dtype] if EPS[dtype] > internal else 0.0
    root = math.sqrt(max(1.0, reduction))
    accumulated = _TERM_ROUNDINGS * internal * root
    default_atol = stored + accumulated
    return Bound(
        dtype,
        rtol=stored + internal * (_ELEMENT_ROUNDINGS + _SHARED_ROUNDINGS * root) if rtol is None else rtol,
        atol=default_atol if atol is None else atol,
        smallest=_SMALLEST[dtype],
        floor=accumulated / default_atol,
    )
