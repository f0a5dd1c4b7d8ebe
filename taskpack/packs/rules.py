"""A knowledge pack becomes plain rules, as harnesses and lint carry them: those that apply to a language on a target."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from taskpack.runtime.facts.cases import device_facts
from taskpack.runtime.facts.vocabulary import CASES, SUBJECTS

from .expressions import Type
from .knowledge import Knowledge, Rule, Scope
from .target import LIMITS, Target

_TYPES: dict[str, Type] = {"int": "int", "bool": "bool", "str": "str"}

DEVICE: dict[str, Type] = dict.fromkeys((name.replace("-", "_") for name in LIMITS), "int")
"""Facts of the device: the limits of targets, by the names that rules use."""


def vocabulary(about: str) -> dict[str, Type]:
    """Every fact that a rule about that sees → its type."""
    words = {**CASES, **SUBJECTS[about].facts}
    return {**DEVICE, **{name: _TYPES[word.type] for name, word in words.items()}}


def given_facts() -> dict[str, Type]:
    """The facts that are not read from code: those of the device and of the cases."""
    return {**DEVICE, **{name: _TYPES[word.type] for name, word in CASES.items()}}


def compile_rules(name: str, knowledge: Knowledge, target: Target, language: str | None = None) -> Iterator[dict[str, object]]:
    """The rules of the pack `name` that apply to a target and to a language (to any, where None is given)."""
    return (compile_rule(name, rule) for rule in rules_for(knowledge, target, language))


def rules_for(knowledge: Knowledge, target: Target, language: str | None = None) -> Iterator[Rule]:
    """The same as their pack has them."""
    return (rule for rule in knowledge.rules if applies_to(rule.scope, target) and (language is None or language in rule.scope.languages))


def compile_rule(name: str, rule: Rule) -> dict[str, object]:
    """What the runtime needs of a rule."""
    return {
        "rule": f"{name.removeprefix('knowledge/')}/{rule.id}",
        "languages": list(rule.scope.languages),
        "severity": rule.severity,
        "about": rule.about,
        "when": rule.when,
        "assert": rule.assert_,
        "message": rule.message,
        "fix": rule.fix,
        "url": rule.source.url,
    }


def applies_to(scope: Scope, target: Target) -> bool:
    """Whether a rule of that scope has something to say about a target."""
    return (
        (not scope.vendors or target.vendor in scope.vendors)
        and (not scope.devices or target.device in scope.devices)
        and (not scope.architectures or any(fnmatchcase(target.architecture, pattern) for pattern in scope.architectures))
    )


def facts_of(target: Target) -> dict[str, int | float]:
    """The facts of a target, by the names that rules use."""
    return device_facts({name: quantity.value for name, quantity in target.limits.items()})
