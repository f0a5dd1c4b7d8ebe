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
        wishes, known = tuple(needs), {pin.name: (pin,) for pin in fixed}
        logs: dict[str, log.Log] = {}
        try:
            pins = resolve(wishes, self._offers(known, log.read_log, logs))
            if self.index is None or all(log.is_confirmed(self.index.store, logs[name], pin.release.version) for name, pin in pins.items() if name in logs):
                return pins
        except TaskpackError:
            pass
        return resolve(wishes, self._offers(known, log.replay, logs))

    def install(self, pin: Pin) -> Path:
        """The folder in the cache that holds a pin's files, which have been compared, now or when they were put there. Raises IntegrityError."""
        folder = installed_folder(pin.release.content)
        if folder.exists():
            verify(folder, pin.release.content)
        else:
            extract(_fetch(pin, self.index), folder)
        hold_to(folder, pin)
        return folder

    def _offers(self, fixed: dict[str, tuple[Pin]], read: Callable[..., log.Log], logs: dict[str, log.Log]) -> Callable[[str], Sequence[Pin]]:
        """What there is of each name; `logs` keeps what was read for it."""

        @functools.cache
        def offers(name: str) -> Sequence[Pin]:
            shipped = shipped_pin(name)
            found = fixed.get(name) or ((shipped,) if shipped else self._published(name, read, logs))
            if not found:
                known = [*Shelf((resources.shipped_packs(),)).names(), *(log.names(self.index.store) if self.index else ())]
                raise NotFound(f"there is no pack `{name}` in the index, and none that ships", hint=did_you_mean(name, known))
            return found

        return offers

    def _published(self, name: str, read: Callable[..., log.Log], logs: dict[str, log.Log]) -> Sequence[Pin]:
        if self.index is None or not is_pack_name(name):
            return ()
        logs[name] = read(self.index.store, name)
        return [Pin(name, self.index.id, release) for _, release in logs[name].releases.values()]


def installed_folder(content: str) -> Path:
    """Where the pack of that content digest is in the cache, if it is."""
    return resources.installed_packs() / content.removeprefix("sha256:")


def shipped_pin(name: str) -> Pin | None:
    """The version of a pack that ships; None where none of that name does."""
    files = _shipped_files(name)
    toml = next((file.content for file in files if file.path == FILE), None)
    return Pin(name, SHIPPED, replace(read_header(toml), content=content_digest(files))) if toml else None


def read_header(toml: bytes) -> Release:
    """What a pack says of itself in its pack.toml, which has been checked, or is to be compared; no digests."""
    said = tomli.loads(toml.decode())["pack"]
    return Release(said["version"], said["kind"], said["summary"], said["license"], "", "", 0, said.get("dependencies", {}))


@functools.cache
def _shipped_files(name: str) -> tuple[File, ...]:
    folder = resources.shipped_packs() / name
    return read_files(folder, choose_files(folder).paths) if is_pack_name(name) and (folder / FILE).is_file() else ()


def _fetch(pin: Pin, index: Index | None) -> tuple[File, ...]:
    if pin.registry == SHIPPED:
        files = _shipped_files(pin.name)
        if content_digest(files) != pin.release.content:
            raise NotFound(f"{pin} came with another taskpack; what this one ships is another pack", hint="`taskpack add` what needs it again")
        return files
    if index is None or pin.registry != index.id:
        raise NotFound(f"{pin} is not in the cache, and comes from another index than this one: {pin.registry}", hint="`taskpack add` it from its own index")
    return fetch_files(index.store, pin.release)


def hold_to(folder: Path, pin: Pin) -> None:
    """Raises IntegrityError where a folder's pack is another, or says another thing of itself, than its event or lock. A lock keeps no words to compare."""
    release, toml = pin.release, (folder / FILE).read_bytes()
    try:
        header, name = read_header(toml), tomli.loads(toml.decode())["pack"]["name"]
        words = (header.summary, header.license) if release.summary else ("", "")
        said = (name, header.version, header.kind, header.dependencies, *words)
    except (ValueError, KeyError, TypeError, AttributeError):
        said = None
    if said != (pin.name, release.version, release.kind, release.dependencies, release.summary, release.license):
        raise IntegrityError(f"what is pinned as {pin} is another pack: its pack.toml does not say what the event says")
