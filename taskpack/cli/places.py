"""Paths as people read them, and the folder in a pack for what is made from it."""

from __future__ import annotations

import os
from pathlib import Path

from taskpack import resources
from taskpack.made import MADE, furnish


def shown(path: Path) -> str:
    """A path as its reader would type it: relative where it lies below the current folder."""
    full, here = path.resolve(), Path.cwd()
    return full.relative_to(here).as_posix() if full.is_relative_to(here) else str(full)


def made_folder(pack: Path) -> Path:
    """Where what is made from a pack is kept: its `.taskpack/`, which ignores itself in git; for a pack that ships or
    was installed, that of the current folder."""
    shipped = resources.shipped_packs()
    is_foreign = resources.is_installed(pack) or (pack.resolve().is_relative_to(shipped) and not Path.cwd().is_relative_to(shipped))
    owner = Path() if is_foreign else pack
    folder = owner / MADE
    furnish(folder)
    return folder


def runs_folder(pack: Path) -> Path:
    """Where runs of a pack are kept: below `made_folder`; where that cannot be written, in the user's cache."""
    try:
        runs = made_folder(pack) / "runs"
        runs.mkdir(exist_ok=True)
        if os.access(runs, os.W_OK):
            return runs
    except OSError:
        pass
    return resources.cache() / "runs"
