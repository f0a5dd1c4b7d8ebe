"""The kinds of packs as a table: each is one module and one row here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .agent import Agent, AgentPack
from .header import PackFile, Words
from .knowledge import Knowledge, KnowledgePack
from .model import Model, ModelPack
from .op import Op, OpPack
from .pipeline import Pipeline, PipelinePack
from .suite import Suite, SuitePack
from .target import Target, TargetPack
from .task import Task, TaskPack

Document = ModelPack | OpPack | TaskPack | TargetPack | KnowledgePack | SuitePack | AgentPack | PipelinePack


@dataclass(frozen=True)
class Kind:
    """What a pack of a kind may hold."""

    name: str
    document: type[PackFile]
    """The model of the whole file."""
    tables: Mapping[str, type[Words]]
    """Its tables besides `[pack]`, the kind's own one first."""
    summary: str


KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("op", OpPack, {"op": Op}, "what must be computed: inputs, outputs, reference, cases, tolerance, cost"),
        Kind(
            "task",
            TaskPack,
            {"task": Task, "op": Op},
            "an op in a language, with the baseline that a candidate must beat and the files that it may write",
        ),
        Kind("model", ModelPack, {"model": Model, "op": Op}, "a library's model, and which of its modules are replaced by the candidates of which tasks"),
        Kind("target", TargetPack, {"target": Target}, "a device: how to recognise it, its limits and its peak rates"),
        Kind("suite", SuitePack, {"suite": Suite}, "a benchmark: a list of tasks, what a unit of work on them is worth, and what the unseen cases count"),
        Kind("agent", AgentPack, {"agent": Agent}, "how to launch something that writes candidates"),
        Kind("knowledge", KnowledgePack, {"knowledge": Knowledge}, "rules about kernel code on targets, each with its source and with examples that are run"),
        Kind("pipeline", PipelinePack, {"pipeline": Pipeline}, "stages of optimisation, their order, and what a proposal must show to be taken over"),
    )
}
"""`[pack] kind` → its row."""
