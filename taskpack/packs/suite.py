"""The kind `suite`: a list of tasks, what a unit of work on them is worth, and what the unseen cases count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from .expressions import Type
from .header import PackFile, PackName, Text, Words

Aggregate = Literal["mean", "sum", "geomean"]

SCORE_NAMES: dict[str, tuple[Type, str]] = {
    "compiled": ("bool", "the candidate compiled"),
    "correct": ("bool", "it is right on every seen case"),
    "general": ("bool", "it is right on every unseen case, too (always so where `unseen.policy` is `reported`)"),
    "identical": ("bool", "it is the baseline, byte by byte"),
    "timed": ("bool", "its speed was measured, natively"),
    "speedup": ("float", "baseline's time over its time, the geometric mean over seen cases; unknown where it was not timed"),
}
"""What the expression of a score sees: type and meaning."""


@dataclass(frozen=True)
class Policy:
    """A way of scoring that needs no words of the suite's author."""

    unit: str
    """The expression."""
    aggregate: Aggregate
    summary: str


POLICIES: dict[str, Policy] = {
    "arena": Policy(
        "(20 if compiled else 0) + (100 if correct and general else 0) + (100 * speedup if correct and general and timed and not identical else 0)",
        "mean",
        "20 points for what compiles, 100 for what is right on seen and unseen cases, and 100 times its speedup",
    ),
    "geomean": Policy(
        "(1 if identical else speedup) if correct and general else 0.1",
        "geomean",
        "the speedup of what is right; what is not counts as ten times slower than the baseline",
    ),
}
"""`[suite.score] policy` → what it means."""


class Score(Words):
    """`[suite.score]`: what a unit is worth, by one of the policies or by an expression of the suite's own."""

    policy: Literal["arena", "geomean"] | None = None
    """One of the policies below."""
    unit: Text | None = None
    """Instead of a policy: an expression, a number, over the names below."""
    aggregate: Aggregate | None = None
    """With `unit`: how the scores of all planned units become one. Default: `mean`."""

    @property
    def expression(self) -> str:
        """What a unit is worth, spelled out."""
        return self.unit if self.unit is not None else POLICIES[self.policy or "arena"].unit

    @property
    def way(self) -> Aggregate:
        """How units are taken together, spelled out."""
        return POLICIES[self.policy].aggregate if self.policy else self.aggregate or "mean"


class UnseenPolicy(Words):
    """`[suite.unseen]`: what the unseen cases count. They are drawn anew for each unit, and always reported beside the seen ones."""

    policy: Literal["required", "reported"] = "required"
    """`required`: what is wrong on an unseen case is wrong. `reported`: the score looks at seen cases only, and the report shows what that hides."""


class Suite(Words):
    """`[suite]`: a benchmark."""

    doc: str = ""
    """What it measures, in prose."""
    tasks: Annotated[tuple[PackName, ...], Field(min_length=1)]
    """The tasks, in order; `[pack.dependencies]` names each, with the versions that will do."""
    target: PackName | None = None
    """The target on which it is judged where the command line names none."""
    attempts: Annotated[int, Field(ge=1)] = 1
    """How often an agent tries each task, from the beginning each time."""
    score: Score
    unseen: UnseenPolicy = UnseenPolicy.model_construct()


class SuitePack(PackFile):
    """A pack of the kind `suite`."""

    suite: Suite
