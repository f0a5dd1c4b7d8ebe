"""Input tensors by declaration: every `init` a pack may name, and the edge distributions drawn beside the declared one.

Everything comes from torch's generator of one device, one generator a tensor, seeded with a hash of the case's seed and the tensor's name, so
that a tensor's values do not depend on what is drawn before it. On a GPU (Philox) they are the same for one model of GPU and one release of
torch. On a CPU (Mersenne Twister) integers and uniform floats are the same on every machine; normal floats are for one release of torch on
processors with the same vector path (AVX2 or later), elsewhere the last bit may differ, as torch's Box-Muller goes through the path's own
logarithm and cosine. No result of comparison depends on that: the reference gets the same tensors as the candidate.
"""

from __future__ import annotations

import hashlib
import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from .edges import DISTRIBUTIONS, reshape_values

Derived = Callable[[str, dict[str, Any]], Any]
"""Takes an input's name and what is known by then (earlier tensors, scalars, by name); returns its values as a tensor or number."""


@dataclass(frozen=True)
class _Wanted:
    """One tensor to be made."""

    name: str
    shape: tuple[int, ...]
    dtype: torch.dtype
    generator: torch.Generator
    known: dict[str, Any]
    derived: Derived | None
    folder: Path | None

    @property
    def numel(self) -> int:
        return math.prod(self.shape)

    def integers(self, low: int, high: int, shape: tuple[int, ...] | None = None) -> torch.Tensor:
        """int64 in [low, high); an empty range is an error unless nothing is asked of it."""
        shape = self.shape if shape is None else shape
        if not math.prod(shape):
            return torch.zeros(shape, dtype=torch.int64)
        if low >= high:
            raise ValueError(f"`{self.name}`: no integer lies in [{low}, {high})")
        return torch.randint(low, high, shape, generator=self.generator)

    def fractions(self, shape: tuple[int, ...] | None = None, dtype: torch.dtype = torch.float64) -> torch.Tensor:
        """Uniform in [0, 1)."""
        return torch.rand(self.shape if shape is None else shape, generator=self.generator, dtype=dtype)


def make_inputs(
    arguments: list[dict[str, Any]],
    shapes: Mapping[str, tuple[int, ...]],
    inits: Mapping[str, dict[str, Any]],
    dtypes: Mapping[str, str],
    scalars: Mapping[str, Any],
    seed: int,
    distribution: str = "declared",
    derived: Derived | None = None,
    folder: Path | None = None,
    given: Mapping[str, torch.Tensor] | None = None,
    device: str = "cpu",
) -> dict[str, torch.Tensor]:
    """The inputs and inouts among `arguments` (the plan's form), in declaration order, as contiguous tensors on `device`.

    `shapes` and `inits` are the case's, evaluated; `dtypes` maps dtype variables to dtype names. `distribution` is "declared" or an edge
    (see `edges`): an edge changes the floating inputs whose `edges` name it, and no other. `derived` makes the inputs whose init is `derive`,
    from earlier tensors and `scalars`; `folder` holds the files of `file`; `given` holds the pack generator's tensors for inits
    `generator`. Raises ValueError where a declaration cannot be met (an index below 0, more unique values than there are).
    """
    if distribution not in DISTRIBUTIONS:
        raise ValueError(f"`{distribution}` is no distribution: {', '.join(DISTRIBUTIONS)}")
    made: dict[str, torch.Tensor] = {}
    with torch.device(device):
        for argument in arguments:
            if argument["role"] not in ("input", "inout"):
                continue
            name = argument["name"]
            dtype = getattr(torch, dtypes.get(argument["dtype"], argument["dtype"]))
            generator = torch.Generator(device).manual_seed(_tensor_seed(seed, name, distribution))
            wanted = _Wanted(name, tuple(shapes[name]), dtype, generator, {**scalars, **made}, derived, folder)
            values = _cast(_draw(wanted, inits[name], given or {}), dtype)
            if distribution != "declared" and dtype.is_floating_point and distribution in argument.get("edges", ()):
                values = reshape_values(values, distribution, generator)
            made[name] = values.to(device).contiguous()
    return made


def _tensor_seed(seed: int, name: str, distribution: str) -> int:
    digest = hashlib.sha256(f"{seed}/{name}/{distribution}".encode()).digest()
    return int.from_bytes(digest[:8], "little") >> 1


