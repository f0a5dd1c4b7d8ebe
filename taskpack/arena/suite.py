"""A suite judged unit by unit: workspace, agent, candidate, gates, score; what was finished before is not done again."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from taskpack import __version__
from taskpack.packs.agent import AgentPack
from taskpack.packs.load import Loaded
from taskpack.packs.shelf import Shelf
from taskpack.packs.suite import SuitePack
from taskpack.packs.task import TaskPack
from taskpack.registry.gather import identify
from taskpack.runs.folder import HEADER, Header, Run, Unit, create_run, held, new_folder, note_event, open_run, read_units, slot_name, unit_key, write_unit
from taskpack.runs.judging import HarnessError
from taskpack.runtime.probe import probe
from taskpack.scoring.score import Scoring, score_unit, scoring_of

from .briefing import Briefing
from .work import let_work
from .workspace import write_files

Judge = Callable[[str, Path, Sequence[str]], dict[str, Any]]
"""The result for a task of its harness that is called with some words."""


Prepare = Callable[[Path], tuple[Path, Briefing, tuple[str, ...]]]
"""A task's harness, its briefing, and the words with which the harness is always called."""


@dataclass(frozen=True)
class Work:
    """A task of a suite, ready to be worked on."""

    task: str
    harness: Path
    briefing: Briefing
    prepared: Path | None
    """The folder that an agent which replays puts in place."""
    words: tuple[str, ...] = ()
    """With which the harness is always called, such as `--walled` where a stranger's code is in it."""


@dataclass(frozen=True)
class Plan:
    """A suite and an agent, with everything that decides what a run of them means."""

    suite: SuitePack
    agent: AgentPack
    header: Header
    works: Mapping[str, Work]
    """Slot → its work."""

    @property
    def scoring(self) -> Scoring:
        return scoring_of(self.suite.suite)


def plan_suite(suite: Loaded, agent: Loaded, shelf: Shelf, target: str, prepare: Prepare, *, is_quick: bool) -> Plan:
    """What has to be done. Raises whatever is wrong with any of the packs."""
    assert isinstance(suite.document, SuitePack)
    assert isinstance(agent.document, AgentPack)
    tasks = [shelf.fetch(name, suite.document.pack.dependencies[name]) for name in suite.document.suite.tasks]
    ready = {}
    for task in tasks:
        harness, briefing, words = prepare(task.folder)
        ready[task.name] = Work(task.name, harness, briefing, _prepared(agent, task), words)
    attempts = range(1, suite.document.suite.attempts + 1)
    works = {slot_name(task.name, attempt): ready[task.name] for attempt in attempts for task in tasks}
    packs = tuple(identify(pack) for pack in (suite, agent, *tasks))
    options = {"quick": is_quick, "score": scoring_of(suite.document.suite).to_dict()}
    header = Header("suite", {"suite": suite.name, "agent": agent.name}, tuple(works), packs, target, options, probe(gpus=False))
    return Plan(suite.document, agent.document, header, works)


def _prepared(agent: Loaded, task: Loaded) -> Path | None:
    assert isinstance(agent.document, AgentPack)
    assert isinstance(task.document, TaskPack)
    replay = agent.document.agent.replay
    if replay is None:
        return None
    if task.name in replay.candidates:
        return agent.folder / replay.candidates[task.name]
    example = next((one for one in task.document.task.examples if one.name == replay.examples.get(task.name)), None)
    return task.folder / example.folder if example else None


def find_run(plan: Plan, runs: Path) -> Run | None:
    """The newest run below `runs` of the same packs, target and options by the same taskpack on the same machine; None where there is none."""
    for folder in sorted(runs.glob("[!.]*"), reverse=True):
        if (folder / HEADER).is_file():
            run = open_run(folder)
            if run.header == plan.header and run.taskpack == __version__:
                return run
    return None


def start_run(plan: Plan, runs: Path, *, is_resumed: bool) -> Run:
    """A new run below `runs`, or the one that is gone on with."""
    found = find_run(plan, runs) if is_resumed else None
    return found or create_run(new_folder(runs), plan.header)


def run_suite(plan: Plan, run: Run, judge: Judge) -> Iterator[tuple[str, Unit]]:
    """Does what is not done yet and keeps it; yields each new unit. What breaks one unit stops no other; at the end the first such error is raised."""
    broken: list[HarnessError] = []
    with held(run):
        done = read_units(run)
        for slot, work in plan.works.items():
            if slot in done:
                continue
            note_event(run, "begin", slot=slot)
            try:
                unit, files = work_on(plan, work, int(slot.rpartition(".")[2]), judge)
            except HarnessError as error:
                note_event(run, "broken", slot=slot, error=str(error))
                broken.append(error)
                continue
            write_unit(run, slot, unit, files)
            note_event(run, "end", slot=slot, score=(unit.score or {}).get("value"))
            yield slot, unit
    if broken:
        raise broken[0]


def work_on(plan: Plan, work: Work, attempt: int, judge: Judge) -> tuple[Unit, dict[str, bytes]]:
    """One unit from an empty workspace to its score, and the files that are kept of it."""
    worked = let_work(plan.agent.agent, work.briefing, work.harness, work.words, work.prepared)
    result = _judge(work, worked.candidate, judge, ["--quick"] if plan.header.options["quick"] else [])
    producer = {"agent": worked.to_dict(plan.header.asked["agent"])}
    return Unit(unit_key(result, attempt), result, score_unit(plan.scoring, result), producer), worked.kept()


def _judge(work: Work, candidate: Mapping[str, bytes], judge: Judge, words: Sequence[str]) -> dict[str, Any]:
    """In a folder that the agent has never seen, and when nothing of it runs any more."""
    with tempfile.TemporaryDirectory(prefix="taskpack-candidate-") as folder:
        write_files(Path(folder), candidate)
        return judge(work.task, work.harness, ["--candidate", folder, *words, *work.words])
