"""Propose, check by the rules, verify by the harness, refine: one stage after another, each judged against its own input."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from taskpack.packs.pipeline import Accept, Pipeline, Stage

from .accept import judge_result
from .stages import Facts, order_stages, reason_to_skip
from .trials import REPEATED, TAKEN_OVER, Files, Proposal, Request, Trial

Propose = Callable[[Request], Proposal | None]
"""Gives a stage's next candidate, or None where it has no more."""
Judge = Callable[[Files, Files], Mapping[str, Any]]
"""The harness's result for a candidate measured against another one."""

_STUCK = 2
"""A proposer that repeats itself so often in a row has nothing more to say in a stage."""


@dataclass(frozen=True)
class StageEnd:
    """How a stage ended."""

    stage: str
    skipped: str
    """Why the stage had nothing to do; empty where it ran."""
    trials: tuple[Trial, ...]
    taken: Trial | None
    """The best of those that were taken over."""
    files: Files
    """What the next stage starts from: that trial's, else the stage's input."""


def run_pipeline(
    pipeline: Pipeline,
    start: Files,
    prompts: Mapping[str, str],
    facts_of: Callable[[Files], Facts],
    propose: Propose,
    judge: Judge,
    done: Sequence[Trial],
    record: Callable[[Trial, Proposal], None],
    only: Sequence[str] | None = None,
) -> Iterator[StageEnd]:
    """Every stage in order. `done` are the trials of an interrupted run: they are taken as they are, and `record` gets only those that are new."""
    files = start
    for stage in order_stages(pipeline, only):
        facts = facts_of(files)
        if why := reason_to_skip(stage, facts):
            yield StageEnd(stage.id, why, (), None, files)
            continue
        known = [trial for trial in done if trial.stage == stage.id]
        trials = tuple(_trials(pipeline, stage, files, prompts[stage.id], str(facts["language"]), propose, judge, known, record))
        taken = best_of(trials)
        files = taken.files if taken else files
        yield StageEnd(stage.id, "", trials, taken, files)


def best_of(trials: Sequence[Trial]) -> Trial | None:
    """The taken-over trial that is surely the fastest; where none was measured, the last one that is right; None where none was taken over."""
    taken = [trial for trial in trials if trial.outcome in TAKEN_OVER]
    return max(taken, key=lambda trial: (trial.speedup["low"] if trial.speedup else 0.0, trial.round), default=None)


def _trials(
    pipeline: Pipeline,
    stage: Stage,
    start: Files,
    prompt: str,
    language: str,
    propose: Propose,
    judge: Judge,
    known: Sequence[Trial],
    record: Callable[[Trial, Proposal], None],
) -> Iterator[Trial]:
    history: tuple[Trial, ...] = tuple(known)
    yield from history
    for number in range(len(history) + 1, (stage.rounds or pipeline.rounds) + 1):
        if [trial.outcome for trial in history[-_STUCK:]] == [REPEATED] * _STUCK:
            return
        proposal = propose(Request(stage, prompt, language, start, best_of(history), history))
        if proposal is None:
            return
        trial = _try(stage, number, proposal, start, history, judge, stage.accept or pipeline.accept)
        record(trial, proposal)
        history = (*history, trial)
        yield trial


def _try(stage: Stage, number: int, proposal: Proposal, start: Files, history: Sequence[Trial], judge: Judge, accept: Accept) -> Trial:
    files = proposal.files
    earlier = next((f"round {trial.round}" for trial in history if dict(trial.files) == dict(files)), None)
    if dict(files) == dict(start):
        earlier = "the stage's input"
    if earlier:
        return Trial(stage.id, number, files, REPEATED, f"the same as {earlier}", producer=proposal.producer)
    result = judge(files, start)
    outcome, reason = judge_result(result, accept)
    return Trial(stage.id, number, files, outcome, reason, result["speedup"], result, proposal.producer)
