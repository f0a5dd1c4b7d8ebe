"""The record of a pack: numbered entries, each created once and chained to the one before; what they add up to; and a hint, which is never believed."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime

from taskpack.digest import canonical_json, digest_bytes

from .event import ENTRY_LIMIT, FORMAT, Event, Release, Void, encode_event, parse_canonical, parse_event, parse_release
from .store import Store, StoreFailed

_HINT_LIMIT = 16 << 20
_START = "sha256:" + "0" * 64
_PAUSE_S = 0.02


@dataclass(frozen=True)
class Log:
    """What the first `seq` entries of a pack's log add up to."""

    name: str
    seq: int = 0
    head: str = _START
    """The digest of the last entry."""
    releases: Mapping[str, tuple[int, Release]] = field(default_factory=dict)
    """Version → the number of its entry, and what that says."""
    voids: Mapping[int, str] = field(default_factory=dict)
    """Numbers of entries without effect, and why; a log that starts from a hint knows of later ones only."""

    def after(self, raw: bytes) -> Log:
        """With one entry more."""
        moved = replace(self, seq=self.seq + 1, head=digest_bytes(raw))
        try:
            event = parse_event(raw)
            if (event.name, event.seq, event.prev) != (self.name, moved.seq, self.head):
                raise Void("it stands in another place than it says")
            if event.release.version in self.releases:
                raise Void(f"{event.release.version} has been published before")
        except Void as reason:
            return replace(moved, voids={**self.voids, moved.seq: str(reason)})
        return replace(moved, releases={**self.releases, event.release.version: (moved.seq, event.release)})


def replay(store: Store, name: str, known: Log | None = None) -> Log:
    """The whole log of a pack, read entry by entry; what follows `known`, where that is given. Empty where the pack is unknown."""
    log = known or Log(name)
    while (raw := store.get(_entry(name, log.seq + 1), ENTRY_LIMIT)) is not None:
        log = log.after(raw)
    return log


def read_log(store: Store, name: str) -> Log:
    """The log by its hint and what came after: two or three reads, however long it is. What is chosen from it must be `confirmed`."""
    hinted = _read_hint(store, name)
    if hinted is not None:
        raw = store.get(_entry(name, hinted.seq), ENTRY_LIMIT)
        if raw is not None and digest_bytes(raw) == hinted.head:
            return replay(store, name, hinted)
    return replay(store, name)


def is_confirmed(store: Store, log: Log, version: str) -> bool:
    """Whether the entry of that version says itself what `log` says of it."""
    seq, release = log.releases[version]
    raw = store.get(_entry(log.name, seq), ENTRY_LIMIT)
    try:
        event = parse_event(raw or b"")
    except Void:
        return False
    return (event.name, event.seq, event.release) == (log.name, seq, release)


def append(store: Store, name: str, decide: Callable[[Log], Release | None]) -> tuple[Event | None, Log]:
    """Adds the release that `decide` makes of the log, asking again whenever somebody else was quicker; None where it wants none. Returns the log, too."""
    log = replay(store, name)
    for attempt in itertools.count(1):
        release = decide(log)
        if release is None:
            return None, log
        event = next_event(log, release)
        raw = encode_event(event)
        if len(raw) > ENTRY_LIMIT:
            raise StoreFailed(f"the event of {name} {release.version} is larger than {ENTRY_LIMIT >> 10} KiB", hint="it names too many dependencies")
        grown = log.after(raw)
        assert not grown.voids.get(event.seq), grown.voids
        if store.create(_entry(name, event.seq), raw):
            store.replace(_hint(name), _spell_hint(grown))
            return event, grown
        time.sleep(random.random() * _PAUSE_S * min(attempt, 10))
        log = replay(store, name, log)
    raise AssertionError


def next_event(log: Log, release: Release) -> Event:
    """The event that would add a release now."""
    return Event(log.name, log.seq + 1, log.head, datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), release)


def names(store: Store) -> list[str]:
    """Every pack of an index, for suggestions: reads all its keys."""
    return sorted({"/".join(key.split("/")[1:3]) for key in store.keys("pkg/") if key.endswith("/log/00000001.json")})


def _entry(name: str, seq: int) -> str:
    return f"pkg/{name}/log/{seq:08d}.json"


def _hint(name: str) -> str:
    return f"pkg/{name}/index.json"


def _spell_hint(log: Log) -> bytes:
    rows = [{"seq": seq} | asdict(release) | {"dependencies": dict(release.dependencies)} for seq, release in log.releases.values()]
    return canonical_json({"format": FORMAT, "name": log.name, "seq": log.seq, "head": log.head, "releases": rows})


def _read_hint(store: Store, name: str) -> Log | None:
    """What the hint says; None where it is missing, or is none."""
    raw = store.get(_hint(name), _HINT_LIMIT)
    try:
        said = parse_canonical(raw or b"")
        found = [(row["seq"], parse_release(row)) for row in said["releases"]]
        if (said["format"], said["name"]) != (FORMAT, name) or not all(type(seq) is int and seq > 0 for seq in (said["seq"], *(seq for seq, _ in found))):
            return None
        return Log(name, said["seq"], str(said["head"]), {release.version: (seq, release) for seq, release in found})
    except (Void, KeyError, TypeError, AttributeError):
        return None
