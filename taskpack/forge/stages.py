"""The stages of a pipeline in the order in which they run, and which of them have nothing to do."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from graphlib import TopologicalSorter

from taskpack.packs.expressions import ExpressionError, parse
from taskpack.packs.pipeline import STAGE_FACTS, Pipeline, Stage

Facts = Mapping[str, bool | int | str]
"""Those of STAGE_FACTS that could be had."""


def order_stages(pipeline: Pipeline, only: Collection[str] | None = None) -> tuple[Stage, ...]:
    """The pipeline's stages (or some of them) so that each comes after those that it names; where that leaves it open, as they stand."""
    stages = {stage.id: stage for stage in pipeline.stages}
    sorter = TopologicalSorter({stage.id: stage.after for stage in pipeline.stages})
    sorter.prepare()
    ordered: list[Stage] = []
    ready: list[str] = []
    places = list(stages)
    while sorter.is_active():
        ready = sorted([*ready, *sorter.get_ready()], key=places.index)
        first = ready.pop(0)
        ordered.append(stages[first])
        sorter.done(first)
    return tuple(stage for stage in ordered if only is None or stage.id in only)


def reason_to_skip(stage: Stage, facts: Facts) -> str | None:
    """Why the stage has nothing to do, or None. A condition whose facts cannot be had, or that has no value, does not skip."""
    language = facts["language"]
    if stage.languages and language not in stage.languages:
        return f"nothing to do in {language}: for {', '.join(stage.languages)}"
    if stage.skip_when is None:
        return None
    try:
        is_met = parse(stage.skip_when, STAGE_FACTS).evaluate(facts)
    except ExpressionError:  # as in a division by a fact that is zero
        return None
    return f"nothing to do: {stage.skip_when}" if is_met is True else None
