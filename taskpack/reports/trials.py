"""The trials of a pipeline as a tree. A pure function of the run's JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .text import align, bold, harmless

Json = Mapping[str, Any]


def render_trials(tree: Json, *, colour: bool = False, width: int = 120) -> str:
    """The run in a line, then each stage with its trials; ends in a newline."""
    asked = tree["run"]["asked"]
    trials = [trial for stage in tree["stages"] for trial in stage["trials"]]
    taken = sum(stage["taken"] is not None for stage in tree["stages"])
    head = f"{asked['task']} on {tree['run']['target']}: {asked['pipeline']}, {asked['agent']} proposes: {len(trials)} trials, {taken} taken over"
    rows = [row for stage in tree["stages"] for row in _rows(stage)]
    return "\n".join([bold(head, colour), "", *align(rows, right=(), width=width)]) + "\n"


def _rows(stage: Json) -> Iterator[tuple[str, ...]]:
    trials = stage["trials"]
    words = stage["skipped"] or ("" if trials else "nothing was proposed")
    yield (stage["stage"], "" if stage["state"] == "ended" else stage["state"], words if stage["state"] != "not ended" else "")
    for trial in trials:
        branch = "└─" if trial is trials[-1] else "├─"
        mark = "→ " if trial["round"] == stage["taken"] else "  "
        yield (f"{branch} {trial['round']}", f"{mark}{trial['outcome']}", harmless(trial["reason"].partition("\n")[0]))
