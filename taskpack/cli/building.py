"""A task's folder becomes a harness for a target: the way that `build` and `run` share."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from taskpack import resources
from taskpack.packs.shelf import Shelf

from .places import made_folder
from .targets import choose_target

if TYPE_CHECKING:
    from taskpack.compiler.build import Built


def build(folder: Path, target: str, shelf: Shelf) -> Built:
    """The harness of the task in `folder`; up to date, or built now. Raises PackInvalid, and UsageError for a target that there is not."""
    from taskpack.compiler.build import build_pack

    built = build_pack(folder, choose_target(target, folder, shelf), shelf)
    _add_schema(made_folder(folder))
    return built


def print_stage(folder: Path, target: str, shelf: Shelf, stage: str) -> str:
    """The text of one stage: `pack`, `plan` or `harness`. Raises what `build` raises."""
    from taskpack.compiler.build import emit

    return emit(folder, choose_target(target, folder, shelf), shelf, stage)


def _add_schema(folder: Path) -> None:
    """What the `#:schema` line of a pack names is not in its repository, so it comes back with the first build."""
    schema = folder / "task.schema.json"
    if not schema.exists():
        shutil.copyfile(resources.schemas() / schema.name, schema)
