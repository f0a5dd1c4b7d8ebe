"""A task's harness as a pipeline sees it: where it starts, what can be known of a candidate, and one measured against another."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from taskpack.errors import UsageError
from taskpack.packs.load import Loaded
from taskpack.packs.pipeline import PipelinePack
from taskpack.runs.folder import Header, Run, create_run, open_run
from taskpack.runs.judging import judge

from .facts import facts_of
from .stages import Facts
from .trials import Files


@dataclass(frozen=True)
class Work:
    """What `open_work` found."""

    harness: Path
    plan: Mapping[str, Any]
    start: Files

    def facts(self, files: Files) -> Facts:
        side = self.plan["candidate"]
        return facts_of(side["language"], side["execution"], files)

    def judge(self, scratch: Path, options: Sequence[str], files: Files, against: Files) -> Mapping[str, Any]:
        """The harness's result for `files` measured against `against`."""
        folders = write_files(scratch / "candidate", files), write_files(scratch / "against", against)
        words = ["--candidate", str(folders[0]), "--against", str(folders[1]), *options]
        return judge(self.harness, words, lambda _: None)[0]


def open_work(harness: Path, candidate: Path | None) -> Work:
    """The work on a harness from a candidate, or from the task's own start. Raises UsageError where there is none."""
    with zipfile.ZipFile(harness) as archive:
        plan = json.loads(archive.read("plan.json"))
        side = plan["candidate"]
        if candidate is not None:
            missing = [name for name in side["files"] if not (candidate / name).is_file()]
            if missing:
                raise UsageError(f"--candidate: {candidate} has no file `{missing[0]}`")
            return Work(harness, plan, {name: (candidate / name).read_text(encoding="utf-8") for name in side["files"]})
        if side["start"] is None:
            raise UsageError(f"{plan['task']} has no candidate of its own", hint="say where to start: --candidate DIR")
        return Work(harness, plan, {name: archive.read(f"pack/{side['start']}/{name}").decode() for name in side["files"]})


def start_run(folder: Path, work: Work, pipeline: Loaded, agent: str, is_quick: bool) -> Run:
    """A new run of a pipeline on a task in `folder`."""
    packs = ({"name": pipeline.name, "version": pipeline.document.pack.version}, {"name": work.plan["task"], "version": work.plan["version"]})
    return create_run(folder, Header("forge", _asked(work, pipeline, agent), (), packs, work.plan["target"]["name"], {"quick": is_quick}))


def go_on_with(folder: Path, work: Work, pipeline: Loaded, agent: str) -> Run:
    """The run that is there already; raises UsageError where it is of something else."""
    run = open_run(folder)
    if dict(run.header.asked) != _asked(work, pipeline, agent):
        raise UsageError(f"{folder} is a run of {', '.join(map(str, run.header.asked.values()))}", hint="resume with the same task, pipeline and agent")
    return run


def read_prompts(pipeline: Loaded) -> dict[str, str]:
    """Stage → what a proposer is told."""
    document = pipeline.document
    assert isinstance(document, PipelinePack)
    return {stage.id: (pipeline.folder / stage.prompt).read_text(encoding="utf-8") for stage in document.pipeline.stages}


def write_files(folder: Path, files: Files) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    return folder


def _asked(work: Work, pipeline: Loaded, agent: str) -> dict[str, str]:
    return {"task": str(work.plan["task"]), "pipeline": pipeline.name, "agent": agent}
