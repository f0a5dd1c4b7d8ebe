"""How far an honest kernel may be from the float64 reference, from its output's dtype and the length of its longest reduction.

An element `a` with reference `e` is accepted when `|a - e| <= rtol * |e| + atol * scale + smallest`, where

- `rtol` covers what is relative to the element: roundings into the output's dtype (two of them, as fused chains often store
  one intermediate in it) and a few float32 operations and approximate intrinsics before them;
- `atol` covers what is relative to the output as a whole: a sum of n terms in float32 errs by about sqrt(n) roundings of
  the *terms'* size, however small the sum comes out. `compare` says what `scale` is;
- `smallest` lets values be flushed to zero below the dtype's normal range (float16: only below its subnormal range).

Kernels accumulate in float32 whatever the output is, except for float64. Below, eps is the spacing of the dtype's numbers at 1.
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
_TERM_ROUNDINGS = 24


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


def bound(dtype: str, reduction: float = 1.0, rtol: float | None = None, atol: float | None = None) -> Bound:
    """The bound for an output of `dtype` whose longest reduction has `reduction` terms; `rtol` and `atol` override.

    Integers and bool give a bound of zero. Raises ValueError for a reduction that is negative or not a number.
    """
    if not reduction >= 0 or math.isinf(reduction):
        raise ValueError(f"a reduction has a finite length of at least 0, not {reduction}")
    if dtype not in EPS:
        return Bound(dtype, 0.0, 0.0, 0.0, 1.0)
    internal = EPS[dtype] if dtype == "float64" else EPS["float32"]
    stored = _OUTPUT_ROUNDINGS * EPS[dtype] if EPS[dtype] > internal else 0.0
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
