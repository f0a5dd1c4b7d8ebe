"""The reference pages on packs: made from the models, the expression language and the table of codes."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from taskpack.runtime.facts.vocabulary import CASES, SUBJECTS, Word

from . import grammar
from .codes import CODES
from .header import Pack
from .inits import Init
from .kinds import KINDS, Kind
from .op import Draw
from .suite import POLICIES, SCORE_NAMES
from .target import LIMITS, PEAKS
from .task import FAMILIES, MODULE_FAMILIES

_ERRORS = """# Mistakes in packs

`taskpack check` reports all of them at once, as `file:line:column: error[code]: message`. Warnings do not fail a check.
Each example below is a test.
"""
_ELEMENTS = grammar.SUMMARY.partition(", and the functions")[0].replace("+ - * / // % **", "`+ - * / // % **`")
_MADE = "<!-- Made by `make generate` from taskpack/packs; edit that. -->\n"


def write_pages(folder: Path, bad: Path) -> None:
    """Writes kinds.md, expressions.md, errors.md and a page per kind; `bad` holds the packs with mistakes that errors.md shows."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages(bad).items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


def pages(bad: Path) -> dict[str, str]:
    """File name → content."""
    made = {"kinds.md": _kinds_page(), "expressions.md": _expressions_page(), "errors.md": _errors_page(bad)}
    made |= {f"{kind.name}.md": _kind_page(kind) for kind in KINDS.values()}
    return {name: _MADE + text for name, text in made.items()}


def _kinds_page() -> str:
    rows = "\n".join(f"| [`{kind.name}`]({kind.name}.md) | {kind.summary} |" for kind in KINDS.values())
    return (
        "# Kinds of packs\n\nA pack is a folder with a `pack.toml`. Its `kind` says what it holds.\n\n"
        f"| kind | holds |\n| --- | --- |\n{rows}\n\n"
        "Every `pack.toml` starts with `format = 1` and a table `[pack]`; unknown keys are refused.\n\n"
        f"{_section('`[pack]`', Pack)}"
    )


def _kind_page(kind: Kind) -> str:
    sections = [_section(heading, model) for heading, model in _tables(kind)]
    head = f"# The kind `{kind.name}`\n\nA pack of this kind holds {kind.summary}. `[pack]` is the same in [all kinds](kinds.md).\n\n"
    if kind.name == "task":
        rows = "\n".join(f"| `{family.name}` | {family.summary} |" for family in (*FAMILIES.values(), *MODULE_FAMILIES.values()))
        sections.append(f"## Families\n\nThe languages of baseline and candidate make the family.\n\n| family | what is asked |\n| --- | --- |\n{rows}\n")
        sections.append("## `[op]`\n\nAn op of the task's own, instead of `task.op`: see [the kind `op`](op.md).\n")
    if kind.name == "target":
        sections.append(_numbers_section())
    if kind.name == "op":
        sections += [_rules_section(), _inits_section()]
    if kind.name == "suite":
        sections.append(_score_section())
    if kind.name == "knowledge":
        sections.append(_facts_section())
    return head + "\n".join(sections)


def _tables(kind: Kind) -> Iterator[tuple[str, type[BaseModel]]]:
    """The kind's own table and those inside it, each with its heading; the op of a task has its own page."""
    (name, model), *_ = kind.tables.items()
    yield f"`[{name}]`", model
    seen: dict[type[BaseModel], list[str]] = {}
    for heading, inner in _inner_tables(name, model):
        seen.setdefault(inner, []).append(heading)
    yield from ((", ".join(headings), inner) for inner, headings in seen.items())


def _inner_tables(path: str, model: type[BaseModel]) -> Iterator[tuple[str, type[BaseModel]]]:
    for key, field in _fields(model):
        inner = _model_in(field.annotation)
        if inner is None or inner in (Init, Draw):
            continue
        shape = typing.get_origin(_without_none(field.annotation))
        here = f"{path}.{key}"
        if shape is tuple:
            yield f"`[[{here}]]`", inner
        else:
            here = f"{here}.<name>" if shape is not None and issubclass(shape, Mapping) else here
            yield f"`[{here}]`", inner
        yield from _inner_tables(here, inner)