def _draw(wanted: _Wanted, init: dict[str, Any], given: Mapping[str, torch.Tensor]) -> torch.Tensor:
    (kind,) = init
    if kind == "generator":
        if wanted.name not in given:
            raise ValueError(f"`{wanted.name}`: the pack's generator returned no such tensor")
        values = given[wanted.name]
    else:
        values = _INITS[kind](wanted, **{key.replace("-", "_"): value for key, value in init[kind].items()})
    if tuple(values.shape) != wanted.shape:
        raise ValueError(f"`{wanted.name}`: {kind} made shape {list(values.shape)}, the declaration says {list(wanted.shape)}")
    return values


def _cast(values: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Conversion that rounds and saturates where the dtype is an integer type."""
    if values.dtype == dtype:
        return values
    if values.is_floating_point() and not dtype.is_floating_point and dtype != torch.bool:
        info = torch.iinfo(dtype)
        values = values.to(torch.float64).round()
        return torch.where(values >= info.max, info.max, values.clamp(info.min, float(info.max)).to(torch.int64).clamp(max=info.max)).to(dtype)
    return values.to(dtype)


def _normal(wanted: _Wanted, mean: float = 0.0, std: float = 1.0) -> torch.Tensor:
    precision = torch.float64 if wanted.dtype == torch.float64 else torch.float32
    return torch.randn(wanted.shape, generator=wanted.generator, dtype=precision).mul_(std).add_(mean)


def _uniform(wanted: _Wanted, low: float = 0, high: float = 1) -> torch.Tensor:
    """Floats in [low, high], integers in [low, high), bool either with equal chance."""
    if wanted.dtype == torch.bool:
        return wanted.integers(0, 2)
    if not wanted.dtype.is_floating_point:
        return wanted.integers(math.ceil(low), math.ceil(high))
    precision = torch.float64 if wanted.dtype == torch.float64 else torch.float32
    return wanted.fractions(dtype=precision).mul_(high - low).add_(low)


def _constant(wanted: _Wanted, value: float) -> torch.Tensor:
    return torch.full(wanted.shape, value, dtype=wanted.dtype)


def _partition(wanted: _Wanted, of: int) -> torch.Tensor:
    """Starts at 0, never falls, ends at `of`; parts may be empty."""
    if len(wanted.shape) != 1 or not wanted.numel or of < 0:
        raise ValueError(f"`{wanted.name}`: a partition of {of} needs shape [n + 1] and at least 0 to divide, not shape {list(wanted.shape)}")
    if wanted.numel == 1:
        if of:
            raise ValueError(f"`{wanted.name}`: {of} cannot be divided into no parts")
        return torch.zeros(1, dtype=torch.int64)
    inner, _ = wanted.integers(0, of + 1, (wanted.numel - 2,)).sort()
    return torch.cat([torch.tensor([0]), inner, torch.tensor([of])])


def _index(wanted: _Wanted, below: int) -> torch.Tensor:
    return wanted.integers(0, below)


def _unique_index(wanted: _Wanted, below: int) -> torch.Tensor:
    if wanted.numel > below:
        raise ValueError(f"`{wanted.name}`: {wanted.numel} different indices below {below} do not exist")
    return torch.randperm(max(below, 0), generator=wanted.generator)[: wanted.numel].reshape(wanted.shape)


def _permutation(wanted: _Wanted) -> torch.Tensor:
    """Of 0 … n-1 along the last axis, another one in each row."""
    return _distinct_rows(wanted, wanted.shape[-1])


def _distinct_rows(wanted: _Wanted, below: int) -> torch.Tensor:
    """Rows (last axis) of different values in [0, below)."""
    length = wanted.shape[-1]
    if length > below:
        raise ValueError(f"`{wanted.name}`: {length} different values below {below} do not exist")
    rows = wanted.numel // length if length else 0
    picked = [torch.randperm(below, generator=wanted.generator)[:length] for _ in range(rows)]
    return torch.stack(picked).reshape(wanted.shape) if picked else torch.zeros(wanted.shape, dtype=torch.int64)


def _sorted(wanted: _Wanted, low: float = 0, high: float = 1) -> torch.Tensor:
    """`uniform`, ascending along the last axis."""
    return _uniform(wanted, low, high).sort(dim=-1).values


def _routing(wanted: _Wanted, experts: int, skew: float = 1.0) -> torch.Tensor:
    """Expert ids by a Zipf law, expert popularity shuffled: p(rank r) ~ 1 / (r + 1)**skew. In a matrix, a row's experts are distinct."""
    if experts < 1 and wanted.numel:
        raise ValueError(f"`{wanted.name}`: routing needs experts, not {experts}")
    if not wanted.numel:
        return torch.zeros(wanted.shape, dtype=torch.int64)
    weights = torch.tensor([1.0 / (rank + 1) ** skew for rank in range(experts)], dtype=torch.float64)
    weights = weights[torch.randperm(experts, generator=wanted.generator)]
    if len(wanted.shape) < 2:
        edges = (weights.cumsum(0) / weights.sum())[:-1]
        return torch.searchsorted(edges, wanted.fractions(), right=True)
    picks = wanted.shape[-1]
    if picks > experts:
        raise ValueError(f"`{wanted.name}`: {picks} different experts of {experts} do not exist")
    # Weighted sampling without replacement: the largest keys u**(1/w) (Efraimidis and Spirakis, 2006), compared by their logarithms.
    keys = wanted.fractions((*wanted.shape[:-1], experts)).clamp_min(2.0**-60).log() / weights
    return keys.topk(picks, dim=-1).indices


def _mask(wanted: _Wanted, density: float = 0.5) -> torch.Tensor:
    """One with probability `density`, else zero."""
    return wanted.fractions(dtype=torch.float32) < density


def _paged(wanted: _Wanted, pages: int) -> torch.Tensor:
    """Page ids below `pages`; within a row (last axis) no page twice."""
    return _distinct_rows(wanted, pages)


def _csr(wanted: _Wanted, columns: int, indptr: str) -> torch.Tensor:
    """Column indices, ascending and distinct within each row of `indptr`; entries beyond its last are 0."""
    pointers = wanted.known[indptr].to(torch.int64)
    lengths = pointers.diff()
    total = int(pointers[-1])
    if total > wanted.numel or (lengths > columns).any():
        what = f"{total} entries, up to {int(lengths.max())} a row"
        raise ValueError(f"`{wanted.name}`: {what}, do not fit {columns} columns and capacity {wanted.numel}")
    rows = torch.repeat_interleave(torch.arange(len(lengths)), lengths)
    place = torch.arange(total) - pointers[:-1].repeat_interleave(lengths)
    # A sorted draw with repetition from columns - length + 1 values becomes a strictly ascending one when 0, 1, 2, … are added.
    room = columns - lengths.repeat_interleave(lengths) + 1
    drawn = wanted.integers(0, 1 << 62, (total,)) % room
    drawn = (rows * (columns + 1) + drawn).sort().values - rows * (columns + 1)
    return torch.cat([drawn + place, torch.zeros(wanted.numel - total, dtype=torch.int64)]).reshape(wanted.shape)


def _derive(wanted: _Wanted, **_: object) -> torch.Tensor:
    if wanted.derived is None:
        raise ValueError(f"`{wanted.name}` is derived, and nothing derives it")
    values = torch.as_tensor(wanted.derived(wanted.name, wanted.known))
    return values.expand(wanted.shape) if values.dim() == 0 else values


def _file(wanted: _Wanted, path: str) -> torch.Tensor:
    """Raw little-endian elements of the whole tensor."""
    if wanted.folder is None or not (wanted.folder / path).resolve().is_relative_to(wanted.folder.resolve()):
        raise ValueError(f"`{wanted.name}`: {path} is not a file of the pack")
    data = bytearray((wanted.folder / path).read_bytes())
    if len(data) != wanted.numel * wanted.dtype.itemsize:
        raise ValueError(f"`{wanted.name}`: {path} holds {len(data)} bytes, the tensor needs {wanted.numel * wanted.dtype.itemsize}")
    if not data:
        return torch.zeros(wanted.shape, dtype=wanted.dtype)
    if sys.byteorder == "big" and wanted.dtype.itemsize > 1:
        data = bytearray(torch.frombuffer(data, dtype=torch.uint8).reshape(-1, wanted.dtype.itemsize).flip(1).numpy().tobytes())
    return torch.frombuffer(data, dtype=wanted.dtype).reshape(wanted.shape)


_INITS: dict[str, Callable[..., torch.Tensor]] = {
    "normal": _normal,
    "uniform": _uniform,
    "constant": _constant,
    "partition": _partition,
    "index": _index,
    "unique-index": _unique_index,
    "permutation": _permutation,
    "sorted": _sorted,
    "routing": _routing,
    "mask": _mask,
    "paged": _paged,
    "csr": _csr,
    "derive": _derive,
    "file": _file,
}
