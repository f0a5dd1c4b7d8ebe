"""Runs every check of meaning over the parts of a pack."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path as FilePath

from .agent import Agent
from .check_agent import AGENT_CHECKS
from .check_cases import CASE_CHECKS, check_draws
from .check_knowledge import KNOWLEDGE_CHECKS
from .check_model import MODEL_CHECKS
from .check_module import MODULE_CHECKS
from .check_op import OP_CHECKS
from .check_pipeline import PIPELINE_CHECKS
from .check_suite import SUITE_CHECKS
from .check_target import TARGET_CHECKS
from .check_task import TASK_AND_OP_CHECKS, TASK_CHECKS
from .findings import Finding
from .header import Pack
from .knowledge import Knowledge
from .model import Model
from .op import Op
from .pipeline import Pipeline
from .subject import AgentSubject, KnowledgeSubject, ModelSubject, OpSubject, PipelineSubject, SuiteSubject, TargetSubject, TaskSubject
from .suite import Suite
from .target import Target
from .task import Task


@dataclass(frozen=True)
class Parts:
    """The tables of a pack, as far as they are sound."""

    folder: FilePath
    pack: Pack | None = None
    op: Op | None = None
    task: Task | None = None
    target: Target | None = None
    suite: Suite | None = None
    agent: Agent | None = None
    pipeline: Pipeline | None = None
    knowledge: Knowledge | None = None
    model: Model | None = None
    has_op_table: bool = False
    """Whether the file has a table `[op]`, sound or not."""
    lost: frozenset[str] = frozenset()
    """Names that the op declares in parts that are not sound."""


def check_meaning(parts: Parts) -> Iterator[Finding]:
    """What is wrong with a pack whose form is right, as far as that can be seen without other packs."""
    op = OpSubject(parts.op, parts.folder, parts.lost) if parts.op else None
    if op:
        for check in (*OP_CHECKS, *MODULE_CHECKS, *CASE_CHECKS):
            if not (parts.model and check is check_draws):  # a model is judged by its workloads
                yield from check(op)
    if parts.task:
        task = TaskSubject(parts.task, parts.pack, parts.folder, parts.has_op_table, op)
        for task_check in (*TASK_CHECKS, *(TASK_AND_OP_CHECKS if op else ())):
            yield from task_check(task)
    if parts.model:
        for model_check in MODEL_CHECKS:
            yield from model_check(ModelSubject(parts.model, parts.pack, parts.op))
    if parts.target:
        for target_check in TARGET_CHECKS:
            yield from target_check(TargetSubject(parts.target, parts.pack))
    if parts.suite:
        for suite_check in SUITE_CHECKS:
            yield from suite_check(SuiteSubject(parts.suite, parts.pack))
    if parts.agent:
        for agent_check in AGENT_CHECKS:
            yield from agent_check(AgentSubject(parts.agent, parts.folder, parts.pack))
    if parts.pipeline:
        for pipeline_check in PIPELINE_CHECKS:
            yield from pipeline_check(PipelineSubject(parts.pipeline, parts.folder))
    if parts.knowledge:
        for knowledge_check in KNOWLEDGE_CHECKS:
            yield from knowledge_check(KnowledgeSubject(parts.knowledge))
