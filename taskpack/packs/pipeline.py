"""The kind `pipeline`: stages of optimisation, in which order they may come, and what each must show to be taken over."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from .expressions import Type
from .header import CaseId, PackFile, Text, Words

STAGE_FACTS: dict[str, Type] = {"language": "str", "is_native": "bool", "files": "int", "kernels": "int", "dots": "int", "autotuned": "int", "findings": "int"}
"""What `skip-when` sees of the stage's input: the candidate's language, whether its time counts as speed, its files, its kernels, its matrix
products, its autotuned kernels, and what rules find in it."""


class Accept(Words):
    """`accept`: what a proposal must show against the stage's input, by the interval of a measurement of the two side by side."""

    gain: Annotated[float, Field(ge=0, le=10)] = 0.0
    """The whole interval of the speedup, over all cases together, lies above `1 + gain`."""
    regression: Annotated[float, Field(ge=0, lt=1)] = 0.02
    """No case's interval lies wholly below `1 - regression`."""


class Stage(Words):
    """`[[pipeline.stage]]`: one kind of change."""

    id: CaseId
    """Its name within the pipeline."""
    summary: Text
    """What it changes, in a line."""
    prompt: Text
    """A file of the pack: what a proposer is told."""
    after: tuple[CaseId, ...] = ()
    """Stages that come before it, wherever they take part."""
    languages: tuple[Text, ...] = ()
    """Languages of candidates in which it has something to do; all, where none is named."""
    skip_when: Text | None = None
    """The condition under which there is nothing to do."""
    rounds: Annotated[int | None, Field(ge=1, le=100)] = None
    """Proposals at most; the pipeline's, where nothing is said."""
    accept: Accept | None = None
    """The pipeline's, where nothing is said."""


class Pipeline(Words):
    """`[pipeline]`: how a candidate is improved, step by step."""

    doc: Text
    """What it is for."""
    rounds: Annotated[int, Field(ge=1, le=100)] = 5
    """Proposals at most in each stage."""
    accept: Accept = Accept.model_construct()
    """What a proposal must show."""
    stages: Annotated[tuple[Stage, ...], Field(alias="stage", min_length=1)]
    """Stages, in the order in which they come where `after` leaves it open."""


class PipelinePack(PackFile):
    """A pack of the kind `pipeline`."""

    pipeline: Pipeline
