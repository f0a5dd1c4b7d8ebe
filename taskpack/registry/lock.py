"""`taskpack.lock`: what was installed for a project, by digest. It names no place, so that it holds wherever a copy of the index stands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomli

from taskpack.errors import UsageError
from taskpack.packs.names import is_pack_name

from .disk import beside, write_new
from .event import Void, parse_release
from .resolver import SHIPPED, Pin

LOCK = "taskpack.lock"
FORMAT = 1
_HEAD = "# Written by `taskpack add`: what this folder's packs are, by digest. Keep it in version control.\n"
_REGISTRY = re.compile(rf"[0-9a-f]{{32}}|{SHIPPED}")
_KEYS = ("name", "version", "kind", "asked", "content", "blob", "size", "registry", "dependencies")


@dataclass(frozen=True)
class Locked:
    """A pin, and the versions that were asked for where somebody asked for this very pack."""

    pin: Pin
    asked: str = ""


def find_lock(folder: Path) -> Path | None:
    """The lock of a folder: its own, or the nearest above it."""
    places = (place / LOCK for place in (folder, *folder.parents))
    return next((path for path in places if path.is_file()), None)


def read_lock(path: Path) -> dict[str, Locked]:
    """Name → what is locked; empty where there is no lock. Raises UsageError where it is none that this taskpack reads."""
    try:
        said = tomli.loads(path.read_text(encoding="utf-8"))
        if said.get("format") != FORMAT:
            raise Void(f"its format is {said.get('format')}, and this taskpack reads {FORMAT}")
        locked = [_row(row) for row in said.get("pack", [])]
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{path} cannot be read: {error}", hint="`git checkout` brings back what it was; without it, `taskpack add` the packs again") from None
    return {one.pin.name: one for one in locked}


def write_lock(path: Path, locked: Iterable[Locked]) -> None:
    """Replaces the lock, at once: sorted by name, a key a line, the same text for the same pins."""
    rows = sorted(locked, key=lambda one: one.pin.name)
    text = f"{_HEAD}format = {FORMAT}\n" + "".join(f"\n[[pack]]\n{_spell(one)}" for one in rows)
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return
    made = beside(path)
    write_new(made, text.encode())
    made.replace(path)


def _row(row: Mapping[str, Any]) -> Locked:
    """Raises Void, or what comes of a row that is no table."""
    if set(row) - set(_KEYS) or not is_pack_name(row["name"]) or not _REGISTRY.fullmatch(row["registry"]):
        raise Void("it holds something that is no pin")
    is_shipped = row["registry"] == SHIPPED
    plain = {"blob": row["content"], "size": 1} if is_shipped else {}
    release = parse_release({"summary": "", "license": "", "dependencies": {}, **row, **plain})
    asked = row.get("asked", "")
    if not isinstance(asked, str):
        raise Void("`asked` is no text")
    return Locked(Pin(row["name"], row["registry"], release), asked)


def _spell(locked: Locked) -> str:
    """What ships does not travel, and has no blob."""
    pin, release = locked.pin, locked.pin.release
    values: dict[str, str | int] = {"name": pin.name, "version": release.version, "kind": release.kind, "asked": locked.asked, "content": release.content}
    values |= {"registry": pin.registry} | ({} if pin.registry == SHIPPED else {"blob": release.blob, "size": release.size})
    lines = [f'{key} = "{value}"\n' if isinstance(value, str) else f"{key} = {value}\n" for key, value in values.items() if value != ""]
    table = [f'"{name}" = "{requirement}"\n' for name, requirement in sorted(release.dependencies.items())]
    return "".join([*lines, *(["[pack.dependencies]\n", *table] if table else [])])
