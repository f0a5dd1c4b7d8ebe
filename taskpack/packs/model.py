"""The kind `model`: a whole model of a library, and which of its modules which tasks replace."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from .header import PackFile, PackName, Text, Words
from .inits import Init
from .op import MOST_NAMES, Op


class Replace(Words):
    """`[[model.replace]]`: modules whose place a task's candidate takes."""

    task: PackName
    """A task of a module, which `[pack.dependencies]` must name; every module of that class is replaced."""
    modules: Text = "*"
    """Only those whose name in the model goes with this pattern (`*`, `?`): `model.layers.*.mlp`."""


class StateRule(Words):
    """`[[model.state]]`: how parameters and buffers are drawn; the first rule that goes with a key counts, and every key needs one."""

    match: Text
    """A pattern (`*`, `?`) for keys of the state: `*norm.weight`."""
    init: Init
    """`normal` or `uniform`."""


class Model(Words):
    """`[model]`: a library's model in which candidates are judged."""

    category: Literal["language", "vision", "encoder", "audio", "multimodal"]
    """What kind of architecture it is."""
    output: Text
    """The attribute of what `forward` returns that is compared, its last axis being what is ranked: `logits`."""
    doc: str = ""
    """What the model is, in prose."""
    replaces: Annotated[tuple[Replace, ...], Field(alias="replace", min_length=1, max_length=MOST_NAMES)]
    """Which modules can be replaced, by which tasks."""
    state: Annotated[tuple[StateRule, ...], Field(min_length=1, max_length=MOST_NAMES)]
    """How the model's state is drawn."""


class ModelPack(PackFile):
    """A pack of the kind `model`."""

    model: Model
    op: Op
    """The model as an op: its class in `[op.module]`, inputs, one output, and cases: those of scale `small` are workloads of the configuration *tiny*,
    those of scale `full` of the configuration *full*."""
