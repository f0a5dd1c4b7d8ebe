"""The candidate's own work, held to what its task allows: its files are read before anything is built, and the operations that a call ran are looked through.

Both are triage, not proof: a native library can hide what it calls, and the trace is told by the candidate's own process.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from .own_native import uses_in_native
from .own_ops import Allow, kind_of
from .own_python import Use, uses_in_python

_NATIVE = (".cpp", ".cc", ".cxx", ".c++", ".c", ".hip", ".cu", ".cuh", ".h", ".hpp", ".hh", ".hxx", ".inl", ".inc")

Operation = tuple[str, int, str]
"""Name (`aten.add.Tensor`), how often it ran, and the candidate's file and line that ran it first ("" where there is none)."""


def read_sources(files: Mapping[str, str], allow: Allow, *, holds_modules: bool = False) -> list[str]:
    """What the files call that is not allowed, as `kernel.py:12: calls torch.softmax, and this task allows …`."""
    if allow.is_everything:
        return []
    return [f"{name}:{use.line}: {use.words}, and {allow.refusal(use.kind)}" for name, use in _uses(files, holds_modules) if not allow.permits(use.kind)]


def refused_operations(operations: Sequence[Operation], allow: Allow) -> list[str]:
    """Which of the operations that ran are not allowed, in words that continue "the candidate"."""
    refused = []
    for name, _, where in operations:
        namespace, _, rest = name.partition(".")
        packet, _, overload = rest.partition(".")
        kind = kind_of(packet, overload)
        if namespace in ("aten", "prims") and not allow.permits(kind):
            refused.append(f"ran {name}{f' ({where})' if where else ''}, and {allow.refusal(kind)}")
    return refused


def _uses(files: Mapping[str, str], holds_modules: bool) -> Iterator[tuple[str, Use]]:
    for name, text in files.items():
        if name.endswith(".py"):
            yield from ((name, use) for use in uses_in_python(text, holds_modules))
        elif name.endswith(_NATIVE):
            yield from ((name, use) for use in uses_in_native(text))
