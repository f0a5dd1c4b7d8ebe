"""The compiler's IR: a task, resolved and lowered for one target, with nothing left implicit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass

from taskpack.runtime.signature import Signature

FORMAT = 1

ROLES = ("input", "inout", "output", "scalar", "dim", "flag")
TENSOR_ROLES = frozenset({"input", "inout", "output"})
GATES = ("compile", "rules", "interface", "state-dict", "correct", "general", "fast")
MODEL_GATES = ("compile", "interface", "state-dict", "parity", "stack", "throughput")
OF_MODULES = frozenset({"interface", "state-dict"})
"""Gates that ask what only a module has."""
EXECUTIONS = ("native", "emulated", "interpreted")
"""From the strongest claim to the weakest."""

USUAL_ROUNDINGS = 2
"""Into an output's dtype; `runtime.tolerance` says why."""

_EXACT = 2**53
"""Below it floats hold every integer."""

Literal = bool | int | float | str


@dataclass(frozen=True)
class OpName:
    """Which op the task is about; an inline op bears its task's name and version."""

    name: str
    version: str


@dataclass(frozen=True)
class Device:
    """The target, without its sources: how to recognise it and its numbers."""

    name: str
    device: str
    architecture: str
    recognise: Mapping[str, object]
    limits: Mapping[str, float]
    peak: Mapping[str, float]


@dataclass(frozen=True)
class Argument:
    """One thing that a kernel takes or fills."""

    name: str
    role: str
    dtype: str
    """A dtype variable (`T`) or a concrete dtype."""
    shape: tuple[int | str, ...] = ()
    """Expressions as their author wrote them; the harness holds them compiled. Empty for a scalar, dim or flag."""
    static: bool = False
    edges: tuple[str, ...] = ()
    count: str | None = None
    """The output that says how many rows of this one are valid."""
    compare: str = "exact"


@dataclass(frozen=True)
class Names:
    """Every name that an expression may use besides tensors, in the order of their declaration."""

    dims: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    scalars: tuple[str, ...] = ()

    def all(self) -> tuple[str, ...]:
        return self.dims + self.dtypes + self.flags + self.scalars


@dataclass(frozen=True)
class Reference:
    """The op's own answer: a function in a file under `pack/reference/`; no file and no entry where a library's class answers."""

    file: str
    entry: str
    generator: str | None = None
    """`file.py:function` that draws inputs, where an init asks for it."""


@dataclass(frozen=True)
class Module:
    """The library's class that is the reference and the baseline, and which of the op's tensors are what to it."""

    provider: str
    target: str
    requires: str
    versions: tuple[tuple[str, str], ...]
    """`requires` as comparisons: operator and version."""
    fingerprint: str
    precision: str
    constructor: Signature
    forward: Signature
    inputs: tuple[str, ...]
    state: tuple[str, ...]


@dataclass(frozen=True)
class Swap:
    """A task whose candidate takes the place of modules in a model."""

    task: str
    version: str
    folder: str
    """Where its files lie in the model's candidate."""
    language: str
    files: tuple[str, ...]
    entry: str
    modules: str
    """A pattern of names in the model."""
    module: Module


@dataclass(frozen=True)
class StateRule:
    """How a model's parameters whose key goes with a pattern are drawn."""

    match: str
    init: Mapping[str, Mapping[str, Literal]]


@dataclass(frozen=True)
class InModel:
    """What only a model has: which of its modules are replaced, how its state is drawn, and what of its answer is compared."""

    category: str
    output: str
    state: tuple[StateRule, ...]
    swaps: tuple[Swap, ...]


@dataclass(frozen=True)
class Side:
    """The baseline: code in a language, and how to call it."""

    language: str
    files: tuple[str, ...]
    entry: str
    arguments: tuple[str, ...]
    style: str
    execution: str = ""


@dataclass(frozen=True)
class CandidateSide(Side):
    """What a candidate has to be, and which one is judged where none is given."""

    start: str | None = None
    """`start`, `baseline`, or None: one must be given."""


@dataclass(frozen=True)
class Case:
    """One configuration that everybody can see; `timed` where the gate *fast* uses it."""

    id: str
    scale: str
    values: Mapping[str, Literal]
    digest: str = ""
    timed: bool = False


@dataclass(frozen=True)
class Unseen:
    """A rule from which the judge draws `count` configurations; a draw is a literal, a `choice` or a `range`."""

    id: str
    scale: str
    count: int
    draws: Mapping[str, object]


@dataclass(frozen=True)
class Tolerance:
    """An override of the tolerance that follows from dtype and reduction length; None where it follows."""

    rtol: float | None = None
    atol: float | None = None
    reason: str = ""
    roundings: int = USUAL_ROUNDINGS


@dataclass(frozen=True)
class Limits:
    """What a candidate may use before it is stopped."""

    compile_s: float
    call_s: float
    memory_mib: int
    output_mib: int


@dataclass(frozen=True)
class Allow:
    """What of others a candidate may call."""

    torch: str
    """`none`, `elementwise` or `all`."""
    vendor_libraries: bool


@dataclass(frozen=True)
class Timing:
    """Which time is scored: `device` or `host`."""

    score: str


@dataclass(frozen=True)
class Checked:
    """A condition: as its author wrote it, and as Python."""

    source: str
    python: str


@dataclass(frozen=True)
class Rules:
    """What is known of code in the candidate's language on the target: rules as plain data, and the facts that they see besides the code's own."""

    rules: tuple[Mapping[str, object], ...]
    facts: Mapping[str, float]


