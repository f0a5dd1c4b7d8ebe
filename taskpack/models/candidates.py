"""Candidates of several tasks become the one candidate of a model: a folder with a folder for each."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from taskpack.compiler.resolve import swap_folder
from taskpack.errors import NotFound, UsageError
from taskpack.packs.load import Loaded
from taskpack.packs.model import ModelPack
from taskpack.packs.shelf import Shelf
from taskpack.packs.suggest import hint_among
from taskpack.packs.task import TaskPack


def gather(model: Loaded, given: Mapping[str, Path], shelf: Shelf, into: Path) -> None:
    """Copies the files that each task's candidate consists of from its folder to its place below `into`; what else a folder lacks is for the harness to say.

    `given` maps a task, by its name or the last part of it, to a candidate's folder. Raises UsageError for a pack that is no model, for a task that replaces
    nothing in it, for a folder without any of its files, and where none is given; NotFound for a folder that is not there.
    """
    document = model.document
    if not isinstance(document, ModelPack):
        raise UsageError(f"`{model.name}` is of the kind `{model.kind}`, not a model")
    tasks = [replace.task for replace in document.model.replaces]
    if not given:
        raise UsageError("nothing is replaced", hint=f"name a candidate with --with TASK=DIR; tasks: {', '.join(tasks)}")
    for word, folder in given.items():
        task = next((name for name in tasks if word in (name, name.partition("/")[2])), None)
        if task is None:
            raise UsageError(f"`{word}` replaces nothing in `{model.name}`", hint=hint_among(word, tasks, "tasks"))
        if not folder.is_dir():
            raise NotFound(f"there is no folder {folder}")
        place = into / swap_folder(task)
        if place.exists():
            raise UsageError(f"`{task}` is given twice, once as `{word}`")
        _copy(shelf.fetch(task, document.pack.dependencies[task]), folder, place)


def _copy(task: Loaded, folder: Path, place: Path) -> None:
    place.mkdir(parents=True)
    files = task.document.task.candidate.files if isinstance(task.document, TaskPack) else ()
    if not any((folder / file).is_file() for file in files):
        raise UsageError(f"{folder} holds no candidate of `{task.name}`: it has no {' and no '.join(f'`{file}`' for file in files)}")
    for file in files:
        if (folder / file).is_file():
            (place / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(folder / file, place / file)
