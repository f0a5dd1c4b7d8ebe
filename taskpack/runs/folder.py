"""A run as a folder: what was asked, written first, then one file a finished unit, none of them ever rewritten."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from taskpack import __version__
from taskpack.errors import Conflict, IntegrityError, NotFound, UsageError

from . import disk

FORMAT = 1
HEADER, UNITS, JOURNAL = "run.json", "units", "journal.jsonl"
Json = Mapping[str, Any]


@dataclass(frozen=True)
class Header:
    """`run.json`: what was asked, written once and before everything else."""

    kind: str
    """`task`, `suite`, `forge` or `model`."""
    asked: Json
    """Names of what was asked for: suite, agent, pipeline, task, …"""
    slots: tuple[str, ...]
    """The planned units in order: all of them stand in every denominator, finished or not."""
    packs: tuple[Json, ...] = ()
    """`name`, `version` and `content` (a digest) of each pack that decides what the run means."""
    target: str = ""
    options: Json = field(default_factory=dict)
    probe: Json = field(default_factory=dict)
    """The machine, as `runtime.probe` sees it."""

    def to_dict(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "kind": "run",
            "run": self.kind,
            "taskpack": __version__,
            "asked": dict(self.asked),
            "packs": [dict(pack) for pack in self.packs],
            "target": self.target,
            "options": dict(self.options),
            "slots": list(self.slots),
            "probe": dict(self.probe),
        }


@dataclass(frozen=True)
class Unit:
    """`units/<slot>.json`: one candidate, judged, whoever made it."""

    key: Json
    """`harness`, `candidate`, `attempt`, `target`, `toolchain`: the same key is the same work."""
    result: Json
    """What the harness said, as it said it."""
    score: Json | None = None
    producer: Json = field(default_factory=dict)
    """Where the candidate came from: an agent's or a stage's own facts, such as seconds and exit; testimony."""

    def to_dict(self, slot: str) -> dict[str, Any]:
        return {"format": FORMAT, "kind": "unit", "slot": slot, "unit": self.key, "result": self.result, "score": self.score, "producer": self.producer}


@dataclass(frozen=True)
class Run:
    """A folder that holds a run."""

    folder: Path
    header: Header
    taskpack: str = __version__
    """The version that started it."""


def slot_name(task: str, attempt: int) -> str:
    """`arena.cpp2cpp-softmax.1`: where the unit of a task's attempt (from 1) is kept."""
    return f"{task.replace('/', '.')}.{attempt}"


def unit_key(result: Json, attempt: int) -> dict[str, Any]:
    """The key of a unit with that result."""
    digests = result["digests"]
    return {
        "harness": digests["harness"],
        "candidate": digests["candidate"],
        "attempt": attempt,
        "target": result["target"],
        "toolchain": result["toolchain"],
    }


def new_folder(runs: Path) -> Path:
    """A name of its own below `runs`, as `20260131T120000Z-1a2b3c4d`; nothing is made."""
    return runs / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(4)}"


def create_run(folder: Path, header: Header) -> Run:
    """Starts a run. Raises Conflict where there is one already."""
    (folder / UNITS).mkdir(parents=True, exist_ok=True)
    if not disk.put_if_absent(folder / HEADER, disk.to_text(header.to_dict())):
        raise Conflict(f"there is a run in {folder} already", hint="`--resume` goes on with it; another folder starts anew")
    return Run(folder, header)


def open_run(folder: Path) -> Run:
    """The run in a folder. Raises NotFound where there is none, IntegrityError where it cannot be read."""
    if not (folder / HEADER).is_file():
        raise NotFound(f"there is no run in {folder}", hint=f"a run is a folder with a {HEADER}; runs are kept in .taskpack/runs/")
    said = _read(folder / HEADER, "run")
    with _readable(folder / HEADER):
        header = Header(
            said["run"],
            said["asked"],
            tuple(said["slots"]),
            tuple(said.get("packs", ())),
            said.get("target", ""),
            said.get("options", {}),
            said.get("probe", {}),
        )
        return Run(folder, header, said["taskpack"])


def write_unit(run: Run, slot: str, unit: Unit, files: Mapping[str, bytes]) -> None:
    """Keeps a finished unit: first its files (path → content) in `units/<slot>/`, then `units/<slot>.json`, which makes it count.

    Raises Conflict where the slot is taken: a unit is never rewritten.
    """
    units = run.folder / UNITS
    path = units / f"{slot}.json"
    if path.exists():
        raise _taken(run, slot)
    disk.put_folder(units / slot, files)
    if not disk.put_if_absent(path, disk.to_text(unit.to_dict(slot))):
        raise _taken(run, slot)


def read_units(run: Run) -> dict[str, Unit]:
    """Slot → unit of every finished unit, in the planned order, then others by name. Raises IntegrityError for a file that cannot be read."""
    found = {path.name.removesuffix(".json"): path for path in sorted((run.folder / UNITS).glob("[!.]*.json"))}
    slots = [*(slot for slot in run.header.slots if slot in found), *(slot for slot in found if slot not in run.header.slots)]
    return {slot: _read_unit(found[slot]) for slot in slots}


def note_event(run: Run, event: str, **facts: Any) -> None:
    """Adds a line to the journal, which people read and resuming does not."""
    disk.append_line(run.folder / JOURNAL, {"at": round(time.time(), 3), "event": event, **facts})


def read_events(run: Run) -> list[dict[str, Any]]:
    """The journal's lines, without one that a killed writer left half-written."""
    path = run.folder / JOURNAL
    events = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines() if path.is_file() else ():
        with suppress(ValueError):
            events.append(json.loads(line))
    return [event for event in events if isinstance(event, dict) and "event" in event]


@contextmanager
def held(run: Run) -> Iterator[None]:
    """One process at a time goes on with a run; a killed one holds nothing, and what it left half-written goes. Raises Conflict where another one does."""
    handle = os.open(run.folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Conflict(f"another process is going on with the run in {run.folder}", hint="wait for it, or stop it") from None
        disk.sweep(run.folder / UNITS)
        yield
    finally:
        os.close(handle)


def _read_unit(path: Path) -> Unit:
    said = _read(path, "unit")
    with _readable(path):
        return Unit(said["unit"], said["result"], said.get("score"), said.get("producer", {}))


def _read(path: Path, kind: str) -> dict[str, Any]:
    """Keys that are not known are ignored: a later taskpack may have written them."""
    with _readable(path):
        said: dict[str, Any] = json.loads(path.read_bytes())
        if said["format"] != FORMAT:
            raise UsageError(f"{path} is of format {said['format']}, and this taskpack reads format {FORMAT}", hint="a newer taskpack can read it")
        if said["kind"] != kind:
            raise ValueError(f"it is of the kind {said['kind']!r}, not {kind!r}")
    return said


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        problem = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise IntegrityError(f"{path} cannot be read: {problem}", hint="taskpack never leaves such a file; remove it, and `--resume` makes it anew") from None


def _taken(run: Run, slot: str) -> Conflict:
    return Conflict(f"the unit {slot} is in {run.folder} already", hint="a unit is never judged twice in one run")
