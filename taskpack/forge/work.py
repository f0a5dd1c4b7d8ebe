"""A task's harness as a pipeline sees it: where it starts, what can be known of a candidate, and one measured against another."""

from __future__ import annotations

import json
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from taskpack import __version__
from taskpack.digest import digest_bytes, digest_value
from taskpack.errors import UsageError
from taskpack.packs.load import Loaded
from taskpack.packs.pipeline import PipelinePack
from taskpack.registry.gather import identify
from taskpack.runs.folder import Header, Run, open_run
from taskpack.runs.judging import judge
from taskpack.runtime.probe import probe

from .facts import facts_of
from .stages import Facts
from .trials import Files, text_of


@dataclass(frozen=True)
class Work:
    """What `open_work` found."""

    harness: Path
    plan: Mapping[str, Any]
    start: Files
    digest: str
    """Of the harness."""

    def facts(self, files: Files) -> Facts:
        return facts_of(self.plan, files)

    def judge(self, options: Sequence[str], files: Files, against: Files) -> Mapping[str, Any]:
        """The harness's result for `files` measured against `against`."""
        with tempfile.TemporaryDirectory(prefix="taskpack-candidate-") as scratch:
            folders = [write_files(Path(scratch) / name, side) for name, side in (("candidate", files), ("against", against))]
            return judge(self.harness, ["--candidate", str(folders[0]), "--against", str(folders[1]), *options], lambda _: None)[0]


def open_work(harness: Path, candidate: Path | None) -> Work:
    """The work on a harness from a candidate, or from the task's own start. Raises UsageError where there is none."""
    with zipfile.ZipFile(harness) as archive:
        plan, digest = json.loads(archive.read("plan.json")), digest_bytes(archive.read("MANIFEST.json"))
        side = plan["candidate"]
        if candidate is not None:
            missing = [name for name in side["files"] if not (candidate / name).is_file()]
            if missing:
                raise UsageError(f"--candidate: {candidate} has no file `{missing[0]}`")
            return Work(harness, plan, {name: text_of((candidate / name).read_bytes()) for name in side["files"]}, digest)
        if side["start"] is None:
            raise UsageError(f"{plan['task']} has no candidate of its own", hint="say where to start: --candidate DIR")
        return Work(harness, plan, {name: text_of(archive.read(f"pack/{side['start']}/{name}")) for name in side["files"]}, digest)


def header_of(work: Work, pipeline: Loaded, stages: Sequence[str], agent: str | Loaded, is_quick: bool) -> Header:
    """What is asked of a run: everything on which its trials depend."""
    own = [identify(pipeline)] if isinstance(agent, str) else [identify(pipeline), identify(agent)]
    packs = ({"name": work.plan["task"], "version": work.plan["version"]}, *own)
    digests = {"harness": work.digest, "start": digest_value(dict(work.start))}
    name = agent if isinstance(agent, str) else agent.name
    asked = {"task": work.plan["task"], "pipeline": pipeline.name, "agent": name, "stages": list(stages)}
    return Header("forge", asked, (), packs, work.plan["target"]["name"], {"quick": is_quick, **digests}, probe(gpus=False))


def go_on_with(folder: Path, header: Header) -> Run:
    """The run that is there already; raises UsageError where it was of something else, or in another way: its trials would not compare."""
    run = open_run(folder)
    if run.taskpack != __version__:
        raise UsageError(f"{folder} is a run of taskpack {run.taskpack}, and this is {__version__}", hint="start a new run")
    for what in ("kind", "asked", "packs", "target", "options", "probe"):
        there, here = getattr(run.header, what), getattr(header, what)
        if there != here:
            raise UsageError(f"{folder} is a run with other {what}: {json.dumps(there)}, and not {json.dumps(here)}", hint="resume as it was started")
    return run


def read_prompts(pipeline: Loaded) -> dict[str, str]:
    """Stage → what a proposer is told. Raises UsageError for what is no text."""
    document = pipeline.document
    assert isinstance(document, PipelinePack)
    try:
        return {stage.id: (pipeline.folder / stage.prompt).read_text(encoding="utf-8") for stage in document.pipeline.stages}
    except UnicodeDecodeError as error:
        raise UsageError(f"a stage's prompt of {pipeline.name} is not UTF-8: {error}") from None


def write_files(folder: Path, files: Files) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    return folder
