"""The kind `knowledge`: rules about kernel code on targets, each with its source and with examples that are run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from .header import CaseId, PackFile, Text, Words
from .target import Origin

Fact = bool | int | float | str


class Scope(Words):
    """`[knowledge.rule.scope]`: where a rule applies; a list that is left out leaves that open."""

    languages: Annotated[tuple[Text, ...], Field(min_length=1)]
    """Languages of candidates."""
    vendors: tuple[Text, ...] = ()
    """Vendors of targets: `intel`, `amd`, …"""
    devices: tuple[Literal["cpu", "cuda", "hip", "xpu"], ...] = ()
    """Devices of targets, as torch calls them."""
    architectures: tuple[Text, ...] = ()
    """Architectures of targets; `*` stands for any characters: `bmg-*`."""


class RuleSource(Origin):
    """`[knowledge.rule.source]`: who says so."""


class RuleExample(Words):
    """`[[knowledge.rule.example]]`: code on which the rule is tried whenever the pack is checked."""

    expect: Literal["good", "bad"]
    """`good` holds to the rule, `bad` breaks it."""
    code: Text
    """A file in the first language of the rule's scope. It is read, never run."""
    facts: Mapping[Text, Fact] = Field(default_factory=dict)
    """Facts of the device and of the cases that differ from `[knowledge.facts]`."""


class Rule(Words):
    """`[[knowledge.rule]]`: a condition that code must meet."""

    id: CaseId
    """Its name within the pack."""
    severity: Literal["error", "warning", "info"]
    """`error` where the code cannot work, or is wrong: it fails the gate *rules*. The others are reported."""
    about: Literal["kernel", "launch", "configuration", "autotune", "access", "offset", "call"]
    """What it looks at, one by one; this decides which facts it sees."""
    scope: Scope
    """Where it applies."""
    when: Text | None = None
    """The condition under which it has something to say; always, where nothing is said."""
    assert_: Annotated[Text, Field(alias="assert")]
    """The condition that must hold."""
    message: Text
    """What is wrong, with values: `{num_warps} warps`. Braces hold expressions."""
    fix: Text
    """What to do about it, with values."""
    prose: Annotated[str, Field(min_length=1, max_length=200)]
    """The rule for a prompt, before there is any code; braces hold facts of the device."""
    source: RuleSource
    """Who says so."""
    examples: tuple[RuleExample, ...] = Field((), alias="example", max_length=16)
    """At least one of either kind."""


class Knowledge(Words):
    """`[knowledge]`: what is known of code on some targets."""

    doc: Text
    """What the rules are about, in a sentence or two."""
    facts: Mapping[Text, Fact] = Field(default_factory=dict)
    """Facts of a device and of cases, as the examples take them to be."""
    rules: tuple[Rule, ...] = Field((), alias="rule", min_length=1, max_length=256)
    """The rules."""


class KnowledgePack(PackFile):
    """A pack of the kind `knowledge`."""

    knowledge: Knowledge
