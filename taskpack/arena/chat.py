"""A loop over an endpoint that speaks the OpenAI chat protocol: it is told the task, answers with files, and hears what the judge says of them."""

from __future__ import annotations

import http.client
import json
import os
import re
import time
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from taskpack.errors import TaskpackError, UsageError
from taskpack.packs.agent import AgentLimits, OpenAiChat

from .briefing import PROMPT
from .door import Ask
from .workspace import Workspace, write_files

_FORM = (
    "\n## How to answer\n\nYou cannot run anything. Give each file whole, in a fenced block whose first line holds three backticks and the file's name; "
    "what the judge says of compile and correct comes back.\n"
)
_NO_FILE = "There was no fenced block with the name of one of these files on its first line: {names}."
_BLOCK = re.compile(r"^```[^\n]*?(?P<name>[\w./+-]+)[ \t]*\n(?P<text>.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)


class NoAnswer(TaskpackError):
    """The endpoint gave no answer that could be used."""


@dataclass(frozen=True)
class Talk:
    """What was said, and how it ended."""

    ending: str
    """`exit`, or `timeout`."""
    log: bytes
    testimony: Mapping[str, Any] = field(default_factory=dict)
    """`rounds`, and the tokens that the endpoint counted; `error` where it gave no answer."""


def converse(settings: OpenAiChat, limits: AgentLimits, workspace: Workspace, ask: Ask) -> Talk:
    """Up to `rounds` answers, each written into the workspace and shown to the judge; ends when the judge says pass."""
    deadline = time.monotonic() + limits.timeout_s
    prompt = (workspace.folder / PROMPT).read_text(encoding="utf-8")
    messages = [{"role": "user", "content": prompt + _FORM}]
    facts: dict[str, Any] = {"rounds": 0, "prompt_tokens": 0, "completion_tokens": 0}
    ending = "exit"
    for _ in range(settings.rounds):
        try:
            answer = _complete(settings, messages, deadline, limits)
        except NoAnswer as error:
            facts["error"] = error.message
            ending = "timeout" if time.monotonic() >= deadline else "exit"
            break
        facts["rounds"] += 1
        for key in ("prompt_tokens", "completion_tokens"):
            facts[key] += _count(answer, key)
        text = str(answer["choices"][0]["message"].get("content") or "").encode("utf-8", "replace").decode()
        verdict = _try(text, workspace, ask)
        messages += [{"role": "assistant", "content": text}, {"role": "user", "content": verdict}]
        if verdict.startswith("pass"):
            break
        if time.monotonic() >= deadline:
            ending = "timeout"
            break
    log = "\n\n".join(f"## {message['role']}\n\n{message['content']}" for message in messages[1:])
    return Talk(ending, log.encode(), facts)


def files_in(text: str, names: tuple[str, ...]) -> dict[str, bytes]:
    """The fenced blocks that bear one of those names, the last of each."""
    return {block["name"]: block["text"].encode() for block in _BLOCK.finditer(text) if block["name"] in names}


def _try(text: str, workspace: Workspace, ask: Ask) -> str:
    files = files_in(text, workspace.candidate)
    if not files:
        return _NO_FILE.format(names=", ".join(workspace.candidate))
    write_files(workspace.folder, files)
    return ask()


def _complete(settings: OpenAiChat, messages: list[dict[str, str]], deadline: float, limits: AgentLimits) -> dict[str, Any]:
    """One answer; raises NoAnswer, and UsageError where the key is missing."""
    headers = {"Content-Type": "application/json"}
    if settings.key_env:
        if not os.environ.get(settings.key_env):
            raise UsageError(f"the agent wants a key in the environment variable {settings.key_env}", hint=f"export {settings.key_env}=…")
        headers["Authorization"] = f"Bearer {os.environ[settings.key_env]}"
    body = json.dumps({"model": settings.model, "messages": messages}).encode()
    request = urllib.request.Request(f"{settings.base_url.rstrip('/')}/chat/completions", body, headers)
    most = int(limits.output_mib * (1 << 20))
    try:
        with urllib.request.urlopen(request, timeout=max(0.1, deadline - time.monotonic())) as response:
            content = b""
            while len(content) <= most and (piece := response.read1(1 << 16)):
                content += piece
                if time.monotonic() >= deadline:
                    raise NoAnswer("the endpoint did not finish its answer in time")
        if len(content) > most:
            raise NoAnswer(f"the endpoint answered with more than {limits.output_mib} MiB")
        answer: dict[str, Any] = json.loads(content)
        answer["choices"][0]["message"]["role"]
    except (OSError, http.client.HTTPException, ValueError, LookupError, TypeError, RecursionError) as error:
        raise NoAnswer(f"{settings.base_url}: {error}") from None
    return answer


def _count(answer: Mapping[str, Any], key: str) -> int:
    """Tokens as the endpoint counts them; what is no count counts for nothing."""
    usage = answer.get("usage")
    found = usage.get(key) if isinstance(usage, dict) else 0
    return found if type(found) is int and found > 0 else 0
