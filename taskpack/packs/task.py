"""The kind `task`: an op in a language, the baseline that a candidate must beat, and the files that it may write."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from .header import CaseId, Identifier, PackFile, PackName, Text, Words
from .op import Op

Style = Literal["destination", "functional"]


@dataclass(frozen=True)
class Family:
    """A pair of languages between which tasks are set."""

    baseline: str
    candidate: str
    summary: str

    @property
    def name(self) -> str:
        return f"{self.baseline}2{self.candidate}"


FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        Family("hip", "hip", "make a HIP kernel faster"),
        Family("triton", "triton", "make a Triton kernel faster"),
        Family("torch", "hip", "write a HIP kernel for PyTorch code"),
        Family("torch", "triton", "write a Triton kernel for PyTorch code"),
        Family("cpp", "cpp", "make a C++ function faster on a CPU"),
    )
}
"""`<baseline language>2<candidate language>` → the family."""

MODULE = "module"
"""The baseline's language where it is the library's own class, as in every task of an op with `[op.module]`."""

MODULE_FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        Family(MODULE, "torch", "write a drop-in for a library's module, in PyTorch"),
        Family(MODULE, "triton", "write a drop-in for a library's module, in PyTorch and Triton"),
    )
}
"""The same for the interface `module`; no template makes these."""


class Baseline(Words):
    """`[task.baseline]`: the implementation that a candidate must beat."""

    language: Text
    """`torch`, `triton`, `cpp`, `hip`, …"""
    files: Annotated[tuple[Text, ...], Field(min_length=1)]
    """Its files, relative to the pack's folder; Python's entry stands in the first."""
    entry: Text
    """A symbol with C linkage, which holds `{T}` for a dtype variable with several dtypes, or a Python function's name."""
    arguments: tuple[Identifier, ...]
    """Inputs, inouts, outputs (in destination style), dimensions, flags, scalars and `stream`, in the order of the entry's parameters."""
    style: Style = "destination"
    """Whether outputs are given to be filled, or returned."""


LIBRARY = Baseline.model_construct(language=MODULE, files=(), entry="", arguments=(), style="functional")
"""The baseline of a module task, which its author need not name."""


class Candidate(Words):
    """`[task.candidate]`: what a candidate must be; keys that are left out are the baseline's."""

    files: Annotated[tuple[Text, ...], Field(min_length=1)]
    """The files that a candidate may write, and must hold."""
    language: Text | None = None
    """Default: the baseline's."""
    entry: Text | None = None
    """Default: the baseline's. In the interface `module`: the name of the candidate's class."""
    arguments: tuple[Identifier, ...] | None = None
    """Default: the baseline's."""
    style: Style | None = None
    """Default: the baseline's."""
    start: Text | None = None
    """A folder with a candidate to start from."""

    def as_side(self, baseline: Baseline) -> Baseline:
        """The candidate with every key said: what is left out is taken from `baseline`."""
        return Baseline.model_construct(
            language=self.language or baseline.language,
            files=self.files,
            entry=self.entry or baseline.entry,
            arguments=baseline.arguments if self.arguments is None else self.arguments,
            style=self.style or baseline.style,
        )


class Allow(Words):
    """`[task.allow]`: what counts as the candidate's own work, and what of others it may call. The baseline is not held to it."""

    torch: Literal["none", "elementwise", "all"] | None = None
    """What torch computes for it. `none`: torch allocates, views, copies, casts and tells; `elementwise`: it also computes element by element,
    makes ranges and joins tensors; `all`: everything. Default: `all` for the language `torch` and for modules, else `none`."""
    vendor_libraries: bool | None = None
    """Whether cuBLAS, cuDNN, rocBLAS, MIOpen, oneDNN, MKL, CUTLASS and the like may be called, and torch's operations that go to them, such as matrix products,
    convolutions and attention, whatever `torch` says. Default: true for the language `torch` and for modules, else false."""

    def resolved(self, language: str, is_module: bool) -> Allow:
        """With both keys said."""
        is_torch = is_module or language == "torch"
        return Allow.model_construct(
            torch=self.torch or ("all" if is_torch else "none"),
            vendor_libraries=is_torch if self.vendor_libraries is None else self.vendor_libraries,
        )


class Example(Words):
    """`[[task.example]]`: a candidate that the pack brings along, with the verdict that it must get."""

    name: CaseId
    """A short name."""
    folder: Text
    """Where it lies, such as `examples/wide-loads`; holds the candidate's files."""
    summary: Text
    """What it does, in a sentence."""
    expect: Literal["pass", "compile", "rules", "interface", "state-dict", "correct", "general", "fast"] = "pass"
    """`pass`, or the gate that must stop it."""


class TaskLimits(Words):
    """`[task.limits]`: what a candidate may use before it is stopped."""

    compile_s: Annotated[int | float, Field(gt=0)] = 120
    """Seconds to compile or import it."""
    call_s: Annotated[int | float, Field(gt=0)] = 30
    """Seconds for one checked call."""
    memory_mib: Annotated[int, Field(gt=0)] = 8192
    """Resident memory of its process, in MiB."""
    output_mib: Annotated[int, Field(gt=0)] = 16
    """What it may print, in MiB."""


class Timing(Words):
    """`[task.timing]`: how speed is scored."""

    score: Literal["device", "host"] = "device"
    """Whether the time on the device or on the host is scored; both are reported where both sides can be captured."""


class Task(Words):
    """`[task]`: an op in a language."""

    op: PackName | None = None
    """The op's pack, which `[pack.dependencies]` must name; left out where the pack holds an `[op]` of its own."""
    doc: str = ""
    """Prose for whoever, or whatever, is asked to solve the task."""
    baseline: Baseline = LIBRARY
    candidate: Candidate
    allow: Allow = Allow.model_construct()
    examples: tuple[Example, ...] = Field((), alias="example")
    deterministic: bool = False
    """Whether two calls on the same contents must give the same bits; without it that is recorded of the first seen case alone."""
    limits: TaskLimits = TaskLimits.model_construct()
    timing: Timing = Timing.model_construct()

    @property
    def is_module(self) -> bool:
        """Whether the interface is a module: the baseline, left out, is the library's class, and a candidate's entry a drop-in for it."""
        return self.baseline.language == MODULE

    @property
    def family(self) -> str:
        """`hip2hip`, `torch2triton`, `module2torch`, …"""
        return f"{self.baseline.language}2{self.candidate.language or self.baseline.language}"


class TaskPack(PackFile):
    """A pack of the kind `task`."""

    task: Task
    op: Op | None = None
    """An op of the task's own, instead of `task.op`."""
