"""A task pack's folder becomes its harness on disk; where nothing has changed since, nothing is done."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from taskpack import __version__, resources
from taskpack.digest import digest_bytes, digest_value
from taskpack.made import MADE, furnish, write_atomically
from taskpack.packs.shelf import Shelf

from . import stamp
from .bundle import is_litter, read_runtime

# pydantic and jinja2 are imported where something has to be made: to see that there is nothing to do must take no time.
if TYPE_CHECKING:
    from taskpack.packs.load import Loaded

    from .bundle import Bundle
    from .resolve import Resolved


@dataclass(frozen=True)
class Built:
    """A harness on disk."""

    path: Path
    harness_digest: str
    task_digest: str
    is_up_to_date: bool
    """It was there already, made from the same bytes."""


def build_pack(pack: Path | Loaded, target: str, shelf: Shelf, out: Path | None = None) -> Built:
    """The harness of a task (a folder, or what was loaded from it) for the target pack of that name.

    It is written to `out`, or to `build/<target>.pyz` in what the pack's folder has for it, at once or not at all. Raises PackInvalid with every
    mistake of the pack; UsageError for a pack of another kind, or for a target that cannot run the task; NotFound for packs that it needs.
    """
    folder = pack if isinstance(pack, Path) else pack.folder
    if out is not None:
        return _write(out, _compile(pack, target, shelf))
    made = _made_folder(folder)
    product = made / "build" / f"{_stem(target)}.pyz"
    stamped = stamp.read_stamp(product.with_suffix(".json"))
    if stamped and stamped.holds(folder, _house(), product, shelf.find):
        return Built(product, stamped.harness_digest, stamped.task_digest, is_up_to_date=True)
    compiled = _compile(pack, target, shelf)
    furnish(made, compiled.resolved.pack.kind)
    built = _write(product, compiled)
    write_atomically(product.with_suffix(".json"), _stamp(compiled, folder).to_json())
    return built


def emit(pack: Path | Loaded, target: str, shelf: Shelf, stage: str) -> str:
    """The text of one stage, `pack`, `plan` or `harness`; nothing is written. Raises what `build_pack` raises."""
    from .bundle import to_json
    from .lower import lower_pack
    from .render import render_plan

    resolved = _resolve(pack, target, shelf)
    if stage == "pack":
        return to_json(resolved.to_dict())
    plan = lower_pack(resolved)
    match stage:
        case "plan":
            return to_json(plan.to_dict())
        case "harness":
            return render_plan(plan, resources.templates() / "harness")
        case _:
            raise ValueError(stage)


def _resolve(pack: Path | Loaded, target: str, shelf: Shelf) -> Resolved:
    from taskpack.packs.check import load_checked

    from .resolve import resolve_pack

    return resolve_pack(load_checked(pack, shelf), target, shelf.fetch)


@dataclass(frozen=True)
class _Compiled:
    """A harness in memory."""

    resolved: Resolved
    bundle: Bundle
    task_digest: str


def _compile(pack: Path | Loaded, target: str, shelf: Shelf) -> _Compiled:
    from .bundle import bundle_files, to_json
    from .lower import lower_pack
    from .render import render_plan

    resolved = _resolve(pack, target, shelf)
    plan = lower_pack(resolved)
    files = {
        "harness.py": render_plan(plan, resources.templates() / "harness").encode(),
        "plan.json": to_json(plan.to_dict()).encode(),
        **{f"pack/reference/{name}": file.content for name, file in resolved.reference_files.items()},
        **{f"pack/baseline/{name}": file.content for name, file in resolved.baseline_files.items()},
        **{f"pack/start/{name}": file.content for name, file in resolved.start_files.items()},
    }
    return _Compiled(resolved, bundle_files(files, read_runtime(resources.runtime_folder())), plan.digests["task"])


def _write(path: Path, compiled: _Compiled) -> Built:
    """Leaves a file alone that has the same bytes."""
    content = compiled.bundle.content
    is_there = path.is_file() and path.read_bytes() == content
    if not is_there:
        write_atomically(path, content, mode=0o755)
    return Built(path, compiled.bundle.harness_digest, compiled.task_digest, is_up_to_date=is_there)


def _stamp(compiled: _Compiled, folder: Path) -> stamp.Stamp:
    resolved, bundle = compiled.resolved, compiled.bundle
    inputs = {loaded.file: loaded.text.encode() for loaded in resolved.packs()} | {file.path: file.content for file in resolved.files()}
    others = {loaded.name: loaded.folder for loaded in resolved.packs() if loaded is not resolved.pack}
    return stamp.make_stamp(folder, _house(), inputs, others, bundle.content, (bundle.harness_digest, compiled.task_digest))


def _stem(target: str) -> str:
    """`cpu` for `targets/cpu`; a dot, which no name holds, where another namespace has a target."""
    return target.removeprefix("targets/").replace("/", ".")


def _made_folder(folder: Path) -> Path:
    """`.taskpack/` of the pack; where that cannot be, or the pack came with taskpack or from an index, a folder in the user's cache."""
    packs = resources.shipped_packs()
    is_ours = packs.is_relative_to(resources.runtime_folder().parent) and folder.resolve().is_relative_to(packs)
    if not is_ours and not resources.is_installed(folder) and os.access(folder, os.W_OK):
        return folder / MADE
    place = digest_bytes(str(folder.resolve()).encode()).removeprefix("sha256:")[:16]
    return resources.cache() / "build" / f"{folder.resolve().name}-{place}"


def _house() -> str:
    """The digest of what taskpack itself puts into a harness, or decides about one."""
    package = resources.runtime_folder().parent
    folders = (package / "runtime", package / "compiler", package / "packs", resources.templates() / "harness", resources.schemas())
    return _house_of(tuple(one for folder in folders for one in _look(folder)))


@functools.lru_cache(maxsize=4)
def _house_of(files: tuple[tuple[str, int, int], ...]) -> str:
    """Read once for many packs, as long as sizes and times of change stay what they are."""
    return digest_value([__version__, {path: digest_bytes(Path(path).read_bytes()) for path, _, _ in files}])


def _look(folder: Path) -> Iterator[tuple[str, int, int]]:
    """Path, size and time of change of every file below, sorted."""
    with os.scandir(folder) as found:
        entries = sorted((entry for entry in found if not is_litter(entry.name)), key=lambda entry: entry.name)
    for entry in entries:
        if entry.is_dir():
            yield from _look(Path(entry.path))
        else:
            about = entry.stat()
            yield entry.path, about.st_size, about.st_mtime_ns
