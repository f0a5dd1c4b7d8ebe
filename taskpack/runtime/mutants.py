"""The table of wrong answers that a task must refuse: each is made of the reference's answer as a wrong candidate would give it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch

_TILE = 16
_FP8_BITS = 4
"""Significant bits of e4m3, the hidden one among them."""


@dataclass(frozen=True)
class Seen:
    """What a mutant is made of: the reference's answer in its wide dtype, the dtype of the output, and answers and inputs besides."""

    expected: torch.Tensor
    dtype: torch.dtype
    inputs: Mapping[str, torch.Tensor]
    earlier: torch.Tensor | None = None
    """The reference's answer on other contents of the same shapes."""


@dataclass(frozen=True)
class Mutant:
    """A kind of wrong answer. `make` returns None where it does not apply."""

    name: str
    make: Callable[[Seen], torch.Tensor | None]
    advice: str
    """What to add to a task that does not refuse it."""
    is_fact: bool = False
    """Whether it says something of the task where the reference answers just so, in every case."""


def same(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two answers of a reference are equal but for the last bits of its own arithmetic."""
    if one.shape != other.shape or not one.is_floating_point():
        return torch.equal(one, other)
    return torch.allclose(one, other.to(one.dtype), rtol=1e-12, atol=0.0, equal_nan=True)


def stored(answer: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """An answer as an output holds it."""
    if answer.is_floating_point() and not dtype.is_floating_point and dtype != torch.bool:
        answer = answer.nan_to_num().round()
    return answer.to(dtype)


def _whole_mean(seen: Seen) -> torch.Tensor | None:
    wide = seen.expected
    return wide.mean().expand(wide.shape) if wide.is_floating_point() and wide.numel() > 1 else None


def _row_mean(seen: Seen) -> torch.Tensor | None:
    wide = seen.expected
    return wide.mean(-1, keepdim=True).expand(wide.shape) if wide.is_floating_point() and _length(wide) > 1 and wide.dim() > 1 else None


def _without_tile(seen: Seen) -> torch.Tensor | None:
    length = _length(seen.expected)
    return _zeroed(seen.expected, -1, min(_TILE, length // 2)) if length > 1 else None


def _without_row(seen: Seen) -> torch.Tensor | None:
    return _zeroed(seen.expected, 0, 1) if seen.expected.dim() and seen.expected.shape[0] > 1 else None


def _shifted(seen: Seen) -> torch.Tensor | None:
    return seen.expected.roll(1, -1) if _length(seen.expected) > 1 else None


def _transposed(seen: Seen) -> torch.Tensor | None:
    wide = seen.expected
    return wide.transpose(-1, -2) if wide.dim() > 1 and wide.shape[-1] == wide.shape[-2] > 1 else None


def _coarser(seen: Seen) -> torch.Tensor | None:
    """One dtype coarser than the output's."""
    narrow = {torch.float64: torch.float32, torch.float32: torch.bfloat16}.get(seen.dtype, torch.float8_e4m3fn)
    if not seen.dtype.is_floating_point:
        return None
    limit = torch.finfo(narrow).max
    return seen.expected.clamp(-limit, limit).to(torch.float32 if narrow.itemsize == 1 else seen.expected.dtype).to(narrow).to(torch.float64)


def _fp8(seen: Seen) -> torch.Tensor | None:
    """Rounded to the precision of fp8, whatever the range."""
    if not seen.dtype.is_floating_point:
        return None
    mantissa, exponent = torch.frexp(seen.expected)
    return torch.ldexp((mantissa * 2**_FP8_BITS).round() / 2**_FP8_BITS, exponent)


def _first_along(axis: int) -> Callable[[Seen], torch.Tensor | None]:
    def make(seen: Seen) -> torch.Tensor | None:
        wide = seen.expected
        return wide.narrow(axis, 0, 1).expand(wide.shape) if axis < wide.dim() and wide.shape[axis] > 1 else None

    return make


def _zeroed(wide: torch.Tensor, axis: int, count: int) -> torch.Tensor:
    made = wide.clone()
    made.narrow(axis, made.shape[axis] - count, count).zero_()
    return made


def _length(wide: torch.Tensor) -> int:
    return wide.shape[-1] if wide.dim() else 0


_LOOSE = "tighten the tolerance, or add a case whose answers stand out from it"
MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "zeros",
        lambda seen: torch.zeros_like(seen.expected),
        "make the answers larger than the tolerance: a smaller `atol`, or inputs that add up",
        is_fact=True,
    ),
    Mutant("ones", lambda seen: torch.ones_like(seen.expected), _LOOSE),
    Mutant("mean", _whole_mean, "add a case with inputs of more spread or a shorter reduction, or tighten the tolerance"),
    Mutant("row mean", _row_mean, "add a case with inputs of more spread along the last axis, or tighten the tolerance"),
    Mutant(
        "answer from earlier contents", lambda seen: seen.earlier, "let the inputs be drawn, so that answers differ from one call to the next", is_fact=True
    ),
    Mutant("last tile missing", _without_tile, "add a case or a draw with larger values at the end of the last axis"),
    Mutant("last row missing", _without_row, "add a case or a draw whose last row is not small"),
    Mutant("shifted by one", _shifted, "add a case whose answers differ from one column to the next"),
    Mutant("transposed", _transposed, "add a square case with inputs that are not symmetric"),
    Mutant("one dtype coarser", _coarser, "tighten `rtol` and `atol`, or add a case in a wider dtype"),
    Mutant("fp8 precision", _fp8, "tighten `rtol` and `atol`, or add a case in a wider dtype"),
    *(
        Mutant(f"constant along axis {axis}", _first_along(axis), f"let the answers differ along axis {axis}: draw the inputs with more spread", is_fact=True)
        for axis in range(4)
    ),
)


def copies(seen: Seen) -> dict[str, torch.Tensor]:
    """Inputs that could be taken for the output, by the mutant's name."""
    return {f"copy of `{name}`": one for name, one in seen.inputs.items() if one.shape == seen.expected.shape}


def swaps(inputs: Mapping[str, torch.Tensor]) -> list[tuple[str, str]]:
    """Pairs of inputs that a caller could exchange unnoticed."""
    names = list(inputs)
    pairs = [(one, other) for place, one in enumerate(names) for other in names[place + 1 :]]
    return [(one, other) for one, other in pairs if inputs[one].shape == inputs[other].shape and inputs[one].dtype == inputs[other].dtype]
