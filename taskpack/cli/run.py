"""`taskpack run`: builds what is not built yet, judges a candidate, shows the verdicts and keeps them."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from taskpack.errors import TaskpackError, UsageError

from .places import runs_folder, shown
from .walls import Walls, wall_options
from .wording import say_error

if TYPE_CHECKING:
    from taskpack.packs.shelf import Shelf

Result = dict[str, Any]


@dataclass(frozen=True)
class _Options:
    """What the command line says, for every task alike."""

    candidate: Path | None
    target: str
    seed: str | None
    is_quick: bool
    walls: Walls

    def words(self, folder: Path, shelf: Shelf) -> list[str]:
        """As the harness of the pack in `folder` wants them."""
        candidate = ["--candidate", str(self.candidate.resolve())] if self.candidate else []
        seed = ["--seed", self.seed] if self.seed else []
        return [*candidate, *seed, *(["--quick"] if self.is_quick else []), *self.walls.words(folder, shelf)]


@dataclass(frozen=True)
class _Outcome:
    """What became of one task: its result, or why there is none."""

    code: int
    folder: Path
    result: Result | None = None
    kept: Path | None = None
    reason: str = ""


@click.command("run")
@click.argument("packs", nargs=-1, metavar="[PACKS]...")
@click.option(
    "--candidate",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="Folder with the candidate's files. Default: the task's own start.",
)
@click.option("--target", default="auto", show_default=True, metavar="NAME", help="Where to judge, such as cpu or h200; auto: the machine's GPU, or its CPU.")
@click.option("--seed", metavar="HEX", help="Repeat a run: the seed of its result.")
@click.option("--quick", is_flag=True, help="Measure briefly: wider intervals.")
@wall_options
@click.option("--agent", metavar="NAME", help="Of a suite: who works on it, such as none or replay, or the folder of a pack.")
@click.option("--resume", is_flag=True, help="Of a suite: go on with the newest run of the same suite, agent, target and options.")
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON: one object, or a list where several tasks are meant.")
def command(
    packs: tuple[str, ...], candidate: Path | None, target: str, seed: str | None, quick: bool, walls: Walls, agent: str | None, resume: bool, as_json: bool
) -> int:
    """Judge a candidate by the gates compile, correct, general and fast; or, of a suite, what an agent makes of its tasks.

    Builds the harness first where it is not up to date. Exits 0 if every gate passed or was left out for a stated reason, 1 if one did not. Of
    several tasks all are judged, and the worst exit code is returned. Results are kept in .taskpack/runs/ of the pack; `taskpack report` shows one again.
    """
    from taskpack.runs.judging import require_torch

    from .subjects import find_tasks
    from .suite import is_suite, run_suite

    require_torch()
    if agent is not None or resume or is_suite(packs):
        if candidate is not None or seed is not None:
            raise UsageError("--candidate and --seed are for one task, and a suite has an agent and many of them")
        return run_suite(packs, agent, target, is_quick=quick, walls=walls, is_resumed=resume, as_json=as_json)
    subjects = find_tasks(packs)
    if candidate is not None and len(subjects.folders) != 1:
        raise UsageError(f"--candidate is for one task, and {len(subjects.folders)} were named")
    options = _Options(candidate, target, seed, quick, walls)
    outcomes = []
    for folder in subjects.folders:
        outcome = _try(folder, subjects.shelf, options, is_raised=len(subjects.folders) == 1 and not as_json)
        outcomes.append(outcome)
        if not as_json:
            _show(outcome)
    _conclude(outcomes, as_json)
    return max(outcome.code for outcome in outcomes)


def _try(folder: Path, shelf: Shelf, options: _Options, *, is_raised: bool) -> _Outcome:
    """Judges one task; where it is one of several, or JSON is wanted, what stops it becomes an outcome."""
    try:
        return _judge(folder, shelf, options)
    except TaskpackError as error:
        if is_raised:
            raise
        return _Outcome(say_error(error), folder, reason=error.message)


def _judge(folder: Path, shelf: Shelf, options: _Options) -> _Outcome:
    from taskpack.packs.names import read_name
    from taskpack.runs.judging import judge

    from .building import build
    from .progress import Progress

    runs = runs_folder(folder)  # before the work: what cannot be kept is better known at once
    built = build(folder, options.target, shelf)
    files = _read_candidate(built.path, options.candidate) if options.candidate else {}
    with Progress(read_name(folder) or shown(folder)) as progress:
        result, code = judge(built.path, options.words(folder, shelf), progress.hear)
    return _Outcome(code, folder, result, _keep(result, runs, options, files))


def _read_candidate(harness: Path, candidate: Path) -> dict[str, bytes]:
    """Those of the files that the harness asks for; it says itself what is wrong with the others."""
    from taskpack.runs.judging import read_plan

    paths = [candidate / name for name in read_plan(harness)["candidate"]["files"]]
    return {path.relative_to(candidate).as_posix(): path.read_bytes() for path in paths if path.is_file() and not path.is_symlink()}


def _keep(result: Result, runs: Path, options: _Options, files: dict[str, bytes]) -> Path:
    """Writes a run with one unit and its candidate, such as `.taskpack/runs/20260131T120000Z-1a2b3c4d/`."""
    from taskpack.runs.folder import Header, Unit, create_run, new_folder, slot_name, unit_key, write_unit

    task = {"name": result["task"], "version": result["version"]}
    slot = slot_name(result["task"], 1)
    header = Header("task", {"task": result["task"]}, (slot,), (task,), result["target"], {"quick": options.is_quick}, result["probe"])
    run = create_run(new_folder(runs), header)
    write_unit(run, slot, Unit(unit_key(result, 1), result), files)
    return run.folder


def _show(outcome: _Outcome) -> None:
    from taskpack.reports.text import render_result

    if outcome.result and outcome.kept:
        width = shutil.get_terminal_size((120, 24)).columns
        click.echo(render_result(outcome.result, colour=True, width=max(width, 72)))
        click.echo(f"kept in {shown(outcome.kept)}; --seed {outcome.result['seed']} repeats it", err=True)


def _conclude(outcomes: list[_Outcome], as_json: bool) -> None:
    from taskpack.reports.text import render_summary

    if as_json:
        results = [outcome.result or {"format": 1, "kind": "error", "task": shown(outcome.folder), "reason": outcome.reason} for outcome in outcomes]
        click.echo(json.dumps(results if len(results) > 1 else results[0], indent=1, ensure_ascii=False))
    elif len(outcomes) > 1:
        click.echo(render_summary([outcome.result or (shown(outcome.folder), outcome.reason) for outcome in outcomes], colour=True), nl=False)