def _section(heading: str, model: type[BaseModel], level: str = "##") -> str:
    doc = (model.__doc__ or "").strip().partition(": ")
    sentence = doc[2] if doc[0].startswith("`[") else "".join(doc)
    return f"{level} {heading}\n\n{_capital(_line(sentence))}\n\n{_key_table(model)}"


def _key_table(model: type[BaseModel]) -> str:
    rows = [f"| `{key}` | {_type_words(field.annotation)} | {_default(field)} | {_line(_description(field))} |" for key, field in _fields(model)]
    return "| key | type | default | meaning |\n| --- | --- | --- | --- |\n" + "\n".join(rows) + "\n" if rows else "No keys.\n"


def _rules_section() -> str:
    words = "In an unseen table a name is given a literal, or a rule from which its value is drawn:"
    return f"## Rules of draws\n\n{words} `cols = {{ range = [1, 900], not-multiple-of = 32 }}`.\n\n{_key_table(Draw)}"


def _inits_section() -> str:
    parts = ["## `init`\n\nHow the values of an input are made: exactly one key, as in `init = { normal = { std = 3.0 } }`.\n"]
    for key, field in _fields(Init):
        inner = _model_in(field.annotation)
        parts.append(f"### `{key}`\n\n{_line(_description(field))}\n" + (f"\n{_key_table(inner)}" if inner and inner.model_fields else ""))
    return "\n".join(parts)


def _numbers_section() -> str:
    limits = "\n".join(f"| `{name}` | {unit} |" for name, unit in LIMITS.items())
    peaks = ", ".join(f"`{name}`" for name in PEAKS)
    return (
        f"## Names of numbers\n\nThose that taskpack looks for; others may be added.\n\n| in `limits` | unit |\n| --- | --- |\n{limits}\n\n"
        f"In `peak`: {peaks}; `bandwidth` in bytes/s, the others in operations/s.\n"
    )


def _score_section() -> str:
    policies = "\n".join(f"| `{name}` | {policy.summary} | `{policy.unit}` | {policy.aggregate} |" for name, policy in POLICIES.items())
    names = "\n".join(f"| `{name}` | {'condition' if kind == 'bool' else 'number'} | {meaning} |" for name, (kind, meaning) in SCORE_NAMES.items())
    return (
        f"## Policies\n\n| policy | a unit is worth | as an expression | taken together by |\n| --- | --- | --- | --- |\n{policies}\n\n"
        "A unit that is right and was not timed has a score that is marked as partial: what needs the speed is left out, or, where nothing can be said "
        "without it, there is none. A unit that was planned and never judged passed nothing, and counts.\n\n"
        f"## Names in `score.unit`\n\nAn [expression](expressions.md) over these:\n\n| name | type | meaning |\n| --- | --- | --- |\n{names}\n"
    )


def _facts_section() -> str:
    head = (
        "## Facts\n\nConditions are [expressions](expressions.md) over facts. A fact that cannot be had is *unknown*: then the rule is reported as undecided, "
        "and is never taken as met. Every rule sees the target's limits, with underscores (`warp_size`, `max_threads_per_block`: "
        f"see [the kind `target`](target.md)), and, of the task's seen cases: {_listed(CASES)}.\n"
    )
    parts = [head]
    types_of = {"int": "whole number", "bool": "true or false", "str": "text"}
    for name, about in SUBJECTS.items():
        rows = "\n".join(f"| `{word}` | {types_of[fact.type]} | {fact.meaning} |" for word, fact in about.facts.items())
        languages = " and ".join(about.languages)
        parts.append(f'### `about = "{name}"`\n\n{_capital(about.meaning)} ({languages}).\n\n| fact | type | meaning |\n| --- | --- | --- |\n{rows}\n')
    return "\n".join(parts)


def _listed(words: Mapping[str, Word]) -> str:
    return "; ".join(f"`{name}`, {word.meaning}" for name, word in words.items())


