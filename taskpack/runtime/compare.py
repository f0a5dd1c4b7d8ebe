"""Whether an output agrees with its float64 reference, and by how much it does not.

The scale that `atol` refers to is the RMS of the finite reference values of the element's *row* (its last axis; as many
trailing axes as give 16 elements; else the whole output), but at least `bound.floor` of the RMS of the whole output. Why:

- An error of the output's own rounding (float16, bfloat16) is honest only where it happens, so a row that is a thousand times
  smaller than the others must be right by its own measure: one scale for all would accept zeros there.
- An error of the float32 arithmetic inside is honest relative to the whole: `0.5 * x * (1 + erf(x / sqrt(2)))` cancels to the
  last bits where x is -5, and a whole row may lie there. `floor` is the fraction of `atol` that comes from that arithmetic,
  so float32 and float64 outputs have one scale, and the narrow types one a row.
- A short row (a sum kept as [rows, 1]) may be small by cancellation alone and says nothing about its terms; RMS over
  16 elements that are not structurally small does.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import torch

from .tolerance import EPS, Bound

_ROW = 16


@dataclass(frozen=True)
class Comparison:
    """What was observed of one output; every number is finite, NaN and infinities speak through `reason`."""

    is_equal: bool
    reason: str
    """Empty, or how the output differs, to be read after its name: `differs at [3, 32]: got 0.0, want 0.0123 (…)`."""
    max_abs: float = 0.0
    """Largest |actual - expected| over elements where both are finite."""
    max_rel: float = 0.0
    """Largest |actual - expected| / |expected| where |expected| is at least a thousandth of the scale."""
    ulp: float = 0.0
    """Largest error in units of the dtype's spacing at the expected value, over the same elements as `max_rel`."""
    cosine: float = 1.0
    """Cosine of the angle between actual and expected over finite elements; 1.0 where both are zero."""
    mismatch_fraction: float = 0.0
    worst_index: tuple[int, ...] = ()
    """The element that exceeds its tolerance most, or comes closest; empty for an output without elements."""
    scale: float = 0.0
    """RMS of the finite expected values of the whole output."""
    rtol: float = 0.0
    atol: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "worst_index": list(self.worst_index)}


def compare(actual: torch.Tensor, expected: torch.Tensor, bound: Bound, exact: bool = False) -> Comparison:
    """Compares `actual` (of dtype `bound.dtype`) with `expected` (float64, or an integer type for integer outputs).

    Expected values beyond the dtype's range become infinities first, as a correct conversion would make them; at the very
    edge of the range, where the tolerance reaches over it, the largest finite numbers are accepted as well. NaN and infinities are
    accepted only where the reference has the same. With `exact`, and for integers and bool, values must be equal
    (expected rounded to the dtype). Works on any device; both tensors must be on the same one.
    """
    dtype = str(actual.dtype).removeprefix("torch.")
    if dtype != bound.dtype:
        return Comparison(False, f"has dtype {dtype}, want {bound.dtype}")
    if actual.shape != expected.shape:
        return Comparison(False, f"has shape {list(actual.shape)}, want {list(expected.shape)}")
    if not actual.numel():
        return Comparison(True, "", rtol=bound.rtol, atol=bound.atol)
    if dtype in EPS:
        return _compare_floats(actual, expected.to(torch.float64), bound, exact)
    return _compare_integers(actual, expected)


def _compare_integers(actual: torch.Tensor, expected: torch.Tensor) -> Comparison:
    if expected.is_floating_point():
        expected = expected.round()
    want = expected.to(torch.int64)
    got = actual.to(torch.int64)
    wrong = got != want
    if not wrong.any():
        return Comparison(True, "", scale=_rms(want.to(torch.float64)))
    error = (got.to(torch.float64) - want.to(torch.float64)).abs()
    flat = int(torch.argmax(error * wrong))
    if not bool(wrong.flatten()[flat]):  # beyond 2**53 neighbours are equal in float64
        flat = int(torch.argmax(wrong.to(torch.uint8)))
    index = _unravel(flat, actual.shape)
    fraction = float(wrong.to(torch.float64).mean())
    reason = f"differs at {list(index)}: got {actual[index].item()}, want {expected[index].to(actual.dtype).item()} (exact){_share(fraction)}"
    return Comparison(False, reason, max_abs=float(error.max()), mismatch_fraction=fraction, worst_index=index, scale=_rms(want.to(torch.float64)))


