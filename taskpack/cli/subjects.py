"""What a verb is asked to work on: paths, folders of packs and names become folders, and a shelf on which they find each other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from taskpack.errors import UsageError
from taskpack.packs.load import FILE
from taskpack.packs.shelf import Shelf, find_packs, locate_pack, open_shelf


@dataclass(frozen=True)
class Subjects:
    """The folders that were meant, in the order of the words, and where they find other packs."""

    folders: tuple[Path, ...]
    shelf: Shelf


def find_subjects(words: Iterable[str]) -> Subjects:
    """Every pack that `words` name; without any, the one in the current folder. Raises UsageError and NotFound."""
    named = tuple(words)
    if not named and not Path(FILE).is_file():
        raise UsageError(f"there is no {FILE} in this folder", hint="go to a pack's folder, or name one: `taskpack check PATH`; `taskpack new` makes one")
    shipped = open_shelf()
    found = [folder for word in named or (".",) for folder in _folders(word, shipped)]
    folders = tuple(dict.fromkeys(found))
    return Subjects(folders, open_shelf(_neighbourhoods(folders), explicit=folders))


def shown(path: Path) -> str:
    """A path as its reader would type it: relative where it lies below the current folder."""
    full, here = path.resolve(), Path.cwd()
    return full.relative_to(here).as_posix() if full.is_relative_to(here) else str(full)


def _folders(word: str, shelf: Shelf) -> list[Path]:
    path = Path(word)
    if path.is_dir() and not (path / FILE).is_file():
        packs = list(find_packs(path))
        if packs:
            return packs
    return [locate_pack(word, shelf)]


def _neighbourhoods(folders: Iterable[Path]) -> tuple[Path, ...]:
    """Where packs beside those packs stand: a pack may depend on its neighbour."""
    return tuple(dict.fromkeys(folder.resolve().parent for folder in folders))
