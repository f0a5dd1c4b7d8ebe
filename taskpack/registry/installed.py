"""The packs that a lock pins, found by name in the user's cache, and compared before they are used."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from taskpack.errors import Conflict, NotFound

from .extract import verify
from .lock import Locked, find_lock, read_lock
from .resolver import SHIPPED
from .sources import hold_to, installed_folder, shipped_pin


class Installed:
    """What `taskpack add` has installed for a folder. Reads the lock, and compares a pack's files, when they are first asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._found: dict[str, Path] = {}

    def find(self, name: str) -> Path | None:
        """The folder of a locked pack, None for another name. Raises NotFound where the cache lacks it, IntegrityError where it was altered,
        Conflict where its name is one that ships."""
        if name not in self._found and name in self._locked:
            self._found[name] = self._verified(self._locked[name])
        return self._found.get(name)

    def names(self) -> list[str]:
        return list(self._locked)

    @cached_property
    def _locked(self) -> dict[str, Locked]:
        lock = find_lock(self._folder)
        return read_lock(lock) if lock else {}

    def _verified(self, locked: Locked) -> Path:
        pin = locked.pin
        if pin.registry != SHIPPED and shipped_pin(pin.name):
            raise Conflict(f"`{pin.name}` ships with taskpack, and taskpack.lock pins that of an index", hint="take it out of the lock")
        folder = installed_folder(pin.release.content)
        if not folder.exists():
            hint = f"`taskpack add {pin.name}@{pin.release.version} --index DIR` fetches it again"
            raise NotFound(f"taskpack.lock pins {pin}, which is not in the cache", hint=hint)
        verify(folder, pin.release.content)
        hold_to(folder, pin)
        return folder
