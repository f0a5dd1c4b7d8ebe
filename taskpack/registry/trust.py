"""Whose code runs without walls: one's own, what ships, and what somebody has said to trust; a pack of an index is a stranger."""

from __future__ import annotations

from pathlib import Path

from taskpack import resources
from taskpack.packs.names import FILE
from taskpack.packs.shelf import Shelf


def must_be_walled(folder: Path, shelf: Shelf, *, is_trusting: bool) -> bool:
    """Whether a stranger's code is in a pack, or in one that it needs; where `is_trusting`, all of them are trusted from now on, by their content."""
    strangers = [resources.cache() / "trusted" / one.resolve().name for one in _with_what_it_needs(folder, shelf) if resources.is_installed(one)]
    for mark in strangers if is_trusting else ():
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()
    return not all(mark.exists() for mark in strangers)


def _with_what_it_needs(folder: Path, shelf: Shelf) -> set[Path]:
    found: set[Path] = set()
    left: list[Path | None] = [folder]
    while left:
        one = left.pop()
        if one is not None and one not in found:
            found.add(one)
            left += [shelf.find(name) for name in _dependencies(one)]
    return found


def _dependencies(folder: Path) -> list[str]:
    """Names, of a pack that has been checked or will be."""
    import tomli

    try:
        said = tomli.loads((folder / FILE).read_text(encoding="utf-8"))["pack"].get("dependencies", {})
        return list(said)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return []
