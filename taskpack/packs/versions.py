"""Versions of packs and the requirements that dependencies put on them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import total_ordering

VERSION = r"^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$"
"""`MAJOR.MINOR.PATCH[-pre]`, as semantic versioning has it, without build metadata."""
REQUIREMENT = r"^(\*|(\^|~|=|>=|<=|>|<)?\s*[0-9]+(\.[0-9]+){0,2}(-[0-9A-Za-z.-]+)?(\s*,\s*(\^|~|=|>=|<=|>|<)\s*[0-9]+(\.[0-9]+){0,2}(-[0-9A-Za-z.-]+)?)*)$"
"""`^1.2`, `~1.2.3`, `=1.2.3` (or bare `1.2.3`), `>=1, <2`, `*`."""

_CLAUSE = re.compile(r"(\^|~|=|>=|<=|>|<)?\s*([0-9]+)(?:\.([0-9]+))?(?:\.([0-9]+))?(?:-([0-9A-Za-z.-]+))?")


@total_ordering
@dataclass(frozen=True)
class Version:
    """A version; ordered as semantic versioning says (a pre-release comes before its release)."""

    major: int
    minor: int
    patch: int
    pre: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}" + ("-" + ".".join(self.pre) if self.pre else "")

    def __lt__(self, other: Version) -> bool:
        return self._key() < other._key()

    def _key(self) -> tuple[object, ...]:
        parts = tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in self.pre)
        return (self.major, self.minor, self.patch, not self.pre, parts)


@dataclass(frozen=True)
class Requirement:
    """Which versions will do: all clauses must hold. A pre-release will do only where a clause names one of the same release."""

    text: str
    clauses: tuple[tuple[str, Version], ...]
    """Each `>=`, `<`, `<=`, `>` or `=` and a version."""

    def allows(self, version: Version) -> bool:
        if version.pre and not any(bound.pre and _release(bound) == _release(version) for _, bound in self.clauses):
            return False
        return all(_holds(version, operator, bound) for operator, bound in self.clauses)


def parse_version(text: str) -> Version:
    """The version that `text` spells; raises ValueError for anything that is not `MAJOR.MINOR.PATCH[-pre]`."""
    match = re.fullmatch(VERSION.strip("^$"), text)
    if not match or len(text) > 100:
        raise ValueError(f"`{text}` is not MAJOR.MINOR.PATCH")
    pre = match.group(4)
    return Version(int(match.group(1)), int(match.group(2)), int(match.group(3)), tuple(pre[1:].split(".")) if pre else ())


def parse_requirement(text: str) -> Requirement:
    """The requirement that `text` spells; raises ValueError."""
    if not re.fullmatch(REQUIREMENT.strip("^$"), text) or len(text) > 100:
        raise ValueError(f"`{text}` is not a requirement like ^1.0")
    if text == "*":
        return Requirement(text, ())
    return Requirement(text, tuple(bound for clause in text.split(",") for bound in _bounds(clause.strip())))


def _bounds(clause: str) -> list[tuple[str, Version]]:
    match = _CLAUSE.fullmatch(clause)
    assert match
    operator, major, minor, patch, pre = match.groups()
    low = Version(int(major), int(minor or 0), int(patch or 0), tuple(pre.split(".")) if pre else ())
    if operator == "^":
        return [(">=", low), ("<", _next_breaking(low, minor is not None, patch is not None))]
    if operator == "~" or (operator in (None, "=") and patch is None):
        return [(">=", low), ("<", Version(low.major, low.minor + 1, 0) if minor is not None else Version(low.major + 1, 0, 0))]
    return [(operator or "=", low)]


def _next_breaking(low: Version, has_minor: bool, has_patch: bool) -> Version:
    """Below 1.0 a MINOR may break, and below 0.1 a PATCH."""
    if low.major or not has_minor:
        return Version(low.major + 1, 0, 0)
    if low.minor or not has_patch:
        return Version(0, low.minor + 1, 0)
    return Version(0, 0, low.patch + 1)


def _release(version: Version) -> tuple[int, int, int]:
    return (version.major, version.minor, version.patch)


def _holds(version: Version, operator: str, bound: Version) -> bool:
    match operator:
        case ">=":
            return version >= bound
        case "<=":
            return version <= bound
        case ">":
            return version > bound
        case "<":
            # `<2.0.0` means to exclude what is to become 2.0.0, too.
            return version < bound and (bool(bound.pre) or _release(version) != _release(bound))
        case _:
            return version == bound
