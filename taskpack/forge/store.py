"""Trials as units of a run, so that a run that was interrupted goes on where it stopped."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from taskpack.errors import UsageError
from taskpack.runs.folder import UNITS, Run, Unit, note_event, read_events, read_units, unit_key, write_unit

from .loop import StageEnd
from .trials import Files, Trial, text_of

_STAGE = "stage"
"""The event in a run's journal."""


def keep_trial(run: Run, trial: Trial, kept: Mapping[str, bytes]) -> None:
    """Writes a trial as `units/<stage>.<round>.json`, its files and what else is kept beside it. Raises Conflict where it is there already."""
    result = dict(trial.result or {})
    key = unit_key(result, trial.round) if result else {"attempt": trial.round}
    said = {"stage": trial.stage, "round": trial.round, "outcome": trial.outcome, "reason": trial.reason, "files": sorted(trial.files)}
    files = {f"candidate/{name}": text.encode() for name, text in trial.files.items()}
    write_unit(run, slot_of(trial), Unit(key, result, producer={**trial.producer, **said}), {**kept, **files})


def keep_end(run: Run, end: StageEnd) -> None:
    """Notes how a stage ended, and of which round its result is; a stage that is gone through again is noted again."""
    note_event(run, _STAGE, stage=end.stage, skipped=end.skipped, taken=end.taken.round if end.taken else None)


def read_tree(run: Run) -> dict[str, Any]:
    """A run for machines: its stages in order, each with its `state`, `skipped` (why), `taken` (the round that stands at its end) and its `trials`.

    Raises UsageError where it is of another kind.
    """
    if run.header.kind != "forge":
        raise UsageError(
            f"{run.folder} is a run of the kind `{run.header.kind}`, and trials are those of `taskpack optimize`", hint="`taskpack report` shows it"
        )
    ends = {event["stage"]: event for event in read_events(run) if event["event"] == _STAGE}
    stages = {stage: {"stage": stage, **_ended(ends.get(stage)), "trials": []} for stage in run.header.asked["stages"]}
    for slot, unit in read_units(run).items():
        said = unit.producer
        told = {key: said[key] for key in ("round", "outcome", "reason")}
        shown = {"slot": slot, **told, "speedup": unit.result.get("speedup"), "candidate": unit.key.get("candidate"), "agent": said.get("agent")}
        stages[said["stage"]]["trials"].append(shown)
    return {"format": 1, "kind": "trials", "run": run.header.to_dict(), "stages": list(stages.values())}


def _ended(end: Mapping[str, Any] | None) -> dict[str, Any]:
    if end is None:
        return {"state": "not ended", "skipped": "", "taken": None}
    return {"state": "skipped" if end["skipped"] else "ended", "skipped": end["skipped"], "taken": end["taken"]}


def read_trials(run: Run) -> tuple[Trial, ...]:
    """Every trial that was kept, by stage and round."""
    trials = [_trial(run.folder / UNITS / slot, unit.producer, unit.result) for slot, unit in read_units(run).items() if "stage" in unit.producer]
    return tuple(sorted(trials, key=lambda trial: (trial.stage, trial.round)))


def slot_of(trial: Trial) -> str:
    return f"{trial.stage}.{trial.round:03}"


def _trial(folder: Path, said: Mapping[str, Any], result: Mapping[str, Any]) -> Trial:
    files: Files = {name: text_of((folder / "candidate" / name).read_bytes()) for name in said["files"]}
    producer = {key: value for key, value in said.items() if key == "agent"}
    return Trial(said["stage"], said["round"], files, said["outcome"], said["reason"], result.get("speedup"), result or None, producer)
