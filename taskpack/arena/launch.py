"""Puts an agent to work in a workspace, within its limits, and says how that ended."""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from taskpack.packs.agent import PROMPT as PLACE
from taskpack.packs.agent import Agent, AgentLimits, Command
from taskpack.runs.kept import started

from .briefing import PROMPT
from .chat import converse
from .door import Ask
from .workspace import Workspace

_LONGEST_LOG = 1 << 20


@dataclass(frozen=True)
class Launched:
    """What is known of an agent's work on a unit."""

    seconds: float
    ending: str
    """`exit`, `timeout`, or `output` for one that printed too much."""
    code: int | None = None
    """Exit code of a command that ended by itself."""
    log: bytes = b""
    """The beginning of what it printed, at most 1 MiB."""
    testimony: Mapping[str, Any] = field(default_factory=dict)
    """What it, or the endpoint behind it, says of itself."""

    def to_dict(self) -> dict[str, Any]:
        return {"seconds": round(self.seconds, 3), "ending": self.ending, "code": self.code, "testimony": dict(self.testimony)}


def launch(agent: Agent, workspace: Workspace, prepared: Path | None, ask: Ask) -> Launched:
    """Lets an agent work; `prepared` is the folder that is replayed. Whatever happens, nothing that it started is left."""
    begin = time.monotonic()
    if agent.launch == "command":
        assert agent.command, "a checked agent has the table of its launch"
        return _run_command(agent.command, agent.limits, workspace)
    if agent.launch == "openai-chat":
        assert agent.openai_chat, "a checked agent has the table of its launch"
        talk = converse(agent.openai_chat, agent.limits, workspace, ask)
        return Launched(time.monotonic() - begin, talk.ending, None, talk.log, talk.testimony)
    if prepared is not None:
        shutil.copytree(prepared, workspace.folder, dirs_exist_ok=True)
    return Launched(time.monotonic() - begin, "exit")


def _run_command(command: Command, limits: AgentLimits, workspace: Workspace) -> Launched:
    begin = time.monotonic()
    prompt = workspace.folder / PROMPT
    words = [word.replace(PLACE, str(prompt)) for word in command.argv]
    with prompt.open("rb") if command.prompt == "stdin" else Path(os.devnull).open("rb") as given:
        kept = started(words, grace_s=0, cwd=workspace.folder, stdin=given, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        with kept as process:
            ending, log = _listen(process, begin + limits.timeout_s, int(limits.output_mib * (1 << 20)))
            code = process.wait() if ending == "exit" else None
    return Launched(time.monotonic() - begin, ending, code, log)


def _listen(process: subprocess.Popen[bytes], deadline: float, most: int) -> tuple[str, bytes]:
    """Reads until the end of what is printed, which comes when the last of the agent's processes has ended."""
    assert process.stdout
    log, size = bytearray(), 0
    while True:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([process.stdout], [], [], left)[0]:
            return "timeout", bytes(log)
        heard = os.read(process.stdout.fileno(), 1 << 16)
        if not heard:
            return "exit", bytes(log)
        size += len(heard)
        log += heard[: _LONGEST_LOG - len(log)]
        if size > most:
            return "output", bytes(log)
