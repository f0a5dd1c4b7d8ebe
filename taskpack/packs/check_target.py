"""Checks of what a target means."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .findings import Finding
from .subject import TargetSubject
from .suggest import did_you_mean, hint_among
from .target import LIMITS, PEAKS

TargetCheck = Callable[[TargetSubject], Iterator[Finding]]


def check_sources(subject: TargetSubject) -> Iterator[Finding]:
    """P090: every number's source is listed."""
    target = subject.target
    for table, numbers in (("limits", target.limits), ("peak", target.peak)):
        for name, quantity in numbers.items():
            if quantity.source not in target.sources:
                path = ("target", table, name, "source")
                yield Finding("P090", path, f"there is no source `{quantity.source}`", hint_among(quantity.source, target.sources, "sources"))


def check_number_names(subject: TargetSubject) -> Iterator[Finding]:
    """P091: names are those that taskpack looks for, or quite different ones."""
    target = subject.target
    for table, numbers, known in (("limits", target.limits, tuple(LIMITS)), ("peak", target.peak, PEAKS)):
        for name in numbers:
            if name not in known and (hint := did_you_mean(name, known, nearness=0.85)):
                yield Finding("P091", ("target", table, name), f"taskpack does not know `{name}`", hint, on_key=True)


def check_knowledge(subject: TargetSubject) -> Iterator[Finding]:
    """P071: packs of rules are declared."""
    declared = subject.pack.dependencies if subject.pack else {}
    for index, name in enumerate(subject.target.knowledge if subject.pack else ()):
        if name not in declared:
            yield Finding("P071", ("target", "knowledge", index), f"`{name}` is no dependency of this pack", f'`[pack.dependencies]` with `"{name}" = "^1.0"`')


def check_recognition(subject: TargetSubject) -> Iterator[Finding]:
    """P092: a GPU can be told from others."""
    target = subject.target
    if target.device != "cpu" and not target.recognise.model_fields_set:
        yield Finding(
            "P092", ("target",), "nothing says how to recognise the device", "`[target.recognise]` with `name-contains`, `gcn-arch` or `compute-capability`"
        )


TARGET_CHECKS: tuple[TargetCheck, ...] = (check_sources, check_number_names, check_recognition, check_knowledge)
"""All of them run, each on every target."""
