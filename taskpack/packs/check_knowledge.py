"""Checks of what rules mean, and that each does on its own examples what it says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from taskpack.runtime.facts.vocabulary import SUBJECTS
from taskpack.runtime.rules import INFO, UNDECIDED, WARNING, expressions_in, judge_files

from .expressions import Expression, Type
from .findings import Finding
from .knowledge import Fact, Knowledge, Rule, RuleExample
from .rules import DEVICE, compile_rule, given_facts, vocabulary
from .spans import Path
from .subject import KnowledgeSubject, read_expression
from .suggest import hint_among

KnowledgeCheck = Callable[[KnowledgeSubject], Iterator[Finding]]


def check_ids(subject: KnowledgeSubject) -> Iterator[Finding]:
    """P020: each rule has a name of its own."""
    seen: set[str] = set()
    for path, rule in _rules(subject.knowledge):
        if rule.id in seen:
            yield Finding("P020", (*path, "id"), f"there is another rule `{rule.id}`")
        seen.add(rule.id)


def check_scopes(subject: KnowledgeSubject) -> Iterator[Finding]:
    """P242: what a rule is about can be seen in its languages."""
    for path, rule in _rules(subject.knowledge):
        able = SUBJECTS[rule.about].languages
        for index, language in enumerate(rule.scope.languages):
            if language not in able:
                hint = f"languages in which it can: {', '.join(f'`{name}`' for name in able)}"
                yield Finding("P242", (*path, "scope", "languages", index), f"`{rule.about}` cannot be seen in {language}", hint)


def check_conditions(subject: KnowledgeSubject) -> Iterator[Finding]:
    """P030 to P032, P240, P241: `when` and `assert` are conditions over facts."""
    for path, rule in _rules(subject.knowledge):
        names = vocabulary(rule.about)
        for key, text in (("when", rule.when), ("assert", rule.assert_)):
            if text is None:
                continue
            read = _read((*path, key), text, names)
            if isinstance(read, Finding):
                yield read
            elif read.type != "bool":
                yield Finding("P032", (*path, key), f"`{key}` is a condition, not a {_kind(read.type)}")
            elif not read.names:
                yield Finding("P241", (*path, key), f"`{key}` looks at no fact: it is always the same", "a rule decides by facts of the code or the device")


def check_messages(subject: KnowledgeSubject) -> Iterator[Finding]:
    """P240, P243: braces in words hold expressions; before there is code, over facts of the device only."""
    for path, rule in _rules(subject.knowledge):
        names = vocabulary(rule.about)
        yield from _check_text((*path, "message"), rule.message, names)
        yield from _check_text((*path, "fix"), rule.fix, names)
        for found in _check_text((*path, "prose"), rule.prose, DEVICE):
            is_of_code = found.code == "P240" and any(f"`{name}`" in found.message for name in names)
            yield replace(found, hint="prose is told before there is code: it sees facts of the device only") if is_of_code else found


def check_facts(subject: KnowledgeSubject) -> Iterator[Finding]:
    """P240, P032: what examples take for granted are facts of a device or of cases, of their type."""
    knowledge = subject.knowledge
    tables: list[tuple[Path, Mapping[str, Fact]]] = [(("knowledge", "facts"), knowledge.facts)]
    tables += [((*path, "facts"), example.facts) for path, _, example in _examples(knowledge)]
    for path, facts in tables:
        for name, value in facts.items():
            if name not in given_facts():
                yield Finding("P240", (*path, name), f"there is no fact `{name}` of devices or cases", hint_among(name, given_facts()), on_key=True)
            elif type(value) is not int:
                yield Finding("P032", (*path, name), f"`{name}` is a whole number")


def check_examples(subject: KnowledgeSubject) -> Iterator[Finding]:
    """P244 to P246: a rule has good and bad examples, and says of each what the author says."""
    for path, rule in _rules(subject.knowledge):
        for kind in ("good", "bad"):
            if not any(example.expect == kind for example in rule.examples):
                yield Finding("P244", (*path, "id"), f"`{rule.id}` has no {kind} example", f'`[[knowledge.rule.example]]` with `expect = "{kind}"` and `code`')
    for path, rule, example in _examples(subject.knowledge):
        if _can_be_tried(rule, subject.knowledge, example):
            yield from _try(path, rule, example, {**subject.knowledge.facts, **example.facts})


def _try(path: Path, rule: Rule, example: RuleExample, facts: Mapping[str, Fact]) -> Iterator[Finding]:
    compiled = compile_rule("", rule)
    report = judge_files([compiled], rule.scope.languages[0], {"example": example.code}, facts)
    broken = [one for one in report.findings if one.level in (rule.severity, WARNING, INFO)]
    unknown = report.of(UNDECIDED)
    place = (*path, "expect")
    if example.expect == "bad":
        if not broken:
            why = unknown[0].message if unknown else "the rule holds" if report.decided else f"it sees no `{rule.about}` there to which it applies"
            yield Finding("P245", place, f"`{rule.id}` does not find this example bad: {why}")
    elif broken:
        yield Finding("P245", place, f"`{rule.id}` finds this example bad: {broken[0].message}", f"line {broken[0].line} of the code")
    elif unknown:
        yield Finding("P246", place, f"`{rule.id}` cannot tell of this example: {unknown[0].message}", "`facts` can give what the code does not")
    elif not report.decided:
        yield Finding("P246", place, f"`{rule.id}` says nothing of this example: it sees no `{rule.about}` to which it applies")


def _can_be_tried(rule: Rule, knowledge: Knowledge, example: RuleExample) -> bool:
    """Whether the rule itself is sound; what is wrong with it has been said at its own line."""
    names = vocabulary(rule.about)
    texts = [text for text in (rule.when, rule.assert_) if text is not None] + [part for words in (rule.message, rule.fix) for _, part in expressions_in(words)]
    facts = {**knowledge.facts, **example.facts}
    is_seen = rule.scope.languages[0] in SUBJECTS[rule.about].languages
    return is_seen and not any(isinstance(_read((), text, names), Finding) for text in texts) and all(type(value) is int for value in facts.values())


def _check_text(path: Path, text: str, names: Mapping[str, Type]) -> Iterator[Finding]:
    parts = expressions_in(text)
    rest = text
    for offset, part in reversed(parts):
        rest = rest[: offset - 1] + " " * (len(part) + 2) + rest[offset + len(part) + 1 :]
    for offset, character in enumerate(rest):
        if character in "{}":
            yield Finding("P243", path, f"a `{character}` without its other half", "braces hold an expression: `{num_warps}`", part=(offset, 1))
    for offset, part in parts:
        read = _read(path, part, names)
        if isinstance(read, Finding):
            yield replace(read, part=(offset + read.part[0], read.part[1]) if read.part else (offset, len(part)))


def _read(path: Path, text: str, names: Mapping[str, Type]) -> Expression | Finding:
    """The expression, or what is wrong with it: an unknown name is an unknown fact."""
    read = read_expression(path, text, names)
    if isinstance(read, Finding) and read.code == "P031" and "name" in read.message:
        hint = read.hint or "the page on knowledge lists them all"
        return replace(read, code="P240", message=read.message.replace("unknown name", "there is no fact"), hint=hint)
    return read


def _kind(kind: Type) -> str:
    return {"int": "number", "float": "number", "str": "text"}.get(kind, kind)


def _rules(knowledge: Knowledge) -> Iterator[tuple[Path, Rule]]:
    yield from ((("knowledge", "rule", index), rule) for index, rule in enumerate(knowledge.rules))


def _examples(knowledge: Knowledge) -> Iterator[tuple[Path, Rule, RuleExample]]:
    for path, rule in _rules(knowledge):
        yield from (((*path, "example", index), rule, example) for index, example in enumerate(rule.examples))


KNOWLEDGE_CHECKS: tuple[KnowledgeCheck, ...] = (check_ids, check_scopes, check_conditions, check_messages, check_facts, check_examples)
"""All of them run, each on every knowledge pack."""
