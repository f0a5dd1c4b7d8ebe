"""Which versions go together: one of each name, the highest that everybody who asks for it will have."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from taskpack.errors import Conflict
from taskpack.packs.versions import Version, parse_requirement, parse_version

from .event import Release

SHIPPED = "shipped"
"""Stands for an index's id where a pack comes with taskpack."""


@dataclass(frozen=True)
class Pin:
    """One version of one pack, from one place."""

    name: str
    registry: str
    """The id of its index, or `shipped`."""
    release: Release

    def __str__(self) -> str:
        return f"{self.name} {self.release.version}"


YOU = "you"
"""Who asks by hand."""


@dataclass(frozen=True)
class Need:
    """Who asks for which versions of what."""

    name: str
    requirement: str
    asker: str
    """A pack and its version, or the person at the command line."""

    def allows(self, pin: Pin) -> bool:
        return parse_requirement(self.requirement).allows(parse_version(pin.release.version))


def resolve(needs: Iterable[Need], offers: Callable[[str], Sequence[Pin]]) -> dict[str, Pin]:
    """Name → pin, for `needs` and for everything that those packs need, sorted.

    Deterministic: the same offers give the same pins. Where a choice turns out too high, what was asked is remembered and everything chosen anew;
    a lower version of the pack that asks is not tried. Raises Conflict with both askers, and what `offers` raises for an unknown name.
    """
    wishes = tuple(needs)
    known: dict[str, list[Need]] = {}
    while (chosen := _choose(wishes, known, offers)) is None:
        pass
    return dict(sorted(chosen.items()))


def _choose(wishes: Iterable[Need], known: dict[str, list[Need]], offers: Callable[[str], Sequence[Pin]]) -> dict[str, Pin] | None:
    """One round: None where somebody refuses what was chosen before, which `known` then remembers."""
    chosen: dict[str, Pin] = {}
    queue = deque(wishes)
    while queue:
        need = queue.popleft()
        asked = known.setdefault(need.name, [])
        if need not in asked:
            asked.append(need)
        if need.name not in chosen:
            pin = chosen[need.name] = _highest(need.name, asked, offers(need.name))
            queue.extend(Need(name, requirement, str(pin)) for name, requirement in sorted(pin.release.dependencies.items()))
        elif not need.allows(chosen[need.name]):
            return None
    return chosen


def _highest(name: str, asked: Sequence[Need], offered: Sequence[Pin]) -> Pin:
    fitting = [pin for pin in offered if all(need.allows(pin) for need in asked)]
    if not fitting:
        said = " and ".join(f"{need.asker} {'ask' if need.asker == YOU else 'asks'} for `{need.requirement}`" for need in asked)
        there = ", ".join(pin.release.version for pin in sorted(offered, key=_order))
        raise Conflict(f"no version of `{name}` will do: {said}", hint=f"there are: {there}")
    return max(fitting, key=_order)


def _order(pin: Pin) -> Version:
    return parse_version(pin.release.version)
