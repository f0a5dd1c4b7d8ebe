"""The act of publishing: a folder becomes an archive, is read back, judged by the rules, and added to an index's log."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from taskpack import resources
from taskpack.digest import digest_bytes
from taskpack.errors import Conflict, Diagnostic, PackInvalid, TaskpackError
from taskpack.packs.check import check_pack
from taskpack.packs.load import Loaded, load_pack
from taskpack.packs.names import FILE
from taskpack.packs.shelf import Shelf
from taskpack.packs.versions import parse_version
from taskpack.registry.archive import File, content_digest, read_archive, write_archive
from taskpack.registry.event import Event, Release
from taskpack.registry.extract import extract
from taskpack.registry.gather import Chosen, choose_files, read_files
from taskpack.registry.index import Index, fetch_files, put_blob
from taskpack.registry.log import Log, append, next_event, replay
from taskpack.registry.resolver import Need
from taskpack.registry.sources import Sources, read_header

from .meaning import Changes, Meaning, compare, read_meaning
from .rules import RULES, Proposal, name_of


class PublishRefused(TaskpackError):
    """A rule says no; `report` has all of them."""

    def __init__(self, report: Report) -> None:
        broken = [f"{rule}: {reason}" for rule, reason in report.verdicts if reason]
        super().__init__(f"{report.name} {report.release.version} is not published. " + "; ".join(broken))
        self.report = report


@dataclass(frozen=True)
class Report:
    """What was, or would be, published."""

    name: str
    release: Release
    files: tuple[tuple[str, int], ...]
    """Path and size."""
    left_out: tuple[str, ...]
    changes: str
    """Since which version, and what kind of change."""
    verdicts: tuple[tuple[str, str], ...]
    """Rule, and why it says no; empty where it does not."""
    event: Event | None
    """None where the same content has been published before, or a rule says no."""


@dataclass(frozen=True)
class _Prepared:
    """A folder that has been packed, read back and compiled, whatever the index says."""

    name: str
    release: Release
    chosen: Chosen
    files: tuple[File, ...]
    blob: bytes
    read_back: str
    diagnostics: tuple[Diagnostic, ...]
    unmet: str
    meaning: Meaning | str
    """Or why it has none."""


def publish(folder: Path, index: Index | None, *, is_rehearsal: bool = False) -> Report:
    """Adds the pack in `folder` to an index, unless that content is there already; a rehearsal writes nothing, and needs no index.

    Raises PackInvalid and FileRefused where there is nothing to publish, PublishRefused, and Conflict where the version holds something else.
    """
    prepared = _prepare(folder, index)
    previous = _Previous(index, prepared.name)
    reports: list[Report] = []

    def decide(log: Log) -> Release | None:
        is_known = _is_published(prepared, log, previous)
        reports.append(_judge(prepared, previous, log, is_known=is_known))
        if any(reason for _, reason in reports[-1].verdicts):
            raise PublishRefused(reports[-1])
        if index is not None and not is_rehearsal and not is_known:
            put_blob(index.store, prepared.blob)
        return None if is_known else prepared.release

    if is_rehearsal or index is None:
        log = replay(index.store, prepared.name) if index else Log(prepared.name)
        release = decide(log)
        event = next_event(log, release) if release else None
    else:
        event, _ = append(index.store, prepared.name, decide)
    return replace(reports[-1], event=event)


class _Previous:
    """Published versions of a pack, fetched and compiled when they are asked for, once."""

    def __init__(self, index: Index | None, name: str) -> None:
        self._index, self._name = index, name
        self._meanings: dict[str, Meaning | str] = {}

    def files(self, release: Release) -> tuple[File, ...]:
        assert self._index is not None, "what is published is in an index"
        return fetch_files(self._index.store, release)

    def meaning(self, release: Release) -> Meaning | str:
        """What the version means to this taskpack, so that a new taskpack alone changes nothing; or why that cannot be told."""
        if release.version not in self._meanings:
            self._meanings[release.version] = self._compile(release)
        return self._meanings[release.version]

    def _compile(self, release: Release) -> Meaning | str:
        with _opened(self.files(release)) as copy:
            unmet, shelf = _shelf(release, self._name, Sources(self._index))
            loaded, diagnostics = _check(copy, shelf)
            errors = [one for one in diagnostics if not one.is_warning]
            if unmet or loaded is None or errors:
                return unmet or f"this taskpack finds mistakes in {release.version}: {errors[0].message}"
            return _try_meaning(loaded, shelf)


def _prepare(folder: Path, index: Index | None) -> _Prepared:
    """Everything is looked at in the extracted copy: what was left behind is missed here, and not by whoever installs it."""
    name = load_pack(folder).name
    chosen = choose_files(folder)
    files = read_files(folder, chosen.paths)
    blob = write_archive(files)
    release = replace(
        read_header(next(file.content for file in files if file.path == FILE)), content=content_digest(files), blob=digest_bytes(blob), size=len(blob)
    )
    sources = Sources(index)
    again = read_archive(blob)
    with _opened(again) as copy:
        unmet, shelf = _shelf(release, name, sources)
        loaded, diagnostics = _check(copy, shelf)
        placed = tuple(replace(one, file=(folder / Path(one.file).relative_to(copy)).as_posix()) for one in diagnostics)
        is_sound = loaded is not None and not any(not one.is_warning for one in diagnostics)
        meaning = _try_meaning(loaded, shelf) if loaded is not None and is_sound else "it has mistakes"
    return _Prepared(name, release, chosen, files, blob, content_digest(again), placed, unmet, meaning)


def _judge(prepared: _Prepared, previous: _Previous, log: Log, *, is_known: bool) -> Report:
    """What the rules say; nothing, where the same content has been published under the same version."""
    release = prepared.release
    before = _highest_before(release.version, log)
    changes: Changes | str | None = _compare(previous.meaning(before), prepared.meaning) if before else None
    proposal = Proposal(prepared.name, release, prepared.read_back, prepared.diagnostics, prepared.unmet, log, before.version if before else None, changes)
    verdicts = () if is_known else tuple((name_of(rule), rule(proposal)) for rule in RULES)
    words = f"since {before.version}: {changes}" if before else "first version"
    sizes = tuple((file.path, len(file.content)) for file in prepared.files)
    return Report(prepared.name, release, sizes, prepared.chosen.left_out, words, verdicts, None)


def _compare(old: Meaning | str, new: Meaning | str) -> Changes | str:
    if isinstance(old, str):
        return old
    return new if isinstance(new, str) else compare(old, new)


def _highest_before(version: str, log: Log) -> Release | None:
    """The highest release below `version`; a pre-release promises nothing, so that nothing is compared with it."""
    mine = parse_version(version)
    below = [release for _, release in log.releases.values() if (other := parse_version(release.version)) < mine and not other.pre]
    return max(below, key=lambda release: parse_version(release.version), default=None)


def _is_published(prepared: _Prepared, log: Log, previous: _Previous) -> bool:
    """Whether the same content is there under the same version; raises Conflict where other content is, naming what differs."""
    if prepared.release.version not in log.releases:
        return False
    _, there = log.releases[prepared.release.version]
    if there.content == prepared.release.content:
        return True
    old = {file.path: file for file in previous.files(there)}
    new = {file.path: file for file in prepared.files}
    first = next(path for path in sorted(old | new) if old.get(path) != new.get(path))
    raise Conflict(
        f"{prepared.name} {there.version} has been published with other content: `{first}` differs; {_compare(previous.meaning(there), prepared.meaning)}",
        hint="a version never changes: raise `version` in pack.toml",
    )


def _try_meaning(loaded: Loaded, shelf: Shelf) -> Meaning | str:
    try:
        return read_meaning(loaded, shelf)
    except TaskpackError as error:
        return error.message


def _shelf(release: Release, name: str, sources: Sources) -> tuple[str, Shelf]:
    """Why dependencies cannot be had, or nothing; and a shelf with those that can, beside what ships."""
    asker = f"{name} {release.version}"
    try:
        pins = sources.resolve(Need(each, requirement, asker) for each, requirement in release.dependencies.items())
        return "", Shelf((resources.shipped_packs(),), explicit=[sources.install(pin) for pin in pins.values()])
    except TaskpackError as error:
        return error.message, Shelf((resources.shipped_packs(),))


def _check(copy: Path, shelf: Shelf) -> tuple[Loaded | None, tuple[Diagnostic, ...]]:
    try:
        loaded = load_pack(copy)
    except PackInvalid as invalid:
        return None, invalid.diagnostics
    return loaded, check_pack(loaded, shelf)


@contextmanager
def _opened(files: tuple[File, ...]) -> Iterator[Path]:
    """The files in a folder for as long as they are looked at."""
    with tempfile.TemporaryDirectory(prefix="taskpack-") as scratch:
        copy = Path(scratch) / "pack"
        extract(files, copy)
        yield copy
