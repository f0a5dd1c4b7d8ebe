"""`taskpack run SUITE --agent AGENT`: an agent at work on every task of a suite, unit by unit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from taskpack.errors import UsageError

from .kept import terminal_width
from .places import runs_folder, shown
from .subjects import load_agent, load_kind

if TYPE_CHECKING:
    from taskpack.packs.load import Loaded
    from taskpack.packs.shelf import Shelf

    from .walls import Walls


def is_suite(words: Sequence[str]) -> bool:
    """Whether one pack is named, and is a suite."""
    from .subjects import find_subjects, kind_of

    return len(words) == 1 and [kind_of(folder) for folder in find_subjects(words).folders] == ["suite"]


def run_suite(words: Sequence[str], agent: str | None, target: str, *, is_quick: bool, walls: Walls, is_resumed: bool, as_json: bool) -> int:
    """Judges what is not judged yet; 0 when every planned unit was, whatever its verdict: that is the score's business."""
    from taskpack.arena.suite import plan_suite, start_run
    from taskpack.arena.suite import run_suite as judge_units
    from taskpack.reports.run import render_run
    from taskpack.runs.folder import read_units
    from taskpack.runs.judging import judge
    from taskpack.scoring.summary import summarise_run

    from .progress import Progress
    from .subjects import find_subjects

    if not is_suite(words):
        raise UsageError("`--agent` and `--resume` are for one suite", hint="`taskpack run suites/first-light --agent replay`")
    subjects = find_subjects(words)
    (folder,), shelf = subjects.folders, subjects.shelf
    suite, chosen = load_kind(folder, "suite", shelf), load_agent(agent, shelf)
    target = _target(suite, target, shelf)
    plan = plan_suite(suite, chosen, shelf, target, lambda task: _prepare(task, target, shelf, walls), is_quick=is_quick)
    run = start_run(plan, runs_folder(folder), is_resumed=is_resumed)
    click.echo(f"kept in {shown(run.folder)}", err=True)

    def judge_aloud(task: str, harness: Path, words: Sequence[str]) -> dict[str, Any]:
        with Progress(task) as progress:
            return judge(harness, words, progress.hear)[0]

    for _ in judge_units(plan, run, judge_aloud):
        pass
    units = read_units(run)
    if as_json:
        click.echo(json.dumps(summarise_run(run.header, units), indent=1, ensure_ascii=False))
    else:
        click.echo(render_run(run, units, colour=True, width=terminal_width()), nl=False)
    return 0


def _target(suite: Loaded, word: str, shelf: Shelf) -> str:
    """What the command line says, else what the suite says, else what each task finds on this machine."""
    from taskpack.packs.suite import SuitePack

    from .targets import AUTO, named_target

    assert isinstance(suite.document, SuitePack)
    return named_target(word, shelf) if word != AUTO else suite.document.suite.target or AUTO


def _prepare(task: Path, target: str, shelf: Shelf, walls: Walls) -> Any:
    from taskpack.arena.briefing import brief

    from .building import build
    from .targets import choose_target

    return build(task, target, shelf).path, brief(task, choose_target(target, task, shelf), shelf), tuple(walls.words(task, shelf))
