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
_NOTHING = 1e-300
"""A tolerance of nothing that one can divide by."""
_MOST = 1e300
"""What a number says that would not be finite."""


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
    """The error at `worst_index`, in units of the dtype's spacing at the expected value there."""
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
    got, want = actual.to(torch.int64), (expected.round() if expected.is_floating_point() else expected).to(torch.int64)
    wrong = got != want
    scale = float(_rms(want.to(torch.float64).flatten(), None, [0]))
    if not wrong.any():
        return Comparison(True, "", scale=scale)
    error = (got.to(torch.float64) - want.to(torch.float64)).abs()
    index = _unravel(int(error.add_(wrong).argmax()), actual.shape)  # beyond 2**53 neighbours are equal in float64; wrong ones still come first
    fraction = int(wrong.count_nonzero()) / wrong.numel()
    reason = f"differs at {list(index)}: got {actual[index].item()}, want {want[index].to(actual.dtype).item()} (exact){_share(fraction)}"
    return Comparison(False, reason, max_abs=float(abs(int(got[index]) - int(want[index]))), mismatch_fraction=fraction, worst_index=index, scale=scale)


def first_wrong(actual: torch.Tensor, expected: torch.Tensor, bound: Bound, exact: bool = False) -> int | None:
    """The first of many outputs, stacked along axis 0, that `compare` does not accept, or None; each has its own scale.

    For the outputs of one timed pass: a few operations for all of them instead of some thirty for each. Raises ValueError where dtype or shape differ.
    """
    if str(actual.dtype) != f"torch.{bound.dtype}" or actual.shape != expected.shape:
        raise ValueError(f"{actual.dtype} {list(actual.shape)} cannot be compared with {bound.dtype} {list(expected.shape)}")
    if not actual.numel():
        return None
    if bound.dtype in EPS:
        seen = _examine(actual, expected.to(torch.float64), bound, exact)
        wrong = ~(seen.error <= seen.tolerance)
    else:
        wrong = actual.to(torch.int64) != (expected.round() if expected.is_floating_point() else expected).to(torch.int64)
    by_output = wrong.flatten(1).any(1) if wrong.dim() > 1 else wrong
    return int(by_output.to(torch.uint8).argmax()) if by_output.any() else None


