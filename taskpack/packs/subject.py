"""What the checks of meaning look at: an op or a task with its folder, and the names that it lost to errors of form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath

from .agent import Agent
from .expressions import Expression, ExpressionError, Type, parse
from .findings import Finding
from .header import Pack
from .knowledge import Knowledge
from .model import Model
from .op import Op
from .pipeline import Pipeline
from .spans import Path
from .suite import Suite
from .target import Target
from .task import Task


@dataclass(frozen=True)
class OpSubject:
    """An op to be checked."""

    op: Op
    folder: FilePath
    lost: frozenset[str] = frozenset()
    """Names that are declared, but not soundly: nothing is said about their use."""

    def scope(self) -> dict[str, Type]:
        return {**dict.fromkeys(self.lost, "any"), **self.op.scope()}

    def tensor_scope(self) -> dict[str, Type]:
        return {**dict.fromkeys(self.lost, "any"), **self.op.tensor_scope()}


@dataclass(frozen=True)
class TaskSubject:
    """A task to be checked; `op` where it is known, be it inline or another pack's."""

    task: Task
    pack: Pack | None
    folder: FilePath
    has_inline_op: bool
    op: OpSubject | None


@dataclass(frozen=True)
class TargetSubject:
    """A target to be checked; `pack` where its header is sound."""

    target: Target
    pack: Pack | None = None


@dataclass(frozen=True)
class SuiteSubject:
    """A suite to be checked; `pack` where its header is sound."""

    suite: Suite
    pack: Pack | None = None


@dataclass(frozen=True)
class AgentSubject:
    """An agent to be checked; `pack` where its header is sound."""

    agent: Agent
    folder: FilePath
    pack: Pack | None = None


@dataclass(frozen=True)
class KnowledgeSubject:
    """Rules to be checked."""

    knowledge: Knowledge


@dataclass(frozen=True)
class PipelineSubject:
    """A pipeline to be checked."""

    pipeline: Pipeline
    folder: FilePath


@dataclass(frozen=True)
class ModelSubject:
    """A model to be checked; `op` where it is sound."""

    model: Model
    pack: Pack | None
    op: Op | None


def read_expression(path: Path, text: str, names: Mapping[str, Type]) -> Expression | Finding:
    """The expression at `path`, or what is wrong with it."""
    try:
        return parse(text, names)
    except ExpressionError as error:
        return expression_finding(path, error)


def expression_finding(path: Path, error: ExpressionError) -> Finding:
    """An expression's error as a finding that points into the text at `path`."""
    return Finding(error.code, path, error.message, error.hint, part=(error.offset, error.length))
