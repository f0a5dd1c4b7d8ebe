"""Adding a pack to a project: what goes together is resolved, fetched and compared, and then written into the lock."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from taskpack.errors import Conflict, IntegrityError

from .index import Index
from .lock import LOCK, Locked, read_lock, write_lock
from .log import replay
from .resolver import YOU, Need, Pin
from .sources import Sources, shipped_pin


def add(name: str, requirement: str, index: Index, lock: Path) -> dict[str, Pin]:
    """Installs a pack with everything that it needs, and pins it; returns the pins of both, the pack's own included.

    What other packs of the lock need stays as it is pinned. Nothing is written where something fails. Raises NotFound, Conflict and IntegrityError.
    """
    _refuse_other_content(name, requirement, index)
    known = read_lock(lock)
    roots = {each: locked.asked for each, locked in known.items() if locked.asked and each != name}
    kept = _reachable(roots, known)
    sources = Sources(index)
    needs = [Need(name, requirement, YOU), *(Need(each, asked, "the lock") for each, asked in roots.items())]
    pins = sources.resolve(needs, [known[each].pin for each in kept])
    for pin in pins.values():
        _hold_to_lock(pin, known)
        sources.install(pin)
    asked = {**roots, name: requirement}
    locked = {each: Locked(pin, asked.get(each, "")) for each, pin in pins.items()}
    write_lock(lock, locked.values())
    return {each: pins[each] for each in sorted(_reachable([name], locked))}


def _reachable(roots: Mapping[str, str] | list[str], locked: Mapping[str, Locked]) -> set[str]:
    """Names of `roots` and of what they need."""
    found: set[str] = set()
    left = [name for name in roots if name in locked]
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += [each for each in locked[name].pin.release.dependencies if each in locked]
    return found


def _hold_to_lock(pin: Pin, known: Mapping[str, Locked]) -> None:
    """A version never changes; raises IntegrityError where it has, since it was locked."""
    before = known[pin.name].pin if pin.name in known else pin
    if (before.registry, before.release.version) == (pin.registry, pin.release.version) and before.release.content != pin.release.content:
        raise IntegrityError(f"{pin} is no longer what {LOCK} pins: the index has been rewritten, or the lock", hint="ask whoever keeps the index")


def _refuse_other_content(name: str, requirement: str, index: Index) -> None:
    """A name that ships means the pack that ships; raises Conflict where the index has another one under it."""
    shipped = shipped_pin(name)
    need = Need(name, requirement, YOU)
    for _, release in replay(index.store, name).releases.values() if shipped else ():
        if shipped and need.allows(Pin(name, index.id, release)) and release.content != shipped.release.content:
            raise Conflict(
                f"`{name}` ships with taskpack, in version {shipped.release.version}; version {release.version} of the index cannot take its place",
                hint=f"`{name}` can be used without adding it; a pack of another content needs another name",
            )