class Screen:
    """A check that is sufficient for `compare` to accept and never necessary, cheap enough for every timed pass.

    It measures by the relative part of the bound and the least scale that `compare` would use, piece by piece in buffers that stay in a core's
    cache: on a 2.1 GHz Xeon 12 outputs of 65,536 floats take 2 ms, in whole-tensor operations 9. On a GPU pieces are large, as each costs several launches.
    """

    def __init__(self, device: str = "cpu") -> None:
        self._piece = 1 << (15 if device == "cpu" else 23)
        self._error, self._magnitude = (torch.empty(self._piece, dtype=torch.float64, device=device) for _ in range(2))

    def accepts(self, actual: torch.Tensor, expected: torch.Tensor, bound: Bound) -> bool:
        """Whether all outputs, stacked along axis 0, are right at first sight; `expected` as for `compare`. Reads every element of `actual` once."""
        if not actual.is_floating_point():
            return actual.dtype != torch.bool and torch.equal(actual.to(torch.int64), expected)
        size = math.prod(actual.shape[1:])
        if not size:
            return True
        together = max(1, self._piece // size)
        starts = range(0, len(actual), together)
        excess = [self._excess(actual[at : at + together].flatten(1), expected[at : at + together].flatten(1), bound) for at in starts]
        return bool(torch.stack(excess).amax() <= 0)  # NaN is not; one question for all, as each waits for the device

    def _excess(self, actual: torch.Tensor, expected: torch.Tensor, bound: Bound) -> torch.Tensor:
        """By how much the worst error is larger than the least that is allowed there."""
        size = actual.shape[1]
        scale = torch.linalg.vector_norm(expected, dim=1, keepdim=True).div_(math.sqrt(size))
        least = scale.mul_(bound.atol * bound.floor).add_(bound.smallest)
        worst = []
        for first in range(0, size, self._piece):
            want = expected[:, first : first + self._piece]
            error, magnitude = (buffer[: want.numel()].view(want.shape) for buffer in (self._error, self._magnitude))
            torch.abs(want, out=magnitude)
            error.copy_(actual[:, first : first + self._piece]).sub_(want).abs_().sub_(magnitude, alpha=bound.rtol)
            worst.append(error.amax(dim=1, keepdim=True).sub_(least).amax())
        return torch.stack(worst).amax()


@dataclass(frozen=True)
class _Examined:
    """Outputs stacked along axis 0 beside what they should be, all float64; where the reference ends the range, both are 0 and the error is 0 or infinite."""

    got: torch.Tensor
    want: torch.Tensor
    error: torch.Tensor
    tolerance: torch.Tensor
    scale: torch.Tensor
    """Of each output."""


def _examine(actual: torch.Tensor, expected: torch.Tensor, bound: Bound, exact: bool) -> _Examined:
    got, want, special, broken = actual.to(torch.float64), expected, None, None
    if not expected.abs().max() < torch.finfo(actual.dtype).max * (1.0 - bound.rtol):
        special, right = _at_ends_of_range(actual, expected, bound)
        broken = special & ~right
        got, want = got.masked_fill(special, 0.0), want.masked_fill(special, 0.0)
    if exact:
        want = want.to(actual.dtype).to(torch.float64)
    scale, rows = _scales(want, special, bound.floor)
    tolerance = torch.full_like(want, _NOTHING) if exact else want.abs().mul_(bound.rtol).add_(rows.mul(bound.atol).add_(bound.smallest))
    error = (got - want).abs_()
    if broken is not None:
        error.masked_fill_(broken, math.inf)
    return _Examined(got, want, error, tolerance, scale)


def _compare_floats(actual: torch.Tensor, expected: torch.Tensor, bound: Bound, exact: bool) -> Comparison:
    seen = _examine(actual[None], expected[None], bound, exact)
    got, want, error, tolerance, scale = seen.got[0], seen.want[0], seen.error[0], seen.tolerance[0], float(seen.scale)
    mismatches = error.numel() - int((error <= tolerance).count_nonzero())  # NaN is not below its tolerance
    index = _unravel(int((error / tolerance).argmax()), actual.shape)  # and NaN is the greatest to argmax
    fraction = mismatches / error.numel()
    if mismatches:
        finite = error.isfinite()
        error, got = error.where(finite, 0.0), got.where(finite, 0.0)
    size = want.abs()
    relative = (error / size).masked_fill_(size < max(1e-3 * scale, _NOTHING), 0.0)
    return Comparison(
        is_equal=not mismatches,
        reason=_reason(index, actual[index], expected[index], float(tolerance[index]), fraction) if mismatches else "",
        max_abs=float(error.max()),
        max_rel=min(float(relative.max()), _MOST),
        ulp=min(float(error[index]) / _spacing(float(size[index]), bound), _MOST),
        cosine=_cosine(got.flatten(), want.flatten()),
        mismatch_fraction=fraction,
        worst_index=index,
        scale=scale,
        rtol=bound.rtol,
        atol=bound.atol,
    )


def _at_ends_of_range(actual: torch.Tensor, expected: torch.Tensor, bound: Bound) -> tuple[torch.Tensor, torch.Tensor]:
    """Where the reference is NaN, infinite, or at or beyond the dtype's range; and whether `actual` is right there.

    Where rounding alone decides between the largest finite number and infinity, both are right.
    """
    largest = torch.finfo(actual.dtype).max
    got, stored = actual.to(torch.float64), expected.to(actual.dtype).to(torch.float64)
    same = (got == stored) | (got.isnan() & expected.isnan())
    near = (expected.abs() / largest - 1.0).abs() <= bound.rtol
    large = (got.abs() >= largest * (1.0 - 2.0 * bound.rtol)) & (got.sign() == expected.sign())
    return ~(expected.abs() < largest * (1.0 - bound.rtol)), same | (near & large)


def _scales(want: torch.Tensor, special: torch.Tensor | None, floor: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Of outputs stacked along axis 0: the RMS of each, and that of each one's rows; both broadcast over `want`, and are the same where one scale serves all.

    Elements at `special` are zero and count for nothing. Divided by the largest first where squares would leave float64's range.
    """
    largest = float(want.abs().max())
    unit, back = (want, 1.0) if not largest or 1e-100 < largest < 1e100 else (want / largest, largest)
    whole = list(range(1, want.dim()))
    axes = next((n for n in range(1, want.dim() - 1) if math.prod(want.shape[-n:]) >= _ROW), want.dim() - 1)
    scale = _rms(unit, special, whole).mul_(back)
    if floor >= 1.0 or axes >= want.dim() - 1:
        return scale, scale
    return scale, torch.maximum(_rms(unit, special, whole[-axes:]).mul_(back), floor * scale)


def _rms(values: torch.Tensor, special: torch.Tensor | None, dims: list[int]) -> torch.Tensor:
    if not dims:
        return values.abs()
    norm: torch.Tensor = torch.linalg.vector_norm(values, dim=dims, keepdim=True)
    if special is None:
        return norm.div_(math.sqrt(math.prod(values.shape[dim] for dim in dims)))
    return norm.div_((~special).sum(dims, keepdim=True).clamp_min(1).sqrt())


def _reason(index: tuple[int, ...], got: torch.Tensor, want: torch.Tensor, tolerance: float, fraction: float) -> str:
    stored = want.to(got.dtype).item()
    wanted = want.item() if math.isfinite(stored) else stored
    allowed = ""
    if math.isfinite(stored) and math.isfinite(got.item()):
        allowed = f" (tolerance {tolerance:.3g})" if tolerance > _NOTHING else " (exact)"
    return f"differs at {list(index)}: got {got.item():.6g}, want {wanted:.6g}{allowed}{_share(fraction)}"


def _spacing(size: float, bound: Bound) -> float:
    """The distance between neighbouring numbers of the dtype at `size`."""
    return max(math.ldexp(EPS[bound.dtype], math.frexp(size)[1] - 1) if size else 0.0, bound.smallest * EPS[bound.dtype])


def _cosine(a: torch.Tensor, b: torch.Tensor) -> float:
    largest_a, largest_b = float(a.abs().max()), float(b.abs().max())
    if not largest_a or not largest_b:
        return 1.0 if largest_a == largest_b else 0.0
    a, b = a / largest_a, b / largest_b
    cosine = float(a.dot(b) / (torch.linalg.vector_norm(a) * torch.linalg.vector_norm(b)))
    return max(-1.0, min(1.0, cosine))


def _unravel(flat: int, shape: torch.Size) -> tuple[int, ...]:
    index = []
    for size in reversed(shape):
        flat, place = divmod(flat, size)
        index.append(place)
    return tuple(reversed(index))


def _share(fraction: float) -> str:
    return f", {100 * fraction:.3g} % of the elements"