def _expressions_page() -> str:
    rows = "\n".join(f"| `{function.call}` | {function.summary} |" for function in grammar.FUNCTIONS.values())
    return f"""# Expressions

Sizes, costs, constraints and the like are expressions: a small subset of Python's, checked when the pack is checked and compiled
into the harness. There are {_ELEMENTS}, and these functions:

| function | value |
| --- | --- |
{rows}

Names stand for what the op declares:

| name of | type | may stand in |
| --- | --- | --- |
| dimension | whole number | every expression |
| dtype variable | dtype | every expression; `sizeof(T)`, `T == "float16"` |
| flag | condition | every expression; `1 if causal else 0` makes a number of it |
| scalar | number or condition | every expression |
| input, inout | tensor | `invariants`, and `derive` of an input declared after it |

- Sizes are whole numbers: `//` and `ceil_div` give them, `/` does not.
- Arithmetic and comparisons work on tensors element by element; a condition wants a number of them (`last(offsets) == tokens`).
- `and`, `or` and `not` take conditions, not numbers.
- An exponent is written out: a whole number from 0 to {grammar.GREATEST_EXPONENT}.
- At most {grammar.LONGEST} characters, nested at most {grammar.DEEPEST} deep.
- What depends on something that cannot be known at the time is *unknown*; a condition that is unknown never counts as met.
"""


def _errors_page(bad: Path) -> str:
    parts = [_ERRORS]
    for code, entry in CODES.items():
        example = min(bad.glob(f"{code}-*/expected.txt")).read_text(encoding="utf-8")
        kind = " (warning)" if entry.is_warning else ""
        parts.append(f"## {code}: {entry.title}{kind}\n\n{entry.explanation}\n\n```text\n{example}```\n")
    return "\n".join(parts)


def _fields(model: type[BaseModel]) -> Iterator[tuple[str, FieldInfo]]:
    yield from ((field.alias or name, field) for name, field in model.model_fields.items())


def _description(field: FieldInfo) -> str:
    """The key's own words, else those of its table."""
    if field.description:
        return field.description
    inner = _model_in(field.annotation)
    doc = ((inner.__doc__ if inner else None) or "").partition("\n\n")[0]
    return _capital(doc.partition(": ")[2] or doc)


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.default
    if value is PydanticUndefined or value in ((), None, "") or isinstance(value, BaseModel):
        return ""
    return f"`{str(value).lower() if isinstance(value, bool) else repr(value).replace(chr(39), chr(34))}`"


def _type_words(annotation: Any) -> str:
    """A type as TOML has it."""
    annotation = _without_none(annotation)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel) and not typing.get_args(annotation):
        return "table"
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return _type_words(arguments[0])
    if origin is typing.Literal:
        return " or ".join(f"`{value}`" if not isinstance(value, bool) else f"`{str(value).lower()}`" for value in arguments)
    if origin is tuple:
        return f"list of {_plural(_type_words(arguments[0]))}" if arguments[-1] is Ellipsis else "two numbers"
    if origin in (typing.Union, types.UnionType):
        words = list(dict.fromkeys(_type_words(argument) for argument in arguments))
        return " or ".join(word for word in words if not (word == "whole number" and "number" in words))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return f"table of {_plural(_type_words(arguments[1]))}"
    return {str: "text", int: "whole number", float: "number", bool: "true or false"}[annotation]


def _without_none(annotation: Any) -> Any:
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        kept = [argument for argument in typing.get_args(annotation) if argument is not types.NoneType]
        return kept[0] if len(kept) == 1 else typing.Union[tuple(kept)]  # noqa: UP007
    return annotation


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and not typing.get_args(annotation) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for argument in typing.get_args(annotation) if (found := _model_in(argument))), None)


def _plural(words: str) -> str:
    if words.startswith("list of "):
        return words.replace("list of ", "lists of ", 1)
    return {"text": "texts", "whole number": "whole numbers", "number": "numbers", "table": "tables"}.get(words, words)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _line(text: str) -> str:
    """One line, fit for a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")
