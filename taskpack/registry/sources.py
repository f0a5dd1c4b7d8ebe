"""Where packs come from: those that ship with taskpack, then an index; and how they get into the user's cache."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import tomli

from taskpack import resources
from taskpack.errors import IntegrityError, NotFound, TaskpackError
from taskpack.packs.names import FILE, is_pack_name
from taskpack.packs.shelf import Shelf
from taskpack.packs.suggest import did_you_mean

from . import log
from .archive import File, content_digest
from .event import Release
from .extract import extract, verify
from .gather import choose_files, read_files
from .index import Index, fetch_files
from .resolver import SHIPPED, Need, Pin, resolve


@dataclass(frozen=True)
class Sources:
    """A shipped name belongs to the pack that ships: no index can take its place."""

    index: Index | None

    def resolve(self, needs: Iterable[Need], fixed: Iterable[Pin] = ()) -> dict[str, Pin]:
        """The pins for `needs`; names of `fixed` have that version or none. Raises NotFound, Conflict, IntegrityError.

        Hints are used first. Where they lead nowhere, or an entry does not say what its hint says, the logs decide.
        """
        wishes, offers = tuple(needs), {pin.name: (pin,) for pin in fixed}
        try:
            pins = resolve(wishes, self._offers(offers, log.read_log))
            if all(self._is_confirmed(pin) for pin in pins.values() if pin.name not in offers):
                return pins
        except TaskpackError:
            pass
        return resolve(wishes, self._offers(offers, log.replay))

    def install(self, pin: Pin) -> Path:
        """The folder in the cache that holds a pin's files, which have been compared, now or when they were put there. Raises IntegrityError."""
        folder = installed_folder(pin.release.content)
        if folder.exists():
            verify(folder, pin.release.content)
            return folder
        files = _fetch(pin, self.index)
        _hold_to(files, pin)
        extract(files, folder)
        return folder

    def _offers(self, fixed: dict[str, tuple[Pin]], read: Callable[..., log.Log]) -> Callable[[str], Sequence[Pin]]:
        @functools.cache
        def offers(name: str) -> Sequence[Pin]:
            shipped = shipped_pin(name)
            found = fixed.get(name) or ((shipped,) if shipped else self._published(name, read))
            if not found:
                known = [*Shelf((resources.shipped_packs(),)).names(), *(log.names(self.index.store) if self.index else ())]
                raise NotFound(f"there is no pack `{name}` in the index, and none that ships", hint=did_you_mean(name, known))
            return found

        return offers

    def _published(self, name: str, read: Callable[..., log.Log]) -> Sequence[Pin]:
        if self.index is None or not is_pack_name(name):
            return ()
        return [Pin(name, self.index.id, release) for _, release in read(self.index.store, name).releases.values()]

    def _is_confirmed(self, pin: Pin) -> bool:
        if self.index is None or pin.registry == SHIPPED:
            return True
        read = log.read_log(self.index.store, pin.name)
        return pin.release.version in read.releases and log.is_confirmed(self.index.store, read, pin.release.version)


def installed_folder(content: str) -> Path:
    """Where the pack of that content digest is in the cache, if it is."""
    return resources.installed_packs() / content.removeprefix("sha256:")


def shipped_pin(name: str) -> Pin | None:
    """The version of a pack that ships; None where none of that name does."""
    files = _shipped_files(name)
    return Pin(name, SHIPPED, replace(read_header(files), content=content_digest(files))) if files else None


def read_header(files: Iterable[File]) -> Release:
    """What a pack that has been checked says of itself in its pack.toml; no digests."""
    said = tomli.loads(next(file.content for file in files if file.path == FILE).decode())["pack"]
    return Release(said["version"], said["kind"], said["summary"], said["license"], "", "", 0, said.get("dependencies", {}))


@functools.cache
def _shipped_files(name: str) -> tuple[File, ...]:
    folder = resources.shipped_packs() / name
    return read_files(folder, choose_files(folder).paths) if is_pack_name(name) and (folder / FILE).is_file() else ()


def _fetch(pin: Pin, index: Index | None) -> tuple[File, ...]:
    if pin.registry == SHIPPED:
        return _shipped_files(pin.name)
    if index is None or pin.registry != index.id:
        raise NotFound(f"{pin} is not in the cache, and comes from another index than this one: {pin.registry}", hint="`taskpack add` it from its own index")
    return fetch_files(index.store, pin.release)


def _hold_to(files: Sequence[File], pin: Pin) -> None:
    """Raises IntegrityError where an archive is of another pack, or says another thing of itself, than its event."""
    try:
        said = tomli.loads(next(file.content for file in files if file.path == FILE).decode())["pack"]["name"]
        header = read_header(files)
    except (ValueError, KeyError, TypeError, AttributeError):
        said, header = None, None
    release = pin.release
    wanted = (pin.name, release.version, release.kind, dict(release.dependencies))
    if header is None or (said, header.version, header.kind, header.dependencies) != wanted:
        raise IntegrityError(f"the archive of {pin} is that of another pack than its event says")
