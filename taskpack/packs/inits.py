"""How the values of an input are declared."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from .header import Identifier, Text, Words

Size = int | Text
Number = int | float


class Normal(Words):
    """Normally distributed."""

    mean: Number = 0.0
    """Their mean."""
    std: Annotated[Number, Field(gt=0)] = 1.0
    """Their standard deviation."""


class Uniform(Words):
    """Uniform: floats in [low, high], integers in [low, high), bool either."""

    low: Number = 0
    """The least value."""
    high: Number = 1
    """The greatest value; integers stay below it."""


class Constant(Words):
    """The same value everywhere."""

    value: Number
    """That value."""


class Partition(Words):
    """Shape `[n + 1]`: starts at 0, never falls, ends at `of`."""

    of: Size
    """Expression: what is divided into n parts."""


class Index(Words):
    """Whole numbers in [0, below)."""

    below: Size
    """Expression: the least number that does not occur."""


class UniqueIndex(Words):
    """Whole numbers in [0, below), no two the same."""

    below: Size
    """Expression: the least number that does not occur."""


class Permutation(Words):
    """0 … n-1 in any order along the last axis."""


class Sorted(Words):
    """Uniform, ascending along the last axis."""

    low: Number = 0
    """The least value."""
    high: Number = 1
    """The greatest value; integers stay below it."""


class Routing(Words):
    """Expert ids with a popularity that falls as a power law; in a matrix a row's experts are distinct."""

    experts: Size
    """Expression: how many there are."""
    skew: Annotated[Number, Field(ge=0)] = 1.0
    """The exponent: 0 is even."""


class Mask(Words):
    """One with probability `density`, else zero."""

    density: Annotated[Number, Field(ge=0, le=1)] = 0.5
    """The probability, from 0 to 1."""


class Paged(Words):
    """Page ids; none twice in a row."""

    pages: Size
    """Expression: how many pages there are."""


class Csr(Words):
    """Column indices of a sparse matrix, ascending within each row."""

    columns: Size
    """Expression: how many columns there are."""
    indptr: Identifier
    """The input, declared before, that says where rows begin."""


class Derive(Words):
    """Computed from inputs declared before, and dimensions."""

    expression: Text
    """What it is: a tensor of the same shape, or a number for all elements."""


class File(Words):
    """Raw little-endian elements of the whole tensor."""

    path: Text
    """A file of the pack."""


class Init(Words):
    """How a tensor's values are made: exactly one of these keys."""

    normal: Normal | None = None
    """Normally distributed, with `mean` and `std`."""
    uniform: Uniform | None = None
    """Uniform between `low` and `high`; integers stay below `high`."""
    constant: Constant | None = None
    """`value` everywhere."""
    partition: Partition | None = None
    """Shape `[n + 1]`: starts at 0, never falls, ends at `of` (as cu_seqlens do)."""
    index: Index | None = None
    """Whole numbers in [0, below)."""
    unique_index: UniqueIndex | None = None
    """Whole numbers in [0, below), no two the same."""
    permutation: Permutation | None = None
    """0 … n-1 in any order along the last axis."""
    sorted: Sorted | None = None
    """Uniform between `low` and `high`, ascending along the last axis."""
    routing: Routing | None = None
    """Expert ids below `experts`, the popular ones more often (`skew`)."""
    mask: Mask | None = None
    """One with probability `density`, else zero."""
    paged: Paged | None = None
    """Page ids below `pages`; none twice in a row."""
    csr: Csr | None = None
    """Column indices below `columns`, ascending in each row of `indptr`."""
    derive: Derive | None = None
    """By an `expression` over inputs declared before."""
    file: File | None = None
    """From a file of the pack."""
    generator: Literal[True] | None = None
    """By the op's `generator`."""

    @property
    def kind(self) -> str:
        """The one key that is given, as it stands in the pack."""
        return next(iter(self.model_fields_set)).replace("_", "-")

    def arguments(self) -> dict[str, Any]:
        """What the key says, in kebab-case and with defaults filled in; `{}` for `generator`. Those named by `expressions` may be expressions."""
        said = getattr(self, self.kind.replace("-", "_"))
        return said.model_dump(by_alias=True) if isinstance(said, Words) else {}

    def expressions(self) -> tuple[str, ...]:
        """The keys among `arguments` whose value is a size or an expression."""
        return EXPRESSIONS.get(self.kind, ())


EXPRESSIONS: dict[str, tuple[str, ...]] = {
    "partition": ("of",),
    "index": ("below",),
    "unique-index": ("below",),
    "routing": ("experts",),
    "paged": ("pages",),
    "csr": ("columns",),
    "derive": ("expression",),
}
"""Init → its keys that are expressions."""
