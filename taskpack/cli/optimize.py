"""`taskpack optimize`: a pipeline's stages, each proposal judged against its stage's input."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from taskpack.errors import UsageError
from taskpack.registry.trust import must_be_walled

from .places import runs_folder, shown

if TYPE_CHECKING:
    from taskpack.forge.loop import Propose, StageEnd
    from taskpack.packs.load import Loaded
    from taskpack.packs.pipeline import Pipeline
    from taskpack.packs.shelf import Shelf

_TUNE = "tune"


@click.command("optimize")
@click.argument("task")
@click.option("--agent", required=True, metavar="NAME", help="Who proposes: tune changes numbers in the source; a folder holds <stage>/<round>/ with files.")
@click.option("--pipeline", metavar="NAME", help="Default: pipelines/tune for tune, else pipelines/xe-nine.")
@click.option("--stage", "only", multiple=True, metavar="ID", help="Only this stage; may be given several times.")
@click.option(
    "--candidate", type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="DIR", help="Where to start. Default: the task's own start."
)
@click.option("--target", default="auto", show_default=True, metavar="NAME", help="Where to judge, such as cpu or h200; auto: the machine's GPU, or its CPU.")
@click.option("--quick", is_flag=True, help="Measure briefly: wider intervals, smaller gains are not seen.")
@click.option("--trust", is_flag=True, help="Run a pack of an index also where this machine cannot wall it off; remembered for its content.")
@click.option("--resume", type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="RUN", help="Go on with this run.")
def command(
    task: str, agent: str, pipeline: str | None, only: tuple[str, ...], candidate: Path | None, target: str, quick: bool, trust: bool, resume: Path | None
) -> None:
    """Improve a candidate of TASK stage by stage.

    A proposal is taken over if it is right on every case, seen and unseen, and, measured side by side with the stage's input, faster beyond noise, with no
    case slower beyond noise. Where no time counts as speed, being right is all that can be shown, and is said to be all. What stands at the end is kept in
    the run's folder.
    """
    from taskpack.forge.loop import run_pipeline
    from taskpack.forge.store import keep_trial, read_trials
    from taskpack.forge.trials import Trial
    from taskpack.forge.work import go_on_with, header_of, open_work, read_prompts, write_files
    from taskpack.runs.folder import create_run, held, new_folder
    from taskpack.runs.judging import require_torch

    from .building import build
    from .subjects import find_tasks

    require_torch()
    propose = _proposer(agent)
    subjects = find_tasks((task,))
    if len(subjects.folders) != 1:
        raise UsageError(f"{task} holds {len(subjects.folders)} tasks, and one is optimised at a time")
    loaded, stages = _find_pipeline(pipeline or ("pipelines/tune" if agent == _TUNE else "pipelines/xe-nine"), only, subjects.shelf)
    work = open_work(build(subjects.folders[0], target, subjects.shelf).path, candidate)
    walled = must_be_walled(subjects.folders[0], subjects.shelf, is_trusting=trust)
    options = [*(["--quick"] if quick else []), *(["--walled"] if walled else [])]
    header = header_of(work, loaded, agent, quick)
    run = go_on_with(resume, header) if resume else create_run(new_folder(runs_folder(subjects.folders[0])), header)

    def record(trial: Trial) -> None:
        keep_trial(run, trial)
        click.echo(f"{trial.stage} {trial.round}: {trial.outcome}: {trial.reason.partition(chr(10))[0]}", err=True)

    files = work.start
    with held(run), tempfile.TemporaryDirectory() as scratch:
        judge = partial(work.judge, Path(scratch), options)
        for end in run_pipeline(stages, work.start, read_prompts(loaded), work.facts, propose, judge, read_trials(run), record, only or None):
            files = end.files
            click.echo(f"{end.stage}: {_ending(end, agent)}")
    click.echo(f"{'as it was' if files == work.start else 'changed'}: {shown(write_files(run.folder / 'candidate', files))}")


def _proposer(agent: str) -> Propose:
    from taskpack.forge.replay import replay
    from taskpack.forge.tune import tune

    if agent == _TUNE:
        return tune
    if not Path(agent).is_dir():
        raise UsageError(f"--agent: there is no folder `{agent}`", hint="`tune`, or a folder that holds <stage>/<round>/ with a candidate's files")
    return replay(Path(agent))


def _find_pipeline(name: str, only: tuple[str, ...], shelf: Shelf) -> tuple[Loaded, Pipeline]:
    from taskpack.packs.pipeline import PipelinePack

    found = shelf.fetch(name)
    if not isinstance(found.document, PipelinePack):
        raise UsageError(f"`{name}` is of the kind `{found.kind}`, not a pipeline")
    known = [stage.id for stage in found.document.pipeline.stages]
    for stage in only:
        if stage not in known:
            raise UsageError(f"--stage: `{name}` has no stage `{stage}`", hint=f"stages: {', '.join(known)}")
    return found, found.document.pipeline


def _ending(end: StageEnd, agent: str) -> str:
    taken = [trial.reason for trial in end.trials if trial.files == end.files]
    if end.skipped:
        return end.skipped
    if not end.trials:
        return "nothing was proposed: tune finds no number in the source that it could change" if agent == _TUNE else "nothing was proposed"
    return f"taken over: {taken[-1]}" if taken else f"nothing taken over in {len(end.trials)} rounds"
