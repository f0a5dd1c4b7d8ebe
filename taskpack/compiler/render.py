"""A plan becomes the text of its harness: one page of Python that holds the op's expressions and nothing else."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from pathlib import Path

import jinja2

from .plan import Checked, Plan

TEMPLATE = "harness.py.j2"


def render_plan(plan: Plan, templates: Path) -> str:
    """The source of `harness.py`, from `templates/harness.py.j2`; raises UndefinedError or SyntaxError where the template is wrong."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(templates),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    environment.filters |= {"table": _table, "checks": _checks, "tensors_in": _tensors_in}
    text = environment.get_template(TEMPLATE).render(plan=plan, signature=_signature(plan))
    compile(text, TEMPLATE, "exec", dont_inherit=True)
    return text


def _signature(plan: Plan) -> str:
    names = plan.names.all()
    return "*, " + ", ".join(names) if names else ""


def _table(entries: Mapping[str, str]) -> str:
    return _block("{", [f'"{key}": {python}' for key, python in entries.items()], "}")


def _checks(checks: tuple[Checked, ...]) -> str:
    return _block("(", [f"({_quoted(check.source)}, {check.python})" for check in checks], ")")


def _block(opening: str, lines: list[str], closing: str) -> str:
    """A collection with one item a line, inside a function's `return`."""
    if not lines:
        return opening + closing
    return "\n".join([opening, *(f"        {line}," for line in lines), f"    {closing}"])


def _quoted(text: str) -> str:
    """A Python literal in double quotes, as the formatter would write it."""
    literal = repr(text)
    return f'"{literal[1:-1]}"' if literal[0] == "'" and '"' not in literal else literal


def _tensors_in(expressions: Iterable[str], plan: Plan) -> list[str]:
    """The tensors that the expressions name, in the order of the op's arguments."""
    used = {node.id for text in expressions for node in ast.walk(ast.parse(text, mode="eval")) if isinstance(node, ast.Name)}
    return [argument.name for argument in plan.tensors() if argument.name in used]
