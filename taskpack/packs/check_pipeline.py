"""Checks of what a pipeline means: stages are told apart, their order has no circle, and their prompts are there."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from taskpack.runtime.languages import EXECUTION

from .check_files import check_path
from .findings import Finding
from .pipeline import STAGE_FACTS, Stage
from .spans import Path
from .subject import PipelineSubject, read_expression
from .suggest import hint_among

PipelineCheck = Callable[[PipelineSubject], Iterator[Finding]]


def check_ids(subject: PipelineSubject) -> Iterator[Finding]:
    """P020: each stage has a name of its own."""
    seen: set[str] = set()
    for path, stage in _stages(subject):
        if stage.id in seen:
            yield Finding("P020", (*path, "id"), f"there is another stage `{stage.id}`")
        seen.add(stage.id)


def check_order(subject: PipelineSubject) -> Iterator[Finding]:
    """P270, P271: stages come after stages that exist, and not after themselves."""
    after = {stage.id: set(stage.after) for stage in subject.pipeline.stages}
    for path, stage in _stages(subject):
        for index, name in enumerate(stage.after):
            if name not in after:
                yield Finding("P270", (*path, "after", index), f"there is no stage `{name}`", hint_among(name, after, "stages"))
            elif stage.id in _before(name, after):
                way = f"`{stage.id}` comes after itself" if name == stage.id else f"`{name}` comes after `{stage.id}` already"
                yield Finding("P271", (*path, "after", index), way, "leave out one of the two")


def _before(name: str, after: dict[str, set[str]]) -> set[str]:
    """The stage and all that come before it."""
    found: set[str] = set()
    queue = [name]
    while queue:
        stage = queue.pop()
        if stage not in found:
            found.add(stage)
            queue += after.get(stage, ())
    return found


def check_languages(subject: PipelineSubject) -> Iterator[Finding]:
    """P072: languages are those of candidates."""
    for path, stage in _stages(subject):
        for index, language in enumerate(stage.languages):
            if language not in EXECUTION:
                yield Finding("P072", (*path, "languages", index), f"there is no language `{language}`", hint_among(language, EXECUTION, "languages"))


def check_conditions(subject: PipelineSubject) -> Iterator[Finding]:
    """P030 to P032: `skip-when` is a condition over what can be known of a candidate."""
    for path, stage in _stages(subject):
        if stage.skip_when is None:
            continue
        read = read_expression((*path, "skip-when"), stage.skip_when, STAGE_FACTS)
        if isinstance(read, Finding):
            yield read
        elif read.type != "bool":
            yield Finding("P032", (*path, "skip-when"), f"`skip-when` is a condition, not of the type {read.type}")


def check_prompts(subject: PipelineSubject) -> Iterator[Finding]:
    """P040, P041: prompts are files of the pack."""
    for path, stage in _stages(subject):
        yield from check_path(subject.folder, stage.prompt, (*path, "prompt"))


def _stages(subject: PipelineSubject) -> Iterator[tuple[Path, Stage]]:
    for index, stage in enumerate(subject.pipeline.stages):
        yield ("pipeline", "stage", index), stage


PIPELINE_CHECKS: tuple[PipelineCheck, ...] = (check_ids, check_order, check_languages, check_conditions, check_prompts)
"""All of them run, each on every pipeline."""
