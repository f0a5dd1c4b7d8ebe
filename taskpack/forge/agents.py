"""Agents as proposers: in a workspace of its own with what stands now, the stage's words, and what the judge said of earlier proposals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from taskpack.arena.briefing import Briefing, render_prompt
from taskpack.arena.door import SHOWN
from taskpack.arena.work import Worked, let_work
from taskpack.errors import Exit, TaskpackError
from taskpack.packs.agent import Agent

from .trials import Proposal, Request, Trial, text_of

_MOST = 12


_HINT = "once that is mended, `--resume` goes on with this run"


class NothingProposed(TaskpackError):
    """An agent failed and left everything as it was: going on would only fail again."""


class NoEndpoint(NothingProposed):
    """So did an endpoint."""

    exit_code = Exit.NETWORK


def employ(agent: Agent, name: str, briefing: Briefing, harness: Path, words: Sequence[str]) -> Callable[[Request], Proposal | None]:
    """A proposer. Raises NothingProposed where the agent fails without a change, NoEndpoint where its endpoint does."""

    def propose(request: Request) -> Proposal | None:
        if agent.launch == "none":
            return None
        worked = let_work(agent, brief_stage(briefing, request), harness, words)
        files = {file: text_of(content) for file, content in worked.candidate.items()}
        if files == dict(request.best):
            _refuse_failure(name, worked)
        kept = {path: content for path, content in worked.kept().items() if not path.startswith("candidate/")}
        return Proposal(files, {"agent": worked.to_dict(name)}, kept)

    return propose


def brief_stage(briefing: Briefing, request: Request) -> Briefing:
    """The task's briefing with the stage's words and findings; the workspace starts from what stands, and holds what was tried."""
    tried = {f"tried/{trial.round}/{file}": text.encode() for trial in request.history for file, text in trial.files.items()}
    start = {file: text.encode() for file, text in request.best.items()}
    return replace(briefing, prompt=f"{briefing.prompt}\n{_render(request)}", given={**briefing.given, **tried}, start=start)


def findings_of(trial: Trial) -> list[str]:
    """What a proposer may hear of a trial: its outcome, what the seen cases showed, and that an unseen one failed, but not which."""
    result = trial.result
    if result is None:
        return [trial.reason]
    stopped = next((gate for gate in result["gates"] if gate["verdict"] not in ("pass", "skip")), None)
    if stopped is None or stopped["gate"] == "fast":
        return [trial.reason] if stopped is None or trial.speedup else [f"fast: {stopped['verdict']}"]
    if stopped["gate"] not in SHOWN:
        return [f"{stopped['gate']}: {stopped['verdict']}, on cases that are not shown"]
    return list(dict.fromkeys([f"{stopped['gate']}: {stopped['reason']}", *_of_rules(result), *_of_cases(result)]))


def _of_rules(result: Mapping[str, Any]) -> list[str]:
    told = [finding for finding in result.get("findings") or () if finding["level"] in ("error", "warning")]
    return [f"{one['file']}:{one['line']}: {one['rule']}: {one['message']}{'; ' if one['fix'] else ''}{one['fix']}" for one in told][:_MOST]


def _of_cases(result: Mapping[str, Any]) -> list[str]:
    failed = [case for case in result["cases"] if case["gate"] == "correct" and case["verdict"] == "fail"]
    return [f"case {case['case']}: {case['reason']}" for case in failed][:_MOST]


def _refuse_failure(name: str, worked: Worked) -> None:
    launched = worked.launched
    if error := launched.testimony.get("error"):
        raise NoEndpoint(f"the agent {name} proposed nothing: {error}", hint=_HINT)
    if launched.code:
        raise NothingProposed(f"the agent {name} proposed nothing: it ended with {launched.code}: {_last_line(launched.log)}", hint=_HINT)


def _last_line(log: bytes) -> str:
    return (text_of(log).strip().splitlines() or ["it printed nothing"])[-1]


def _render(request: Request) -> str:
    last = request.history[-1] if request.history and request.history[-1].files != request.best else None
    findings = {trial.round: findings_of(trial) for trial in request.history}
    return render_prompt("stage.md.j2", request=request, stage=request.stage, last=last, findings=findings)
