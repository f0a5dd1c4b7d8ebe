"""Edge distributions: what becomes of a declared floating tensor where kernels usually break."""

from __future__ import annotations

from collections.abc import Callable

import torch

DISTRIBUTIONS = ("declared", "ties", "constant-rows", "near-zero", "large-offset", "spikes", "denormals")

_LARGE = {torch.float16: 128.0, torch.bfloat16: 128.0}
"""Beyond float32's exp (88.7), yet float16 and bfloat16 still tell neighbours 0.125 and 1 apart there; 1024 for wider types."""


def reshape_values(values: torch.Tensor, edge: str, generator: torch.Generator) -> torch.Tensor:
    """`values` turned into the edge; same shape and dtype. An empty tensor stays as it is.

    ties: every element is one of four of the declared values. constant-rows: the row's first element all along the last axis.
    near-zero: about half of the rows times 2**-20 (float16: 2**-10). large-offset: plus 1024 (float16, bfloat16: plus 128).
    spikes: one element of about half of the rows, and of one at least, plus as much. denormals: about half of the elements uniform over the dtype's
    subnormal numbers.
    """
    return _EDGES[edge](values, generator) if values.numel() else values


def _ties(values: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    kept = values.flatten()[torch.randint(0, values.numel(), (4,), generator=generator)]
    return kept[torch.randint(0, 4, values.shape, generator=generator)]


def _constant_rows(values: torch.Tensor, _: torch.Generator) -> torch.Tensor:
    return values[..., :1].expand(values.shape) if values.dim() else values


def _near_zero(values: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    small = 2.0**-10 if values.dtype == torch.float16 else 2.0**-20
    rows = (*values.shape[:-1], 1) if values.dim() > 1 else values.shape
    picked = torch.rand(rows, generator=generator) < 0.5
    return torch.where(picked, values * small, values)


def _large_offset(values: torch.Tensor, _: torch.Generator) -> torch.Tensor:
    return values + _LARGE.get(values.dtype, 1024.0)


def _spikes(values: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    spiked = values.reshape(-1, values.shape[-1] if values.dim() else 1).clone()
    rows, columns = spiked.shape
    picked = torch.rand(rows, generator=generator) < 0.5
    picked[torch.randint(0, rows, (1,), generator=generator)] = True
    where = torch.randint(0, columns, (rows,), generator=generator)
    spiked[picked, where[picked]] += _LARGE.get(values.dtype, 1024.0)
    return spiked.reshape(values.shape)


def _denormals(values: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    info = torch.finfo(values.dtype)
    tiny = ((torch.rand(values.shape, generator=generator, dtype=torch.float64) * 2 - 1) * info.tiny).to(values.dtype)
    return torch.where(torch.rand(values.shape, generator=generator) < 0.5, tiny, values)


_EDGES: dict[str, Callable[[torch.Tensor, torch.Generator], torch.Tensor]] = {
    "ties": _ties,
    "constant-rows": _constant_rows,
    "near-zero": _near_zero,
    "large-offset": _large_offset,
    "spikes": _spikes,
    "denormals": _denormals,
}
