"""The kind `agent`: how to launch something that writes candidates."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from .header import CaseId, PackFile, PackName, Text, Words, pattern, spelled
from .target import URL

VARIABLE = r"^[A-Z_][A-Z0-9_]*$"
PROMPT = "{prompt}"
"""In `argv`: the path of the file with the prompt."""


class Command(Words):
    """`[agent.command]`: any program. It runs in the workspace, and is stopped with all that it started when its time is up."""

    argv: Annotated[tuple[Text, ...], Field(min_length=1)]
    """The program and its arguments; `{prompt}` stands for the path of the file with the prompt."""
    prompt: Literal["stdin", "file"] = "stdin"
    """Whether the prompt comes on standard input, or in the file that `{prompt}` names."""


class Replay(Words):
    """`[agent.replay]`: candidates that are there already; tasks that are not named get their start."""

    candidates: Mapping[PackName, Text] = Field(default_factory=dict)
    """Task → a folder of this pack with the candidate's files."""
    examples: Mapping[PackName, CaseId] = Field(default_factory=dict)
    """Task → the name of one of its `[[task.example]]`."""
    stages: Mapping[PackName, Text] = Field(default_factory=dict)
    """Task → a folder of this pack that holds `<stage>/<round>/` with a candidate's files: what it proposes in the stages of a pipeline."""


class OpenAiChat(Words):
    """`[agent.openai-chat]`: a model behind an endpoint that speaks the OpenAI chat protocol, asked for files and told what the judge says of them."""

    base_url: Annotated[str, spelled(re.compile(URL).match, "P014", "`{text}` is no address", "https://…"), pattern(URL)]
    """Where it is, without `/chat/completions`."""
    model: Text
    """The name of the model there."""
    key_env: Annotated[str, spelled(re.compile(VARIABLE).match, "P014", "`{text}` is no variable", "`API_KEY`"), pattern(VARIABLE)] | None = None
    """The environment variable that holds the key; none is sent where this is left out."""
    rounds: Annotated[int, Field(ge=1)] = 4
    """How many answers it may give."""


class AgentLimits(Words):
    """`[agent.limits]`: what an agent may use for one unit."""

    timeout_s: Annotated[int | float, Field(gt=0)] = 1800
    """Seconds."""
    output_mib: Annotated[int | float, Field(gt=0)] = 16
    """What it may print, in MiB."""


class Agent(Words):
    """`[agent]`: something that is given a workspace and leaves a candidate in it."""

    doc: str = ""
    """What it is, in prose."""
    launch: Literal["none", "replay", "command", "openai-chat"]
    """How it is launched; each but `none`, which leaves the workspace as it is, has a table of its name."""
    replay: Replay | None = None
    command: Command | None = None
    openai_chat: OpenAiChat | None = None
    limits: AgentLimits = AgentLimits.model_construct()


class AgentPack(PackFile):
    """A pack of the kind `agent`."""

    agent: Agent
