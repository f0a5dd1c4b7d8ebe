"""A run while it lasts: what the gates work with, and what they leave behind."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .domains import Worker
from .evidence import CaseResult, GateResult, TimingResult
from .question import Case, Question
from .rules import Finding


@dataclass
class Run:
    """The run so far: what gates work with, and what they leave behind."""

    question: Question
    rng: random.Random
    """The judge's secret; no worker was forked after it was seeded."""
    open_side: Callable[[str], Worker]
    """A worker for "baseline" or "candidate" with its files in place, not yet built."""
    reference: Callable[[], Worker]
    unsupported: Callable[[Case], str | None]
    """Why a case cannot be judged on this device, or None."""
    note: Callable[..., None]
    """Takes an event's name and content."""
    cache: Path
    """What trusted code made once for this machine; a worker may only read it."""
    timing_rng: random.Random
    timing_budget_s: float
    """For each scored case."""
    is_quick: bool = False
    """Only what the verdict needs is measured."""
    missing_files: Sequence[str] = ()
    sources: Mapping[str, bytes] = field(default_factory=dict)
    """The candidate's files."""
    swaps: Sequence[Mapping[str, Any]] = ()
    """Of a model: the plan's swaps whose candidates were given."""
    facts: dict[str, Any] = field(default_factory=dict)
    """What gates observed besides cases and timings, for the evidence."""
    library: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Of a model: what the library's own one looks like, by the question and the case."""
    floors: dict[str, float] = field(default_factory=dict)
    """Of a model: case → the noise floor of its logits."""
    workers: dict[str, Worker] = field(default_factory=dict)
    unseen: list[Case] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    gates: list[GateResult] = field(default_factory=list)
    cases: list[CaseResult] = field(default_factory=list)
    timing: list[TimingResult] = field(default_factory=list)
    speedup: Mapping[str, float] | None = None
    log: str = ""
    """What the compiler or the interpreter said of the candidate."""

    def record(self, result: CaseResult) -> None:
        self.cases.append(result)
        self.note("case", gate=result.gate, case=result.case, verdict=result.verdict, reason=result.reason)


def build(run: Run, side: str) -> Worker:
    """A worker for the side, built and loaded. Raises Answered and WorkerFailed."""
    worker = run.open_side(side)
    run.workers[side] = worker
    limits, entry = run.question.plan["limits"], run.question.side(side)
    swaps = run.swaps if side == "candidate" else ()
    fields = {key: entry[key] for key in ("language", "files", "entry", "style")}
    worker.ask("build", limits["compile_s"], device=run.question.device, warp_size=run.question.warp_size, cache=str(run.cache), swaps=swaps, **fields)
    worker.ask("load", limits["call_s"])
    return worker
