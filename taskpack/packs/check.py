"""The last checks of a pack: those that need other packs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path as Folder

from taskpack.errors import Diagnostic, NotFound, PackInvalid

from .agent import AgentPack
from .check_task import TASK_AND_OP_CHECKS
from .findings import Finding
from .knowledge import KnowledgePack
from .load import Loaded, load_pack
from .model import ModelPack
from .op import OpPack
from .shelf import Shelf, VersionRefused
from .spans import Path
from .subject import OpSubject, TaskSubject
from .suggest import hint_among
from .suite import SuitePack
from .target import TargetPack
from .task import TaskPack


def load_checked(pack: Folder | Loaded, shelf: Shelf) -> Loaded:
    """The pack in a folder, or one that was loaded; raises PackInvalid with every mistake in it."""
    loaded = load_pack(pack) if isinstance(pack, Folder) else pack
    diagnostics = check_pack(loaded, shelf)
    if any(not diagnostic.is_warning for diagnostic in diagnostics):
        raise PackInvalid(diagnostics)
    return loaded


def check_pack(loaded: Loaded, shelf: Shelf) -> tuple[Diagnostic, ...]:
    """Everything that is wrong with a pack that has been loaded, and what was warned of then, in the order of lines."""
    checks = (_check_dependencies, _check_task, _check_model, _check_target, _check_suite, _check_agent)
    found = [finding for check in checks for finding in check(loaded, shelf)]
    return tuple(sorted((*loaded.warnings, *loaded.page.place(found)))) if found else loaded.warnings


def _check_dependencies(loaded: Loaded, shelf: Shelf) -> Iterator[Finding]:
    """P080 to P082."""
    for name, requirement in loaded.document.pack.dependencies.items():
        found = _fetch(shelf, name, requirement, ("pack", "dependencies", name))
        if isinstance(found, Finding):
            yield found


def _check_task(loaded: Loaded, shelf: Shelf) -> Iterator[Finding]:
    """P074 to P077 and P083, where the op is another pack."""
    document = loaded.document
    if not isinstance(document, TaskPack) or document.task.op is None:
        return
    # A dependency that cannot be fetched has been reported at its own line.
    found = _fetch(shelf, document.task.op, document.pack.dependencies[document.task.op], ("task", "op"))
    if isinstance(found, Finding):
        return
    if not isinstance(found.document, OpPack):
        yield Finding("P083", ("task", "op"), f"`{found.name}` is of the kind `{found.kind}`, not an op")
        return
    op = OpSubject(found.document.op, found.folder)
    subject = TaskSubject(document.task, document.pack, loaded.folder, has_inline_op=False, op=op)
    for check in TASK_AND_OP_CHECKS:
        yield from check(subject)


def _check_model(loaded: Loaded, shelf: Shelf) -> Iterator[Finding]:
    """P292: what a model's modules are replaced by are candidates of modules' tasks."""
    document = loaded.document
    for index, replace in enumerate(document.model.replaces if isinstance(document, ModelPack) else ()):
        path = ("model", "replace", index, "task")
        found = _fetch(shelf, replace.task, document.pack.dependencies[replace.task], path)
        if not isinstance(found, Finding) and not (isinstance(found.document, TaskPack) and found.document.task.is_module):
            yield Finding("P292", path, f"`{found.name}` is no task whose interface is a module", "a task of an op with `[op.module]`")


def _check_target(loaded: Loaded, shelf: Shelf) -> Iterator[Finding]:
    """P083: what a target calls knowledge holds rules."""
    document = loaded.document
    for index, name in enumerate(document.target.knowledge if isinstance(document, TargetPack) else ()):
        path = ("target", "knowledge", index)
        found = _fetch(shelf, name, document.pack.dependencies[name], path)
        if not isinstance(found, Finding) and not isinstance(found.document, KnowledgePack):
            yield Finding("P083", path, f"`{found.name}` is of the kind `{found.kind}`, and holds no rules")


def _check_suite(loaded: Loaded, shelf: Shelf) -> Iterator[Finding]:
    """P083: what a suite lists are tasks, and what it is judged on is a target."""
    document = loaded.document
    if not isinstance(document, SuitePack):
        return
    wanted: list[tuple[Path, str, type]] = [(("suite", "tasks", index), name, TaskPack) for index, name in enumerate(document.suite.tasks)]
    wanted += [(("suite", "target"), document.suite.target, TargetPack)] if document.suite.target else []
    for path, name, kind in wanted:
        found = _fetch(shelf, name, document.pack.dependencies[name], path)
        if not isinstance(found, Finding) and not isinstance(found.document, kind):
            yield Finding("P083", path, f"`{found.name}` is of the kind `{found.kind}`, not a {'task' if kind is TaskPack else 'target'}")


def _check_agent(loaded: Loaded, shelf: Shelf) -> Iterator[Finding]:
    """P083, P223: what is replayed are examples that tasks have."""
    document = loaded.document
    replay = document.agent.replay if isinstance(document, AgentPack) else None
    for table, named in (("candidates", replay.candidates), ("examples", replay.examples)) if replay else ():
        for name, value in named.items():
            path = ("agent", "replay", table, name)
            found = _fetch(shelf, name, document.pack.dependencies[name], path)
            if isinstance(found, Finding):
                continue
            if not isinstance(found.document, TaskPack):
                yield Finding("P083", path, f"`{found.name}` is of the kind `{found.kind}`, not a task", on_key=True)
            elif table == "examples" and value not in (names := [example.name for example in found.document.task.examples]):
                yield Finding("P223", path, f"`{name}` has no example `{value}`", hint_among(value, names, "it has"))


def _fetch(shelf: Shelf, name: str, requirement: str, path: Path) -> Loaded | Finding:
    try:
        return shelf.fetch(name, requirement)
    except VersionRefused as refused:
        return Finding("P081", path, refused.message)
    except NotFound as missing:
        return Finding("P080", path, missing.message, missing.hint, on_key=True)
    except PackInvalid as invalid:
        return Finding("P082", path, f"`{name}` has mistakes of its own: {invalid.message}", f"`taskpack check {name}` tells which", on_key=True)
