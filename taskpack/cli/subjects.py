"""What a verb is asked to work on: paths, folders of packs and names become folders, and a shelf on which they find each other."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import tomli

from taskpack import resources
from taskpack.errors import UsageError
from taskpack.packs.names import FILE
from taskpack.packs.shelf import Shelf, find_packs, locate_pack, open_shelf
from taskpack.registry.installed import Installed

from .places import shown

if TYPE_CHECKING:
    from taskpack.packs.load import Loaded


@dataclass(frozen=True)
class Subjects:
    """The folders that were meant, in the order of the words, and where they find other packs."""

    folders: tuple[Path, ...]
    shelf: Shelf


def find_tasks(words: Iterable[str], kinds: Collection[str] = ("task",)) -> Subjects:
    """The packs of `kinds` among what `words` name; others are passed over. Raises UsageError where there is none."""
    named = tuple(words)
    found = find_subjects(named)
    tasks = tuple(folder for folder in found.folders if kind_of(folder) in (*kinds, None))
    if not tasks:
        others = ", ".join(sorted({f"`{kind}`" for folder in found.folders if (kind := kind_of(folder))}))
        raise UsageError(
            f"there is no task among {' '.join(named) or 'the packs here'}, only packs of the kind {others}",
            hint="only tasks are run, and models judged by `taskpack swap`",
        )
    return Subjects(tasks, found.shelf)


def find_task(word: str, why: str) -> tuple[Path, Shelf]:
    """The folder of the only task that a word means. Raises UsageError, with the reason why it must be one, where it means several."""
    found = find_tasks((word,))
    if len(found.folders) != 1:
        raise UsageError(f"{word} holds {len(found.folders)} tasks, and {why}", hint=f"name one, such as {shown(found.folders[0])}")
    return found.folders[0], found.shelf


def find_subjects(words: Iterable[str]) -> Subjects:
    """Every pack that `words` name; without any, the one in the current folder. Raises UsageError and NotFound."""
    named = tuple(words)
    if not named and not Path(FILE).is_file():
        raise UsageError(f"there is no {FILE} in this folder", hint="go to a pack's folder, or name one: `taskpack check PATH`; `taskpack new` makes one")
    installed = Installed(Path.cwd())
    shelf = open_shelf(pinned=installed)
    found = [folder for word in named or (".",) for folder in _folders(word, shelf)]
    folders = tuple(dict.fromkeys(found))
    return Subjects(folders, open_shelf(_neighbourhoods(folders), explicit=folders, pinned=installed))


def _folders(word: str, shelf: Shelf) -> list[Path]:
    path = Path(word)
    if word and path.is_dir() and not (path / FILE).is_file():
        packs = list(find_packs(path))
        if packs:
            return packs
    return [locate_pack(word, shelf)]


def _neighbourhoods(folders: Iterable[Path]) -> tuple[Path, ...]:
    """Where packs beside those packs stand: a pack may depend on its neighbour."""
    return tuple(dict.fromkeys(folder.resolve().parent for folder in folders if not resources.is_installed(folder)))


def kind_of(folder: Path) -> str | None:
    """What the pack says that it is; None where that cannot be read, so that whoever loads it reports why."""
    try:
        header = tomli.loads((folder / FILE).read_text(encoding="utf-8")).get("pack")
    except (OSError, ValueError, RecursionError):
        return None
    kind = header.get("kind") if isinstance(header, dict) else None
    return kind if isinstance(kind, str) else None


def load_kind(folder: Path, kind: str, shelf: Shelf) -> Loaded:
    """The checked pack in a folder. Raises PackInvalid, and UsageError where it is of another kind."""
    from taskpack.packs.check import load_checked

    loaded = load_checked(folder, shelf)
    if loaded.kind != kind:
        raise UsageError(f"`{loaded.name}` is of the kind `{loaded.kind}`, not `{kind}`")
    return loaded


def agents(shelf: Shelf) -> list[str]:
    """Names of the agents that can be named without their folder."""
    return [name.partition("/")[2] for name in shelf.names() if name.startswith("agents/")]


def load_agent(word: str | None, shelf: Shelf) -> Loaded:
    """The agent that a name or a folder means. Raises UsageError where none is named."""
    known = agents(shelf)
    if word is None:
        raise UsageError("a suite is worked on by an agent", hint=f"`--agent` names one: {', '.join(known)}, or the folder of a pack")
    return load_kind(locate_pack(f"agents/{word}" if word in known else word, shelf), "agent", shelf)
