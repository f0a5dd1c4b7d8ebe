"""The kind `op`: what must be computed, with no language and no hardware in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import ConfigDict, Discriminator, Field, Tag

from .expressions import Type
from .header import CaseId, Identifier, PackFile, Text, Value, Words
from .inits import Init
from .module import Module, StateKey
from .names import FLOATING

MOST_NAMES = 64
"""Of each kind: far more than any kernel has, and few enough that a stranger's pack cannot keep the checker busy."""
MOST_CASES = 256

Scale = Literal["small", "full"]
Edge = Literal["ties", "constant-rows", "near-zero", "large-offset", "spikes", "denormals"]
Size = int | Text
"""A whole number, or an expression over dimensions, dtypes, flags and scalars."""


class Tensor(Words):
    """What inputs, inouts and outputs have in common."""

    name: Identifier
    """Its name in arguments and expressions."""
    shape: Annotated[tuple[Size, ...], Field(max_length=8)]
    """Sizes, outermost first; `[]` is a single element."""
    dtype: Text
    """A dtype variable of `[op.dtypes]`, or a dtype."""
    doc: str = ""
    """What it means."""


class Input(Tensor):
    """`[[op.input]]` and `[[op.inout]]`: a tensor that is given; an inout is also written to."""

    init: Init
    """How its values are made."""
    static: bool = False
    """Whether it stays the same from call to call, as weights do, so that a candidate may prepare it once."""
    edges: tuple[Edge, ...] = ()
    """Distributions that the judge draws besides the declared one; floating tensors only."""


class State(Input):
    """`[[op.state]]`: a parameter or buffer of the op's module. Its values are drawn, never initialised by the library: ones and zeros hide that a
    weight is ignored."""

    name: StateKey
    """Its key in the `state_dict`: `weight`, `gate_proj.weight`."""
    static: Literal[True] = True
    """A module's state stays the same from call to call."""


class Output(Tensor):
    """`[[op.output]]`: a tensor to be computed."""

    count: Identifier | None = None
    """The integer output of shape `[]` that says how many rows (along axis 0) are valid; the shape is then a capacity."""
    compare: Literal["close", "exact"] | None = None
    """Default: `close` for floating dtypes, `exact` for others."""


class Scalar(Words):
    """`[[op.scalar]]`: a number that is passed by value."""

    name: Identifier
    """Its name in arguments and expressions."""
    dtype: Literal["float64", "float32", "int64", "int32", "bool"]
    """How it is passed: `double`, `float`, `int64_t`, `int32_t`, in C."""
    value: bool | int | float
    """What it is unless a case says otherwise."""
    doc: str = ""
    """What it means."""


class World(Words):
    """`[op.world]`: how many devices take part."""

    ranks: Literal[1] = 1
    """Reserved: 1 is what there is."""


class Cost(Words):
    """`[op.cost]`: what must be moved and computed at the least, for rates and physical limits."""

    bytes: Text
    """Expression: bytes read and written."""
    flops: Text
    """Expression: floating-point operations."""


class OutputTolerance(Words):
    """`[op.tolerance.output.<name>]`: what differs for one output."""

    reduction: Text | None = None
    """Expression: the length of the longest reduction."""
    roundings: Annotated[int, Field(ge=1, le=16)] | None = None
    """How many times values are rounded to the output's dtype on the way to it, the last time included; default 2. Only for float16 and bfloat16."""
    rtol: Annotated[float, Field(ge=0)] | None = None
    """Accepted error relative to the element; needs a `reason`."""
    atol: Annotated[float, Field(ge=0)] | None = None
    """Accepted error relative to the output's scale; needs a `reason`."""
    reason: str = ""
    """Why the default does not do."""


class Tolerance(OutputTolerance):
    """`[op.tolerance]`: defaults follow from the dtype and the length of the longest reduction."""

    output: Mapping[str, OutputTolerance] = Field(default_factory=dict)
    """The same for one output or inout."""


class Case(Words):
    """`[[op.case]]`: a configuration that everybody sees.

    Besides `id` and `scale` it gives each dimension and dtype variable a value, and flags and scalars if it likes.
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Value]

    id: CaseId
    """Its name in reports, unique in the op."""
    scale: Scale = "full"
    """`full` is what a GPU is asked, `small` what a CPU, an emulator or an interpreter is asked, too."""

    @property
    def values(self) -> dict[str, Value]:
        """What the case says, by name; flags and scalars that it leaves out are absent."""
        return dict(self.__pydantic_extra__)


class Draw(Words):
    """A rule from which a value of an unseen case is drawn: `choice` or `range`."""

    choice: Annotated[tuple[Value, ...], Field(min_length=1)] | None = None
    """One of these."""
    range: tuple[int | float, int | float] | None = None
    """Between these two, both included."""
    multiple_of: Annotated[int, Field(gt=0)] | None = None
    """Only multiples of this."""
    not_multiple_of: Annotated[int, Field(gt=1)] | None = None
    """No multiples of this."""
    log: bool = False
    """Uniform in the logarithm, so that small values come up as often as large ones."""

    def to_dict(self) -> dict[str, object]:
        """As the plan and `taskpack.runtime.draw` have it: only what is said, in kebab-case."""
        return self.model_dump(by_alias=True, exclude_defaults=True)


def _rule_or_literal(value: object) -> str:
    return "draw" if isinstance(value, dict | Draw) else "literal"


Drawn = Annotated[Annotated[Value, Tag("literal")] | Annotated[Draw, Tag("draw")], Discriminator(_rule_or_literal)]


class Unseen(Words):
    """`[[op.unseen]]`: a table from which the judge draws cases that nobody has seen. Each name is given a literal or a rule."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Drawn]

    scale: Scale = "full"
    """As in a case."""
    count: Annotated[int, Field(gt=0, le=1000)] = 8
    """How many cases are drawn."""

    @property
    def draws(self) -> dict[str, Value | Draw]:
        """What the table says, by name."""
        return dict(self.__pydantic_extra__)


