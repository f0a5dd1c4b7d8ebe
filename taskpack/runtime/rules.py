"""Rules of knowledge packs on a candidate's files: rules as plain data and facts go in, findings with their places and values come out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .evaluation import UNKNOWN, NoValue, evaluate, names_in, read
from .facts.find import Unreadable, find_subjects
from .facts.subject import Subject

ERROR, WARNING, INFO, UNDECIDED = "error", "warning", "info", "unknown"

Rule = Mapping[str, Any]
"""As a compiled knowledge pack has it: `rule` (its name), `severity`, `about`, `when` (or null), `assert`, `message`, `fix`, `url`."""

_VALUE = re.compile(r"\{([^{}]+)\}")


@dataclass(frozen=True)
class Finding:
    """A rule that does not hold at a place, or of which that cannot be told."""

    rule: str
    level: str
    """The rule's severity where it does not hold, `unknown` where that cannot be told."""
    file: str
    line: int
    column: int
    message: str
    fix: str = ""
    url: str = ""
    places: int = 1
    """How many places are meant, of which the first is named."""

    def to_dict(self) -> dict[str, Any]:
        return dict(vars(self))


@dataclass(frozen=True)
class Report:
    """What rules say of some files."""

    findings: tuple[Finding, ...]
    """In the order of files and lines; what is unknown comes last."""
    decided: int
    """How often a rule was found to hold, or not to."""

    def of(self, level: str) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.level == level)

    def counts(self) -> str:
        """`1 error, 2 warnings, 1 unknown`; `no findings` where there is none."""
        said = [(level, len(self.of(level))) for level in (ERROR, WARNING, INFO, UNDECIDED)]
        words = {ERROR: "errors", WARNING: "warnings"}
        return ", ".join(f"{n} {level if n == 1 else words.get(level, level)}" for level, n in said if n) or "no findings"


def judge_files(rules: Sequence[Rule], language: str, files: Mapping[str, str], facts: Mapping[str, Any]) -> Report:
    """Applies rules to files (name → text); `facts` are those of the device and of the cases, by the names that rules use."""
    subjects, unreadable = find_subjects(language, files)
    return apply_rules(rules, subjects, facts, unreadable)


def apply_rules(rules: Sequence[Rule], subjects: Sequence[Subject], facts: Mapping[str, Any], unreadable: Iterable[Unreadable] = ()) -> Report:
    """Every rule on every subject that it is about. A fact that is missing makes a rule unknown there, never a pass."""
    found: list[Finding] = []
    undecided: dict[tuple[str, tuple[str, ...]], Finding] = {}
    decided = 0
    for rule in rules:
        for subject in subjects:
            if subject.about != rule["about"]:
                continue
            values = {**facts, **subject.facts}
            holds = _holds(rule, values)
            if holds is UNKNOWN:
                _count(undecided, rule, subject, values)
                continue
            decided += holds is not None
            if holds is False:
                found.append(_finding(rule, subject, values))
    unread = [Finding("", UNDECIDED, one.file, one.line, 1, f"nothing can be known of this file: {one.reason}") for one in unreadable] if rules else []
    placed = sorted(dict.fromkeys(found), key=lambda one: (one.file, one.line, one.column, one.rule))
    return Report((*placed, *undecided.values(), *unread), decided)


def facts_used(rules: Iterable[Rule]) -> set[str]:
    """Every name in the conditions and messages of rules."""
    texts = [text for rule in rules for text in (rule["when"], rule["assert"]) if text]
    texts += [part for rule in rules for words in (rule["message"], rule["fix"]) for _, part in expressions_in(words)]
    return {name for text in texts for name in names_in(text)}


def render(text: str, values: Mapping[str, Any]) -> str:
    """A message with the values of the expressions in its braces; `?` for one that is unknown."""

    def shown(match: re.Match[str]) -> str:
        value = _evaluated(match.group(1), values)
        return "?" if value is UNKNOWN else str(value)

    return _VALUE.sub(shown, text)


def expressions_in(text: str) -> list[tuple[int, str]]:
    """The expressions in a message's braces, each with its offset."""
    return [(match.start(1), match.group(1)) for match in _VALUE.finditer(text)]


def _holds(rule: Rule, values: Mapping[str, Any]) -> Any:
    """True, False, UNKNOWN, or None where the rule does not apply."""
    applies = _evaluated(rule["when"], values) if rule["when"] else True
    if applies is UNKNOWN:
        # A rule that holds anyway needs no decision on whether it applies.
        return True if _evaluated(rule["assert"], values) is True else UNKNOWN
    return _evaluated(rule["assert"], values) if applies else None


def _evaluated(text: str, values: Mapping[str, Any]) -> Any:
    try:
        return evaluate(read(text), values)
    except NoValue:
        return UNKNOWN


def _finding(rule: Rule, subject: Subject, values: Mapping[str, Any]) -> Finding:
    message, fix = render(rule["message"], values), render(rule["fix"], values)
    return Finding(rule["rule"], rule["severity"], subject.file, subject.line, subject.column, message, fix, rule["url"])


def _count(undecided: dict[tuple[str, tuple[str, ...]], Finding], rule: Rule, subject: Subject, values: Mapping[str, Any]) -> None:
    """One finding for all places at which a rule lacks the same facts."""
    names = {name for text in (rule["when"], rule["assert"]) if text for name in names_in(text)}
    lacks = tuple(sorted(names - set(values)))
    known = undecided.get((rule["rule"], lacks))
    places = known.places + 1 if known else 1
    first = known or subject
    message = f"it cannot be told whether this holds: {', '.join(f'`{name}`' for name in lacks) or 'its value'} is not known here"
    undecided[rule["rule"], lacks] = Finding(rule["rule"], UNDECIDED, first.file, first.line, first.column, message, "", rule["url"], places)
