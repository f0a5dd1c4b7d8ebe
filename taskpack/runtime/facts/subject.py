"""A subject: a place in a candidate's file, and what is known of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Fact = bool | int | float | str


@dataclass(frozen=True)
class Subject:
    """Something that rules are about. A fact that is not here is unknown: it could not be had from the source."""

    about: str
    """A key of `vocabulary.SUBJECTS`."""
    file: str
    line: int
    """1-based, as is `column`."""
    column: int
    facts: Mapping[str, Fact]


def known(facts: Mapping[str, Fact | None]) -> dict[str, Fact]:
    """The facts that were found; None stands for those that were not."""
    return {name: value for name, value in facts.items() if value is not None}