class Op(Words):
    """`[op]`: what must be computed."""

    reference: Text | None = None
    """`file.py:function`, a torch function that computes in float64; left out where there is `[op.module]`. Its parameters name the inputs, dimensions,
    dtype variables, flags and scalars that it wants; it returns the final inouts, then the outputs."""
    module: Module | None = None
    doc: str = ""
    """What is computed, in prose."""
    dims: Mapping[Identifier, str] = Field(default_factory=dict)
    """Dimensions, each with what it means."""
    dtypes: Mapping[Identifier, Annotated[tuple[Text, ...], Field(min_length=1)]] = Field(default_factory=dict)
    """Dtype variables, each with the dtypes that it may be."""
    flags: Mapping[Identifier, str] = Field(default_factory=dict)
    """Booleans, each with what it means."""
    inputs: tuple[Input, ...] = Field((), alias="input", max_length=MOST_NAMES)
    """Tensors that are read."""
    inouts: tuple[Input, ...] = Field((), alias="inout", max_length=MOST_NAMES)
    """Tensors that are read and overwritten."""
    state: tuple[State, ...] = Field((), max_length=MOST_NAMES)
    """Parameters and buffers of the module, every one of them."""
    outputs: tuple[Output, ...] = Field((), alias="output", max_length=MOST_NAMES)
    """Tensors that are computed."""
    scalars: tuple[Scalar, ...] = Field((), alias="scalar", max_length=MOST_NAMES)
    """Numbers passed by value."""
    world: World = World.model_construct()
    cost: Cost | None = None
    tolerance: Tolerance = Tolerance.model_construct()
    constraints: tuple[Text, ...] = Field((), max_length=MOST_NAMES)
    """Expressions over dimensions, flags, dtypes and scalars that every case meets."""
    invariants: tuple[Text, ...] = Field((), max_length=MOST_NAMES)
    """Expressions over generated tensors, too, that every drawn input meets."""
    generator: Text | None = None
    """`file.py:function` that is given the dimensions, dtype variables, flags, scalars and `seed` that it names,
    and returns a dict with the inputs whose init is `{ generator = true }`."""
    cases: tuple[Case, ...] = Field((), alias="case", max_length=MOST_CASES)
    """Configurations that everybody sees."""
    unseen: tuple[Unseen, ...] = Field((), max_length=MOST_NAMES)
    """Rules for configurations that nobody sees."""

    def scope(self) -> dict[str, Type]:
        """Names that shapes, costs and constraints may use, with their types, in the order of declaration."""
        scalars: dict[str, Type] = {scalar.name: _scalar_type(scalar.dtype) for scalar in self.scalars}
        return {
            **dict.fromkeys(self.dims, "int"),
            **dict.fromkeys(self.dtypes, "dtype"),
            **dict.fromkeys(self.flags, "bool"),
            **scalars,
        }

    def tensor_scope(self) -> dict[str, Type]:
        """Names that invariants may use: `scope` and the inputs and inouts. A `derive` may use those declared before it."""
        return {**self.scope(), **dict.fromkeys((tensor.name for tensor in (*self.inputs, *self.inouts)), "tensor")}

    def given(self) -> Iterator[Input]:
        """Inputs, inouts, then a module's state: every tensor that has values before the call."""
        yield from self.inputs
        yield from self.inouts
        yield from self.state

    def written(self) -> Iterator[Tensor]:
        """Inouts, then outputs: what the reference returns, in its order."""
        yield from self.inouts
        yield from self.outputs

    def dtypes_of(self, tensor: Tensor) -> tuple[str, ...]:
        """The dtypes that a tensor may have."""
        return self.dtypes.get(tensor.dtype, (tensor.dtype,))

    def comparison(self, tensor: Tensor) -> str:
        """`close` or `exact`: as the output says, else by its dtype."""
        said = tensor.compare if isinstance(tensor, Output) else None
        return said or ("close" if any(dtype in FLOATING for dtype in self.dtypes_of(tensor)) else "exact")

    def values_of(self, case: Case) -> dict[str, Value]:
        """A value for every name of `scope`: the case's own, flags else false, scalars else their default."""
        defaults: dict[str, Value] = {**dict.fromkeys(self.flags, False), **{scalar.name: scalar.value for scalar in self.scalars}}
        said = {**defaults, **case.values}
        return {name: said[name] for name in self.scope() if name in said}


def _scalar_type(dtype: str) -> Type:
    if dtype == "bool":
        return "bool"
    return "int" if dtype.startswith("int") else "float"


class OpPack(PackFile):
    """A pack of the kind `op`."""

    op: Op
