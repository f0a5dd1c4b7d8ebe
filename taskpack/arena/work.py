"""An agent's work: from a fresh workspace to the candidate that it leaves there."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from taskpack.packs.agent import Agent

from .briefing import Briefing
from .door import ask_judge, open_door
from .launch import Launched, launch
from .workspace import diff_rest, make_workspace, take_candidate


@dataclass(frozen=True)
class Worked:
    """What an agent left, and how it came about."""

    candidate: Mapping[str, bytes]
    """The declared files, as far as they are there."""
    rest: bytes
    """Everything else that it changed, as a diff."""
    prompt: str
    launched: Launched
    checks: int
    """How often it asked the judge."""

    def to_dict(self, name: str) -> dict[str, Any]:
        return {"name": name, **self.launched.to_dict(), "checks": self.checks}

    def kept(self) -> dict[str, bytes]:
        """What is kept beside a unit."""
        files = {f"candidate/{name}": content for name, content in self.candidate.items()}
        return {**files, "diff.patch": self.rest, "prompt.md": self.prompt.encode(), "log.txt": self.launched.log}


def let_work(agent: Agent, briefing: Briefing, harness: Path, words: Sequence[str], prepared: Path | None = None) -> Worked:
    """Puts an agent to work in a folder that is gone afterwards; `words` are those with which the harness behind its door is called."""
    folder = Path(tempfile.mkdtemp(prefix="taskpack-work-"))
    try:
        workspace = make_workspace(folder, briefing)
        ask = partial(ask_judge, harness, workspace, words)
        with open_door(workspace, ask) as answers:
            launched = launch(agent, workspace, prepared, ask)
        return Worked(take_candidate(workspace), diff_rest(workspace), briefing.prompt, launched, len(answers))
    finally:
        _remove(folder)


def _remove(folder: Path) -> None:
    """As far as it can be: an agent may leave folders a thousand deep, or what even its owner may not remove."""
    try:
        shutil.rmtree(folder, ignore_errors=True)
    except RecursionError:
        subprocess.run(["rm", "-rf", str(folder)], stderr=subprocess.DEVNULL, check=False)
