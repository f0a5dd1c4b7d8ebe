"""Where packs stand: folders in which a pack is found by its name, without reading the others."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from taskpack import resources
from taskpack.errors import NotFound, UsageError

from .names import FILE, is_pack_name, read_name
from .suggest import did_you_mean
from .versions import parse_requirement, parse_version

if TYPE_CHECKING:
    from .load import Loaded


class VersionRefused(NotFound):
    """The pack is there, in a version that will not do."""


class Pinned(Protocol):
    """Packs that a project's lock pins."""

    def find(self, name: str) -> Path | None:
        """The folder of a pinned pack, None for another name; raises what makes it unusable."""

    def names(self) -> Iterable[str]:
        """Every name that is pinned."""


class Shelf:
    """Packs by name. Remembers what it has loaded; a pack that changes on disk meanwhile keeps its first content."""

    def __init__(self, roots: Sequence[Path] = (), explicit: Iterable[Path] = (), pinned: Pinned | None = None) -> None:
        """`roots` hold packs as `namespace/name/` (or as `name/`, where its pack.toml says so); an earlier root wins, a pinned pack over all roots, and
        an `explicit` one over that."""
        self._roots = tuple(roots)
        self._pinned = pinned
        self._loaded: dict[Path, Loaded] = {}
        self._explicit = {name: folder for folder in map(_folder, explicit) if (name := read_name(folder))}

    def fetch(self, name: str, requirement: str = "*") -> Loaded:
        """The pack of that name; raises NotFound with the nearest name, VersionRefused, or PackInvalid where it has mistakes."""
        folder = self.find(name)
        if folder is None:
            raise NotFound(f"there is no pack `{name}`", hint=did_you_mean(name, self.names()))
        loaded = self.load(folder)
        if not parse_requirement(requirement).allows(parse_version(loaded.version)):
            raise VersionRefused(f"`{name}` is here in version {loaded.version}, which `{requirement}` refuses")
        return loaded

    def find(self, name: str) -> Path | None:
        """The folder of the pack of that name, or None."""
        if name in self._explicit:
            return self._explicit[name]
        if not is_pack_name(name):
            return None
        if self._pinned and (folder := self._pinned.find(name)):
            return folder
        for root in self._roots:
            if (root / name / FILE).is_file():
                return root / name
            short = root / name.partition("/")[2]
            if (short / FILE).is_file() and read_name(short) == name:
                return short
        return None

    def names(self) -> list[str]:
        """Every name that `find` knows."""
        found = {*self._explicit, *(self._pinned.names() if self._pinned else ())}
        for root in self._roots:
            found |= {path.parent.relative_to(root).as_posix() for path in root.glob(f"*/*/{FILE}")}
            found |= {name for path in root.glob(f"*/{FILE}") if (name := read_name(path.parent))}
        return sorted(name for name in found if is_pack_name(name))

    def load(self, folder: Path) -> Loaded:
        """The pack in a folder, read once; its mistakes name the file as it was called the first time. Raises PackInvalid."""
        # Late, as names are looked up where pydantic would take too long to start.
        from .load import load_pack

        place = folder.resolve()
        if place not in self._loaded:
            self._loaded[place] = load_pack(folder)
        return self._loaded[place]


def open_shelf(roots: Sequence[Path] = (), explicit: Iterable[Path] = (), pinned: Pinned | None = None) -> Shelf:
    """The shelf of the packs that ship with taskpack, then `roots`: a shipped name is shadowed by an explicit path only (what is `pinned` under one was
    compared with it)."""
    return Shelf((resources.shipped_packs(), *roots), explicit, pinned)


def locate_pack(word: str, shelf: Shelf) -> Path:
    """The folder that somebody means by `word`: a path with a pack.toml, or the name of a pack. Raises NotFound, or UsageError for a folder without a pack."""
    if not word:
        raise UsageError("a pack is named by its path or its name, and not by an empty word")
    path = Path(word)
    if (path / FILE).is_file() or (path.name == FILE and path.is_file()):
        return _folder(path)
    found = shelf.find(word)
    if found is not None:
        return found
    if path.is_dir():
        raise UsageError(f"there is no {FILE} in {word}", hint="`taskpack new` makes a pack")
    same = [name for name in shelf.names() if name.partition("/")[2] == word]
    raise NotFound(
        f"there is no pack `{word}`", hint=f"did you mean {' or '.join(f'`{name}`' for name in same)}?" if same else did_you_mean(word, shelf.names())
    )


def find_packs(root: Path) -> Iterator[Path]:
    """The folders of all packs at or below `root`, sorted; neither hidden folders nor packs inside of packs."""
    if (root / FILE).is_file():
        yield root
        return
    with os.scandir(root) as entries:
        folders = sorted(entry.name for entry in entries if entry.is_dir() and not entry.name.startswith((".", "__")))
    for name in folders:
        yield from find_packs(root / name)


def _folder(path: Path) -> Path:
    return path.parent if path.name == FILE else path
