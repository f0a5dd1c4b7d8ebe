"""One entry of a pack's log: a line of canonical JSON, chained to the entry before it.

Lines after the first are kept for signatures over it. An entry that is not exactly what a publisher writes is void: it has its number and no effect.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, NoReturn

from taskpack.digest import canonical_json
from taskpack.packs.names import is_pack_name
from taskpack.packs.versions import parse_requirement, parse_version

FORMAT = 1
ENTRY_LIMIT = 64 << 10
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


class Void(ValueError):
    """Why an entry has no effect."""


@dataclass(frozen=True)
class Release:
    """What an event of the type `publish` says."""

    version: str
    kind: str
    summary: str
    license: str
    content: str
    """The digest of what the pack is."""
    blob: str
    """The digest of the bytes that travel."""
    size: int
    """Of the blob, in bytes."""
    dependencies: Mapping[str, str]
    """Name of a pack → the versions that will do."""


@dataclass(frozen=True)
class Event:
    """A link of the chain: where it stands, and what it adds."""

    name: str
    seq: int
    prev: str
    """The digest of the whole entry before it."""
    at: str
    """UTC, to the second; for people."""
    release: Release

    def to_dict(self) -> dict[str, object]:
        said = {"format": FORMAT, "type": "publish", "name": self.name, "seq": self.seq, "prev": self.prev, "at": self.at}
        return said | asdict(self.release) | {"dependencies": dict(self.release.dependencies)}


def encode_event(event: Event) -> bytes:
    """The entry of an event."""
    return canonical_json(event.to_dict()) + b"\n"


def parse_event(raw: bytes) -> Event:
    """The event of an entry, whatever its place in a chain; raises Void."""
    if len(raw) > ENTRY_LIMIT:
        raise Void(f"it is larger than {ENTRY_LIMIT >> 10} KiB")
    line, newline, _ = raw.partition(b"\n")
    said = parse_canonical(line)
    if not newline or said.get("format") != FORMAT or said.get("type") != "publish":
        raise Void("it is no event that this taskpack knows")
    release = parse_release(said)
    if not (is_pack_name(_text(said, "name")) and _DIGEST.fullmatch(_text(said, "prev")) and _TIME.fullmatch(_text(said, "at")) and _count(said, "seq")):
        raise Void("its name, number, time or predecessor is not spelled as one")
    return Event(said["name"], said["seq"], said["prev"], said["at"], release)


def parse_release(said: Mapping[str, Any]) -> Release:
    """The release in an event, or in a hint; raises Void."""
    dependencies = said.get("dependencies")
    if not isinstance(dependencies, dict):
        raise Void("its dependencies are no table")
    try:
        parse_version(_text(said, "version"))
        for name, requirement in dependencies.items():
            parse_requirement(requirement if is_pack_name(name) and isinstance(requirement, str) else "")
    except ValueError as error:
        raise Void(str(error)) from None
    words = [_text(said, key) for key in ("kind", "summary", "license")]
    if not all(word.isprintable() and len(word) <= 200 for word in words):
        raise Void("its words are too long, or would steer a terminal")
    if not _DIGEST.fullmatch(_text(said, "content")) or not _DIGEST.fullmatch(_text(said, "blob")):
        raise Void("a digest is not sha256")
    return Release(said["version"], words[0], words[1], words[2], said["content"], said["blob"], _count(said, "size"), dependencies)


def parse_canonical(line: bytes) -> dict[str, Any]:
    """The object that `line` spells in the one canonical way, which has no duplicate keys, fractions or spare spaces; raises Void."""
    try:
        said = json.loads(line.decode("utf-8"), parse_float=_refuse, parse_constant=_refuse)
        if isinstance(said, dict) and canonical_json(said) == line:
            return said
    except (ValueError, RecursionError):
        pass
    raise Void("it is not one line of canonical JSON")


def _text(said: Mapping[str, Any], key: str) -> str:
    value = said.get(key)
    if not isinstance(value, str):
        raise Void(f"`{key}` is no text")
    return value


def _count(said: Mapping[str, Any], key: str) -> int:
    value = said.get(key)
    if type(value) is not int or not 0 < value < 2**53:
        raise Void(f"`{key}` is no count")
    return value


def _refuse(text: str) -> NoReturn:
    raise ValueError(text)
