"""What was proposed in a stage and what came of it, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from taskpack.packs.pipeline import Stage

Files = Mapping[str, str]
"""A candidate: its files' texts by name. What an agent writes that is no UTF-8 is replaced, and so it is judged and kept."""


ACCEPTED, VERIFIED, REFUSED, WRONG, NO_GAIN, WORSE, INCONCLUSIVE, REPEATED = (
    "accepted",
    "verified",
    "refused",
    "wrong",
    "no-gain",
    "worse",
    "inconclusive",
    "repeated",
)
"""Outcomes: faster than the stage's input by interval; right where no time counts as speed; stopped by rules; stopped by another gate; right, but not
faster; faster together, but slower in some case; not to be told; proposed before."""
TAKEN_OVER = frozenset({ACCEPTED, VERIFIED})


@dataclass(frozen=True)
class Proposal:
    """What a proposer gives."""

    files: Files
    producer: Mapping[str, Any] = field(default_factory=dict)
    """Where it comes from, as testimony: an agent's seconds, exit, tokens."""
    kept: Mapping[str, bytes] = field(default_factory=dict)
    """Files that are kept beside it: what it was told, what it printed, what else it changed."""


@dataclass(frozen=True)
class Trial:
    """One proposal."""

    stage: str
    round: int
    """Counts from 1 within the stage."""
    files: Files
    outcome: str
    reason: str
    speedup: Mapping[str, float] | None = None
    """Against the stage's input: `geomean`, `low` and `high` of its 95 % interval; None where no native time was measured."""
    result: Mapping[str, Any] | None = None
    """The harness's result; None where the proposal never came to it."""
    producer: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Request:
    """What a proposer is told: everything that it may know, so that it needs no memory of its own."""

    stage: Stage
    prompt: str
    language: str
    start: Files
    """The stage's input."""
    taken: Trial | None
    """The best that was taken over in this stage."""
    history: tuple[Trial, ...]
    """This stage's trials so far."""

    @property
    def best(self) -> Files:
        """What stands now."""
        return self.taken.files if self.taken else self.start


def text_of(content: bytes) -> str:
    """A file of a candidate as text."""
    return content.decode(errors="replace")