@dataclass(frozen=True)
class Program:
    """The expressions of the op as Python source, by the function of `harness.py` that returns them."""

    shapes: Mapping[str, str] = field(default_factory=dict)
    inits: Mapping[str, str] = field(default_factory=dict)
    derived: Mapping[str, str] = field(default_factory=dict)
    constraints: tuple[Checked, ...] = ()
    invariants: tuple[Checked, ...] = ()
    reductions: Mapping[str, str] = field(default_factory=dict)
    cost: Mapping[str, str] = field(default_factory=dict)
    arguments: Mapping[str, str] = field(default_factory=dict)
    """Of a module's constructor."""
    imports: tuple[str, ...] = ()
    """Names wanted from the runtime's `expressions`."""


@dataclass(frozen=True)
class Plan:
    """One task for one target. `to_dict` is `plan.json`; `program` is what `harness.py` prints."""

    task: str
    version: str
    family: str
    op: OpName
    target: Device
    reference: Reference
    baseline: Side
    candidate: CandidateSide
    interface: str = "function"
    module: Module | None = None
    model: InModel | None = None
    arguments: tuple[Argument, ...] = ()
    names: Names = Names()
    cases: tuple[Case, ...] = ()
    unseen: tuple[Unseen, ...] = ()
    tolerance: Mapping[str, Tolerance] = field(default_factory=dict)
    rules: Rules | None = None
    """None where nothing is known."""
    gates: tuple[str, ...] = ()
    execution: str = ""
    limits: Limits | None = None
    timing: Timing | None = None
    deterministic: bool | None = None
    """True where two calls on the same contents must give the same bits."""
    allow: Allow | None = None
    """None for a model: each of its tasks has its own."""
    digests: Mapping[str, str] = field(default_factory=dict)
    program: Program = Program()

    def to_dict(self) -> dict[str, object]:
        """The content of `plan.json`: JSON's own types only. What is None is left out."""
        left_out = {"program"} | {f.name for f in fields(self) if getattr(self, f.name) is None}
        return {"format": FORMAT} | {f.name: _plain(getattr(self, f.name)) for f in fields(self) if f.name not in left_out}

    def tensors(self, *roles: str) -> tuple[Argument, ...]:
        """The tensor arguments with one of `roles`, or all of them."""
        wanted = set(roles) or TENSOR_ROLES
        return tuple(a for a in self.arguments if a.role in wanted)


def shortest(number: int | float) -> int | float:
    """The same number, as an int where it is one: `3` and `3.0` mean the same in a pack."""
    return int(number) if isinstance(number, float) and number.is_integer() and abs(number) < _EXACT else number


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value


def verify_plan(plan: Plan, *, is_complete: bool = True) -> None:
    """Asserts what every plan promises; a failure is a bug of the compiler, never the author's mistake.

    Before the last pass (`is_complete=False`) what is still empty is let through.
    """
    for wrong in _contradictions(plan):
        raise AssertionError(f"plan of {plan.task}: {wrong}")
    if is_complete:
        for wrong in _gaps(plan):
            raise AssertionError(f"plan of {plan.task}: {wrong}")


def _contradictions(plan: Plan) -> Iterable[str]:
    arguments = {a.name: a for a in plan.arguments}
    known = plan.names.all()
    if len(arguments) != len(plan.arguments) or len(set(known)) != len(known):
        yield "a name is declared twice"
    for argument in plan.arguments:
        if argument.role not in ROLES:
            yield f"{argument.name} has the unknown role {argument.role!r}"
        if argument.count is not None and argument.count not in arguments:
            yield f"{argument.name} is counted by {argument.count}, which is not an argument"
    if plan.arguments:
        for side in (plan.baseline, plan.candidate):
            for name in set(side.arguments) - set(arguments) - {"stream"}:
                yield f"{side.language} is given {name}, which is not an argument"
    for case in plan.cases:
        if set(case.values) != set(known):
            yield f"case {case.id} gives {sorted(case.values)}, not {sorted(known)}"
    for table in plan.unseen:
        if set(table.draws) != set(known):
            yield f"{table.id} draws {sorted(table.draws)}, not {sorted(known)}"
    for name in set(plan.tolerance) - {a.name for a in plan.tensors("inout", "output")}:
        yield f"a tolerance for {name}, which is not an output"
    if strange := sorted(set(plan.gates) - {*GATES, *MODEL_GATES}):
        yield f"unknown gates {strange}"


def _gaps(plan: Plan) -> Iterable[str]:
    if (
        (plan.interface == "function") != (plan.module is None)
        or (plan.interface == "model") != (plan.model is not None)
        or (plan.module is None) != bool(plan.reference.file)
    ):
        yield "the interface and the reference do not go together"
    for side in (plan.baseline, plan.candidate):
        if side.execution not in EXECUTIONS:
            yield f"{side.language} is placed nowhere"
    if plan.execution not in EXECUTIONS:
        yield "no execution"
    if not any(case.timed for case in plan.cases):
        yield "no case is timed"
    for case in plan.cases:
        if not case.digest:
            yield f"case {case.id} has no digest"
    if plan.limits is None or plan.timing is None:
        yield "no limits or no timing"
    if not plan.gates:
        yield "no gates"
    if ("rules" in plan.gates) != (plan.rules is not None):
        yield "the gate rules and the rules do not go together"
    if "task" not in plan.digests:
        yield "no task digest"
    if set(plan.tolerance) != {a.name for a in plan.tensors("inout", "output")}:
        yield "an output has no tolerance"
    if set(plan.program.shapes) != {a.name for a in plan.tensors()}:
        yield "a tensor has no shape"
    if set(plan.program.inits) != {a.name for a in plan.tensors("input", "inout")}:
        yield "an input has no init"
