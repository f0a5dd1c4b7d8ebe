"""What a version of a pack means, part by part: two versions are compared by it, to tell whether a score of the one is still a score of the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from taskpack.compiler.identity import describe_task
from taskpack.compiler.lower import lower_pack
from taskpack.compiler.resolve import resolve_pack
from taskpack.digest import digest_bytes, digest_value
from taskpack.errors import UsageError
from taskpack.packs.load import Loaded
from taskpack.packs.names import FILE
from taskpack.packs.op import OpPack
from taskpack.packs.shelf import Shelf
from taskpack.packs.task import Baseline, Candidate, Task, TaskPack
from taskpack.registry.extract import COMPLETE

_WORDS = frozenset({"doc", "summary", "title", "url", "date", "message", "fix", "prose", "reason"})
"""Keys that are for people."""
_BY = ("id", "name", "task")
"""Keys that name a table in a list."""
_OF_OPS = ("question", "cases", "unseen")


@dataclass(frozen=True)
class Meaning:
    """Parts and their digests, each part called as in a message."""

    fixed: Mapping[str, str]
    """Whatever happens to one of these, scores are no longer comparable."""
    growing: Mapping[str, str]
    """To these, others may be added."""


@dataclass(frozen=True)
class Changes:
    """How a version differs from the one before it."""

    breaking: tuple[str, ...]
    additions: tuple[str, ...]

    def __str__(self) -> str:
        if self.breaking:
            return f"scores are no longer comparable: {_listed(self.breaking)}"
        return f"additions only: {_listed(self.additions)}" if self.additions else "words only"


def read_meaning(loaded: Loaded, shelf: Shelf) -> Meaning:
    """What a checked pack means. Tasks and ops are compiled, for the first target that can run them; raises what the compiler raises."""
    document = loaded.document
    if isinstance(document, TaskPack):
        return _of_plan(_describe(loaded, shelf), loaded.kind)
    if isinstance(document, OpPack):
        said = _describe(replace(loaded, document=_as_task(document)), shelf)
        return _of_plan({part: said[part] for part in _OF_OPS}, loaded.kind)
    tables = document.model_dump(mode="json", by_alias=True, exclude={"format", "pack"})
    growing = {label: digest_value(value) for label, value in _parts({"dependencies": dict(document.pack.dependencies), **tables})}
    return Meaning({"kind": loaded.kind}, growing | dict(_files(loaded.folder)))


def compare(old: Meaning, new: Meaning) -> Changes:
    """What changed, what went and what came."""
    lost = [f"{label} is gone" for label in (*old.fixed, *old.growing) if label not in {**new.fixed, **new.growing}]
    changed = [
        f"{label} changed" for mine, its in ((old.fixed, new.fixed), (old.growing, new.growing)) for label in mine if its.get(label, mine[label]) != mine[label]
    ]
    new_fixed = [f"{label} is new" for label in new.fixed if label not in old.fixed]
    return Changes((*changed, *lost, *new_fixed), tuple(f"{label} is new" for label in new.growing if label not in old.growing))


def _describe(loaded: Loaded, shelf: Shelf) -> dict[str, Any]:
    """The task's meaning, which is the same whatever it is compiled for."""
    refusal: UsageError | None = None
    for target in sorted((name for name in shelf.names() if name.startswith("targets/")), key=lambda name: (name != "targets/cpu", name)):
        try:
            resolved = resolve_pack(loaded, target, shelf.fetch)
            return describe_task(lower_pack(resolved), resolved)
        except UsageError as error:
            refusal = refusal or error
    raise refusal or UsageError("there is no target for which the pack can be compiled")


def _as_task(document: OpPack) -> TaskPack:
    """A task about nothing but this op: the compiler's way from an op to a plan."""
    nothing = Baseline.model_construct(language="torch", files=(), entry="", arguments=(), style="functional")
    task = Task.model_construct(baseline=nothing, candidate=Candidate.model_construct(files=()))
    return TaskPack.model_construct(format=document.format, pack=document.pack, task=task, op=document.op)


def _of_plan(said: dict[str, Any], kind: str) -> Meaning:
    """Cases and tables of unseen draws may be added; everything else is the question itself."""
    cases = {f"case `{case['id']}`": digest_value(case) for case in said["cases"]}
    unseen = {f"unseen table {digest_value(table)[7:15]}": "" for table in said["unseen"]}
    fixed = {label: digest_value(value) for part, value in said.items() if part not in ("cases", "unseen") for label, value in _plan_parts(part, value)}
    return Meaning({"kind": kind} | fixed, cases | unseen)


def _plan_parts(part: str, value: Any) -> Iterator[tuple[str, Any]]:
    """`tolerance y`, `reference`, `baseline files`, …"""
    for key, item in value.items():
        if part != "question":
            yield f"{part} {key}", item
        elif isinstance(item, dict) and key != "reference":
            yield from ((f"{key} {name}", one) for name, one in item.items())
        else:
            yield key, item


def _parts(value: Any, label: str = "") -> Iterator[tuple[str, Any]]:
    """The leaves of a document that mean something, by their paths; tables of a list by what they call themselves."""
    match value:
        case dict():
            for key, item in value.items():
                if key not in _WORDS:
                    yield from _parts(item, f"{label}.{key}" if label else key)
        case [*items] if items and all(isinstance(item, str) for item in items):
            yield from ((f"{label} `{item}`", "") for item in items)
        case [*items] if items and all(isinstance(item, dict) and any(key in item for key in _BY) for item in items):
            for item in items:
                yield from _parts(item, f"{label} `{next(item[key] for key in _BY if key in item)}`")
        case None:
            pass
        case _:
            yield label, value


def _files(folder: Path) -> Iterator[tuple[str, str]]:
    """What stands beside the pack.toml, other than prose."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name not in (FILE, COMPLETE) and path.suffix != ".md":
            yield f"file `{path.relative_to(folder).as_posix()}`", digest_bytes(path.read_bytes())


def _listed(items: tuple[str, ...]) -> str:
    return ", ".join(items[:4]) + (f" and {len(items) - 4} more" if len(items) > 4 else "")
