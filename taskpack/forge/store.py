"""Trials as units of a run, so that a run that was interrupted goes on where it stopped."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from taskpack.runs.folder import UNITS, Run, Unit, read_units, unit_key, write_unit

from .trials import Files, Trial


def keep_trial(run: Run, trial: Trial) -> None:
    """Writes a trial as `units/<stage>.<round>.json`, its files beside it. Raises Conflict where it is there already."""
    result = dict(trial.result or {})
    key = unit_key(result, trial.round) if result else {"attempt": trial.round}
    said = {"stage": trial.stage, "round": trial.round, "outcome": trial.outcome, "reason": trial.reason, "files": sorted(trial.files)}
    write_unit(run, slot_of(trial), Unit(key, result, producer=said), {name: text.encode() for name, text in trial.files.items()})


def read_trials(run: Run) -> tuple[Trial, ...]:
    """Every trial that was kept, by stage and round."""
    trials = [_trial(run.folder / UNITS / slot, unit.producer, unit.result) for slot, unit in read_units(run).items() if "stage" in unit.producer]
    return tuple(sorted(trials, key=lambda trial: (trial.stage, trial.round)))


def slot_of(trial: Trial) -> str:
    return f"{trial.stage}.{trial.round:03}"


def _trial(folder: Path, said: Mapping[str, Any], result: Mapping[str, Any]) -> Trial:
    files: Files = {name: (folder / name).read_text(encoding="utf-8") for name in said["files"]}
    return Trial(said["stage"], said["round"], files, said["outcome"], said["reason"], result.get("speedup"), result or None)
