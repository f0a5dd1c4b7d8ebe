"""Checks of what an agent means: it says how it is launched, and once."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .agent import PROMPT
from .check_files import check_path
from .check_suite import check_declared
from .findings import Finding
from .subject import AgentSubject

AgentCheck = Callable[[AgentSubject], Iterator[Finding]]
_LAUNCHES = ("replay", "command", "openai-chat")


def check_launch(subject: AgentSubject) -> Iterator[Finding]:
    """P220: the table of its launch, and no other one."""
    agent = subject.agent
    for name in _LAUNCHES:
        is_there = getattr(agent, name.replace("-", "_")) is not None
        if name == agent.launch and not is_there:
            yield Finding("P220", ("agent", name), f'`launch = "{name}"` wants a table `[agent.{name}]`', "it says what is launched")
        elif is_there and name != agent.launch:
            yield Finding("P220", ("agent", name), f'`[agent.{name}]` means nothing where `launch = "{agent.launch}"`', on_key=True)


def check_prompt(subject: AgentSubject) -> Iterator[Finding]:
    """P221: the prompt gets to the program."""
    command = subject.agent.command
    if command and command.prompt == "file" and not any(PROMPT in word for word in command.argv):
        yield Finding(
            "P221",
            ("agent", "command", "argv"),
            f"no argument holds `{PROMPT}`, the path of the file with the prompt",
            '`prompt = "stdin"` gives it on standard input',
        )


def check_replay(subject: AgentSubject) -> Iterator[Finding]:
    """P040, P041, P201, P222: candidates are there, one a task, for tasks that are declared."""
    replay = subject.agent.replay
    if replay is None:
        return
    if not replay.candidates and not replay.examples and not replay.stages:
        yield Finding(
            "P222",
            ("agent", "replay"),
            "there is nothing to replay",
            "`candidates` and `stages` name folders of this pack by task, `examples` names examples of the tasks",
        )
    for table, named in (("candidates", replay.candidates), ("examples", replay.examples), ("stages", replay.stages)):
        for task in named:
            path = ("agent", "replay", table, task)
            yield from check_declared(task, path, subject.pack.dependencies if subject.pack else None, on_key=True)
            if table != "examples":
                yield from check_path(subject.folder, named[task], path, is_folder=True)
            elif task in replay.candidates:
                yield Finding("P222", path, f"`{task}` is among the `candidates` already", "one candidate is put in place for each task", on_key=True)


AGENT_CHECKS: tuple[AgentCheck, ...] = (check_launch, check_prompt, check_replay)
"""Those that need no other pack."""
