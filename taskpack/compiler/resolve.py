"""A task pack meets what it names: its op, its target and the bytes of its files; defaults are filled in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from taskpack.errors import UsageError
from taskpack.packs.header import Words
from taskpack.packs.knowledge import KnowledgePack
from taskpack.packs.load import Loaded
from taskpack.packs.model import Model, ModelPack
from taskpack.packs.op import Op, OpPack
from taskpack.packs.target import Target, TargetPack
from taskpack.packs.task import LIBRARY, Allow, Baseline, Candidate, Task, TaskLimits, TaskPack

_LIMITS = TaskLimits.model_construct(call_s=120, memory_mib=64 << 10)
"""Of a whole model, which may be large, and whose reference computes on the CPU."""

Fetch = Callable[[str, str], Loaded]
"""Name and version requirement → the pack; raises NotFound where there is none that will do."""


@dataclass(frozen=True)
class File:
    """A file of a pack that travels."""

    path: Path
    content: bytes


@dataclass(frozen=True)
class Resolved:
    """A task with everything that it is made of."""

    pack: Loaded
    task: Task
    op: Op
    op_pack: Loaded
    """The task's own pack where the op is inline."""
    target: Target
    target_pack: Loaded
    baseline: Baseline
    candidate: Baseline
    """With every key said."""
    reference_files: Mapping[str, File]
    """The reference, if it is a file, the generator and the data of `file` inits, by their paths in the op's pack."""
    baseline_files: Mapping[str, File]
    start_files: Mapping[str, File]
    """The candidate to start from, by the names that a candidate's files have; empty without `start`."""

    model: Model | None = None
    swaps: tuple[Resolved, ...] = ()
    """Of a model: the tasks whose candidates replace its modules, in its order."""
    knowledge_packs: tuple[Loaded, ...] = ()
    """Those that the target names."""

    @property
    def allow(self) -> Allow:
        """What of others the candidate may call, with every key said."""
        return self.task.allow.resolved(self.candidate.language, self.op.module is not None)

    def packs(self) -> tuple[Loaded, ...]:
        """Every pack that took part, the task first."""
        others = [loaded for task in self.swaps for loaded in task.packs()]
        return tuple({loaded.name: loaded for loaded in (self.pack, self.op_pack, self.target_pack, *self.knowledge_packs, *others)}.values())

    def files(self) -> tuple[File, ...]:
        """Every file that took part, besides the packs' own."""
        return (*self.reference_files.values(), *self.baseline_files.values(), *self.start_files.values())

    def to_dict(self) -> dict[str, object]:
        """As `taskpack build --emit pack` prints it: the pack with its defaults, its op and its target, every candidate key said."""
        task = _said(self.task)
        task.pop("op", None)
        task["candidate"] = _said(self.candidate) | ({"start": self.task.candidate.start} if self.task.candidate.start else {})
        task["allow"] = _said(self.allow)
        subject = {"model": _said(self.model)} if self.model else {"task": task}
        return {"format": 1, "pack": _said(self.pack.document.pack), **subject, "op": _said(self.op), "target": _said(self.target)}


def resolve_pack(loaded: Loaded, target: str, fetch: Fetch) -> Resolved:
    """What `loaded`, a task or a model, is made of on `target` (a pack's name); raises UsageError for another kind, and what `fetch` raises."""
    document = loaded.document
    for name, requirement in document.pack.dependencies.items():
        fetch(name, requirement)
    if isinstance(document, ModelPack):
        return _resolve_model(loaded, document, target, fetch)
    if not isinstance(document, TaskPack):
        raise UsageError(f"`{loaded.name}` is of the kind `{loaded.kind}`: only tasks and models are built")
    op, op_pack = _find_op(loaded, document, fetch)
    target_said, target_pack = _find_target(document, target, fetch)
    task = document.task
    candidate = task.candidate.as_side(task.baseline)
    if op.module is not None:
        candidate = candidate.model_copy(update={"arguments": (), "style": "functional"})
    return Resolved(
        loaded,
        task,
        op,
        op_pack,
        target_said,
        target_pack,
        task.baseline if op.module is None else LIBRARY.model_copy(update={"entry": op.module.target}),
        candidate,
        reference_files=_read(op_pack.folder, _reference_paths(op)),
        baseline_files=_read(loaded.folder, {file: file for file in task.baseline.files}),
        start_files=_read(loaded.folder, {file: f"{task.candidate.start}/{file}" for file in candidate.files if task.candidate.start}),
        knowledge_packs=_find_knowledge(target_pack, fetch),
    )


def _resolve_model(loaded: Loaded, document: ModelPack, target: str, fetch: Fetch) -> Resolved:
    """A model is a task about itself: the library's class is the baseline, and the same class with other modules in it the candidate."""
    swaps = tuple(resolve_pack(fetch(one.task, document.pack.dependencies[one.task]), target, fetch) for one in document.model.replaces)
    assert document.op.module, "the op of a model is a module"
    library = LIBRARY.model_copy(update={"entry": document.op.module.target})
    files = tuple(f"{swap_folder(swap.pack.name)}/{file}" for swap in swaps for file in swap.candidate.files)
    task = Task.model_construct(candidate=Candidate.model_construct(files=files), limits=_LIMITS)
    target_said, target_pack = _find_target(document, target, fetch)
    candidate = library.model_copy(update={"files": files})
    return Resolved(loaded, task, document.op, loaded, target_said, target_pack, library, candidate, {}, {}, {}, document.model, swaps)


def swap_folder(task: str) -> str:
    """The folder that holds a task's candidate in a model's candidate."""
    return task.replace("/", ".")


def _find_target(document: TaskPack | ModelPack, target: str, fetch: Fetch) -> tuple[Target, Loaded]:
    pack = fetch(target, document.pack.dependencies.get(target, "*"))
    if not isinstance(pack.document, TargetPack):
        raise UsageError(f"`{target}` is of the kind `{pack.kind}`, not a target")
    return pack.document.target, pack


def _find_op(loaded: Loaded, document: TaskPack, fetch: Fetch) -> tuple[Op, Loaded]:
    if document.op is not None:
        return document.op, loaded
    name = document.task.op
    assert name is not None, "a task that names no op has one"
    op_pack = fetch(name, document.pack.dependencies[name])
    if not isinstance(op_pack.document, OpPack):
        raise UsageError(f"`{name}` is of the kind `{op_pack.kind}`, not an op")
    return op_pack.document.op, op_pack


def _find_knowledge(target: Loaded, fetch: Fetch) -> tuple[Loaded, ...]:
    document = target.document
    assert isinstance(document, TargetPack), "it was resolved as one"
    packs = tuple(fetch(name, document.pack.dependencies[name]) for name in document.target.knowledge)
    for pack in packs:
        if not isinstance(pack.document, KnowledgePack):
            raise UsageError(f"`{pack.name}` is of the kind `{pack.kind}`, and holds no rules")
    return packs


def _reference_paths(op: Op) -> dict[str, str]:
    functions = [function for function in (op.reference, op.generator) if function]
    paths = [function.rpartition(":")[0] for function in functions] + [tensor.init.file.path for tensor in op.given() if tensor.init.file]
    return {path: path for path in paths}


def _read(folder: Path, paths: Mapping[str, str]) -> dict[str, File]:
    """Bytes as they are: what a checkout did to line endings is no business of a compiler's."""
    return {name: File(folder / path, (folder / path).read_bytes()) for name, path in paths.items()}


def _said(words: Words) -> dict[str, object]:
    return words.model_dump(mode="json", by_alias=True, exclude_none=True)
