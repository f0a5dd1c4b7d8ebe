"""Runs that were kept: which one is meant, and how wide its report may be."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from taskpack.errors import NotFound
from taskpack.made import MADE

if TYPE_CHECKING:
    from taskpack.runs.folder import Run

_RUNS = Path(MADE, "runs")


def find_run(word: str) -> Run:
    """The run in the folder `word`, or of that name in `.taskpack/runs/`. Raises NotFound."""
    from taskpack.packs.suggest import did_you_mean
    from taskpack.runs.folder import open_run

    for folder in (Path(word), _RUNS / word):
        if folder.is_dir():
            return open_run(folder)
    names = sorted(path.name for path in _RUNS.glob("[!.]*"))
    hint = did_you_mean(word, names) or (
        f"the newest is {names[-1]}"
        if names
        else "runs lie in .taskpack/runs/ of a pack: go to its folder, or give the path that was named when the run was kept"
    )
    raise NotFound(f"there is no run `{word}`", hint=hint)


def terminal_width() -> int:
    """Columns of the terminal, at least 72; 120 where there is none."""
    return max(72, shutil.get_terminal_size((120, 24)).columns)