def _compare_floats(actual: torch.Tensor, expected: torch.Tensor, bound: Bound, exact: bool) -> Comparison:
    stored = expected.to(actual.dtype).to(torch.float64)
    overflowed = stored.isinf() & expected.isfinite()
    want = torch.where(overflowed, stored, expected)
    got = actual.to(torch.float64)
    finite = want.isfinite()
    scale = _rms(torch.where(finite, want, 0.0))
    if exact:
        tolerance = torch.zeros_like(want)
        want = stored
    else:
        tolerance = bound.rtol * want.abs() + bound.atol * _row_scale(want, finite, scale, bound.floor) + bound.smallest
    both = finite & got.isfinite()
    error = torch.where(both, (got - want).abs(), 0.0)
    same = (got == want) | (got.isnan() & want.isnan())
    wrong = torch.where(both, error > tolerance, ~same)
    wrong &= ~_at_edge_of_range(got, expected, wrong, bound)
    return _describe(actual, want, error, tolerance, wrong, both, scale, bound)


def _describe(
    actual: torch.Tensor, want: torch.Tensor, error: torch.Tensor, tolerance: torch.Tensor, wrong: torch.Tensor, both: torch.Tensor, scale: float, bound: Bound
) -> Comparison:
    excess = torch.where(both, error / tolerance.clamp_min(1e-300), 0.0)
    excess = torch.where(wrong & ~both, math.inf, excess)
    flat = int(torch.argmax(excess))
    index = _unravel(flat, actual.shape)
    fraction = float(wrong.sum()) / wrong.numel()
    reason = ""
    if fraction:
        got_word, want_word, limit = actual[index].item(), _word(want[index].item()), float(tolerance[index])
        allowed = "" if not both[index] else f" (tolerance {limit:.3g})" if limit else " (exact)"
        reason = f"differs at {list(index)}: got {_word(got_word)}, want {want_word}{allowed}{_share(fraction)}"
    large = both & (want.abs() >= 1e-3 * scale) & (want != 0)
    size = torch.where(large, want.abs(), 1.0)
    relative = float((torch.where(large, error, 0.0) / size).max())
    spacing = torch.exp2(torch.floor(torch.log2(size))) * EPS[bound.dtype]
    return Comparison(
        is_equal=not fraction,
        reason=reason,
        max_abs=float(error.max()),
        max_rel=relative,
        ulp=float((torch.where(large, error, 0.0) / spacing).max()),
        cosine=_cosine(torch.where(both, actual.to(torch.float64), 0.0), torch.where(both, want, 0.0)),
        mismatch_fraction=fraction,
        worst_index=index,
        scale=scale,
        rtol=bound.rtol,
        atol=bound.atol,
    )


def _row_scale(want: torch.Tensor, finite: torch.Tensor, scale: float, floor: float) -> torch.Tensor | float:
    """Broadcasts over `want`; a plain number where one scale serves all."""
    axes = 0
    while axes < want.dim() and math.prod(want.shape[want.dim() - axes :]) < _ROW:
        axes += 1
    axes = max(axes, 1)
    if floor >= 1.0 or axes >= want.dim() or scale == 0.0:
        return scale
    values = torch.where(finite, want, 0.0).div(scale)
    dims = list(range(want.dim() - axes, want.dim()))
    squares = values.square().sum(dims, keepdim=True)
    counts = finite.sum(dims, keepdim=True).clamp_min(1)
    return (squares / counts).sqrt().clamp_min(floor) * scale


def _rms(values: torch.Tensor) -> float:
    """RMS over non-zero-filled values, free of overflow; zeros put in for non-finite values lower it only by their share."""
    largest = float(values.abs().max())
    return largest * math.sqrt(float(values.div(largest).square().mean())) if largest else 0.0


def _at_edge_of_range(got: torch.Tensor, expected: torch.Tensor, wrong: torch.Tensor, bound: Bound) -> torch.Tensor:
    """Where rounding alone decides between the largest finite number and infinity, both are right."""
    largest = torch.finfo(getattr(torch, bound.dtype)).max
    near = wrong & expected.isfinite() & ((expected.abs() / largest - 1.0).abs() <= bound.rtol)
    large = (got.abs() >= largest * (1.0 - 2.0 * bound.rtol)) & (got.sign() == expected.sign())
    return near & large


def _cosine(a: torch.Tensor, b: torch.Tensor) -> float:
    largest_a, largest_b = float(a.abs().max()), float(b.abs().max())
    if not largest_a or not largest_b:
        return 1.0 if largest_a == largest_b else 0.0
    a, b = a / largest_a, b / largest_b
    cosine = float((a * b).sum() / (a.square().sum().sqrt() * b.square().sum().sqrt()))
    return max(-1.0, min(1.0, cosine))


def _unravel(flat: int, shape: torch.Size) -> tuple[int, ...]:
    index = []
    for size in reversed(shape):
        flat, place = divmod(flat, size)
        index.append(place)
    return tuple(reversed(index))


def _word(value: float) -> str:
    return f"{value:.6g}"


def _share(fraction: float) -> str:
    return f", {100 * fraction:.3g} % of the elements" if fraction else ""
