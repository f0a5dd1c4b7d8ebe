"""The packs that a lock pins, found by name in the user's cache, and compared before they are used."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from taskpack import resources
from taskpack.errors import NotFound

from .extract import verify
from .lock import Locked, find_lock, read_lock
from .sources import installed_folder


class Installed:
    """What `taskpack add` has installed for a folder. Reads the lock, and compares a pack's files, when they are first asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._found: dict[str, Path] = {}

    def find(self, name: str) -> Path | None:
        """The folder of a locked pack, None for another name. Raises NotFound where the cache lacks it, IntegrityError where it was altered."""
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
        folder = installed_folder(pin.release.content)
        if not folder.exists():
            hint = f"`taskpack add {pin.name}@{pin.release.version} --index DIR` fetches it again"
            raise NotFound(f"taskpack.lock pins {pin}, which is not in the cache", hint=hint)
        verify(folder, pin.release.content)
        return folder


def is_installed(folder: Path) -> bool:
    """Whether a pack's folder came from an index: a stranger's, and not to be written into."""
    return folder.resolve().is_relative_to(resources.installed_packs().resolve())
