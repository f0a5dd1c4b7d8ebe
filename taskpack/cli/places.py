"""Paths as people read them, and the folder in a pack for what is made from it."""

from __future__ import annotations

from pathlib import Path


def shown(path: Path) -> str:
    """A path as its reader would type it: relative where it lies below the current folder."""
    full, here = path.resolve(), Path.cwd()
    return full.relative_to(here).as_posix() if full.is_relative_to(here) else str(full)


def made_folder(pack: Path) -> Path:
    """`.taskpack/` in a pack's folder, which ignores itself in git."""
    folder = pack / ".taskpack"
    folder.mkdir(exist_ok=True)
    ignore = folder / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n", encoding="utf-8", newline="\n")
    return folder
