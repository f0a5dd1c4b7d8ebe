"""`taskpack optimize`: a pipeline's stages, each proposal judged against its stage's input."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from taskpack.errors import UsageError

from .places import runs_folder, shown
from .walls import Walls, wall_options

if TYPE_CHECKING:
    from taskpack.forge.loop import Propose, StageEnd
    from taskpack.packs.load import Loaded
    from taskpack.packs.pipeline import Pipeline
    from taskpack.packs.shelf import Shelf

_TUNE = "tune"


@click.command("optimize")
@click.argument("task")
@click.option(
    "--agent", required=True, metavar="NAME", help="Who proposes: tune changes numbers in the source; an agent's pack; a folder of <stage>/<round>/ with files."
)
@click.option("--pipeline", metavar="NAME", help="Default: pipelines/tune for tune, else pipelines/xe-nine.")
@click.option("--stage", "only", multiple=True, metavar="ID", help="Only this stage; may be given several times.")
@click.option(
    "--candidate", type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="DIR", help="Where to start. Default: the task's own start."
)
@click.option("--target", default="auto", show_default=True, metavar="NAME", help="Where to judge, such as cpu or h200; auto: the machine's GPU, or its CPU.")
@click.option("--quick", is_flag=True, help="Measure briefly: wider intervals, smaller gains are not seen.")
@wall_options
@click.option("--resume", metavar="RUN", help="Go on with this run: its folder, or its name in .taskpack/runs/.")
def command(
    task: str, agent: str, pipeline: str | None, only: tuple[str, ...], candidate: Path | None, target: str, quick: bool, walls: Walls, resume: str | None
) -> None:
    """Improve a candidate of TASK stage by stage.

    A proposal is taken over if it is right on every case, seen and unseen, and, measured side by side with the stage's input, faster beyond noise, with no
    case slower beyond noise. Where no time counts as speed, being right is all that can be shown, and is said to be all. What stands at the end is kept in
    the run's folder; `taskpack trials` shows how it came about.
    """
    from taskpack.forge.loop import run_pipeline
    from taskpack.forge.stages import order_stages
    from taskpack.forge.store import keep_end, keep_trial, read_trials
    from taskpack.forge.trials import Proposal, Trial
    from taskpack.forge.work import go_on_with, header_of, open_work, read_prompts, write_files
    from taskpack.runs.folder import create_run, held, new_folder
    from taskpack.runs.judging import require_torch

    from .building import build
    from .kept import find_run
    from .subjects import find_task

    require_torch()
    folder, shelf = find_task(task, "one is optimised at a time")
    loaded, stages = _find_pipeline(pipeline or ("pipelines/tune" if agent == _TUNE else "pipelines/xe-nine"), only, shelf)
    who = _find_agent(agent, shelf)
    work = open_work(build(folder, target, shelf).path, candidate)
    walled = walls.words(folder, shelf)
    propose = _proposer(who, folder, work.plan["target"]["name"], work.harness, walled, shelf)
    header = header_of(work, loaded, [stage.id for stage in order_stages(stages, only or None)], who, quick)
    run = go_on_with(find_run(resume).folder, header) if resume else create_run(new_folder(runs_folder(folder)), header)
    click.echo(f"kept in {shown(run.folder)}", err=True)

    def record(trial: Trial, proposal: Proposal) -> None:
        keep_trial(run, trial, proposal.kept)
        click.echo(f"{trial.stage} {trial.round}: {trial.outcome}: {trial.reason.partition(chr(10))[0]}", err=True)

    files = work.start
    judge = partial(work.judge, [*(["--quick"] if quick else []), *walled])
    with held(run):
        for end in run_pipeline(stages, work.start, read_prompts(loaded), work.facts, propose, judge, read_trials(run), record, only or None):
            keep_end(run, end)
            files = end.files
            click.echo(f"{end.stage}: {_ending(end, agent)}")
    click.echo(f"{'as it was' if files == work.start else 'changed'}: {shown(write_files(run.folder / 'candidate', files))}")


def _find_agent(word: str, shelf: Shelf) -> str | Loaded:
    """`tune`, a folder of proposals, or an agent."""
    from taskpack.packs.names import FILE

    from .subjects import agents, load_agent

    if word == _TUNE or (Path(word).is_dir() and not (Path(word) / FILE).is_file()):
        return word
    if not Path(word).is_dir() and "/" not in word and word not in agents(shelf):
        raise UsageError(
            f"--agent: there is neither an agent nor a folder `{word}`",
            hint=f"`{_TUNE}`, {', '.join(agents(shelf))}, the folder of an agent's pack, or one that holds <stage>/<round>/ with a candidate's files",
        )
    return load_agent(word, shelf)


def _proposer(who: str | Loaded, task: Path, target: str, harness: Path, walls: list[str], shelf: Shelf) -> Propose:
    from taskpack.arena.briefing import brief
    from taskpack.forge.agents import employ
    from taskpack.forge.replay import replay
    from taskpack.forge.tune import tune
    from taskpack.packs.agent import AgentPack

    if who == _TUNE:
        return tune
    if isinstance(who, str):
        return replay(Path(who))
    assert isinstance(who.document, AgentPack)
    briefing = brief(task, target, shelf)
    prepared = who.document.agent.replay
    if prepared is None:
        return employ(who.document.agent, who.name, briefing, harness, walls)
    if briefing.task not in prepared.stages:
        raise UsageError(
            f"{who.name} has no proposals for the stages of {briefing.task}", hint="`[agent.replay.stages]` names a folder of <stage>/<round>/ by task"
        )
    return replay(who.folder / prepared.stages[briefing.task])


def _find_pipeline(name: str, only: tuple[str, ...], shelf: Shelf) -> tuple[Loaded, Pipeline]:
    from taskpack.packs.pipeline import PipelinePack

    found = shelf.fetch(f"pipelines/{name}" if shelf.find(f"pipelines/{name}") else name)
    if not isinstance(found.document, PipelinePack):
        raise UsageError(f"`{name}` is of the kind `{found.kind}`, not a pipeline")
    known = [stage.id for stage in found.document.pipeline.stages]
    for stage in only:
        if stage not in known:
            raise UsageError(f"--stage: `{name}` has no stage `{stage}`", hint=f"stages: {', '.join(known)}")
    return found, found.document.pipeline


def _ending(end: StageEnd, agent: str) -> str:
    if end.skipped:
        return end.skipped
    if not end.trials:
        return "nothing was proposed: tune finds no number in the source that it could change" if agent == _TUNE else "nothing was proposed"
    return f"taken over: {end.taken.reason}" if end.taken else f"nothing taken over in {len(end.trials)} rounds"
