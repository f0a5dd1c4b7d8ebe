"""A task's folder becomes a harness for a target: the way that `build` and `run` share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from taskpack.packs.shelf import Shelf

from .targets import choose_target

if TYPE_CHECKING:
    from taskpack.compiler.build import Built


def build(folder: Path, target: str, shelf: Shelf) -> Built:
    """The harness of the task in `folder`; up to date, or built now. Raises PackInvalid, and UsageError for a target that there is not."""
    from taskpack.compiler.build import build_pack

    return build_pack(folder, choose_target(target, folder, shelf), shelf)


def print_stage(folder: Path, target: str, shelf: Shelf, stage: str) -> str:
    """The text of one stage: `pack`, `plan` or `harness`. Raises what `build` raises."""
    from taskpack.compiler.build import emit

    return emit(folder, choose_target(target, folder, shelf), shelf, stage)
