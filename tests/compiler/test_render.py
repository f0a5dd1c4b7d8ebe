"""The harness's page: valid Python that names what it uses, and short."""

import ast
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import jinja2
import pytest

from taskpack import resources
from taskpack.compiler.plan import Names, Plan, Program
from taskpack.compiler.render import TEMPLATE, render_plan

from .conftest import lower

TEMPLATES = resources.templates() / "harness"


def _functions(plan: Plan) -> dict[str, object]:
    """The page's functions, run with the runtime's own."""
    text = render_plan(plan, TEMPLATES).replace("taskpack_runtime", "taskpack.runtime")
    page: dict[str, object] = {"__name__": "harness", "__file__": "harness.py"}
    exec(compile(text, "harness.py", "exec"), page)
    return page


def test_the_template_is_a_page() -> None:
    assert len((TEMPLATES / TEMPLATE).read_text(encoding="utf-8").splitlines()) <= 80


def test_what_is_written_passes_the_linter(tmp_path: Path) -> None:
    (tmp_path / "harness.py").write_text(render_plan(lower(), TEMPLATES), encoding="utf-8")
    ruff = [Path(sys.executable).with_name("ruff"), "check", "--isolated", "--select", "E,F,W,B,UP", "--line-length", "160", "--no-cache", tmp_path]
    done = subprocess.run(ruff, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_functions_answer() -> None:
    page = _functions(lower())
    values = {"tokens": 20, "cols": 3, "segments": 4, "T": "float16", "weighted": False, "gain": 0.5}
    call = lambda name, *given: page[name](*given, **values)  # type: ignore[operator]  # noqa: E731
    assert call("shapes")["offsets"] == (5,)
    assert call("shapes")["x"] == (20, 3)
    assert call("inits")["offsets"] == {"partition": {"of": 20}}
    assert call("constraints") == (("tokens >= segments", True), ("cols > 0", True))
    assert call("reductions") == {"total": 5, "mean": 5}
    assert call("cost") == {"bytes": 20 * 3 * 2 + 3 * 4 * 3 * 2, "flops": 120}
    with pytest.raises(KeyError):
        call("derived", "x", {})


def test_an_op_without_names_is_python_too() -> None:
    plan = replace(lower(), names=Names(), program=Program(shapes={"x": "(3,)"}))
    page = _functions(plan)
    assert page["shapes"]() == {"x": (3,)}  # type: ignore[operator]
    assert "taskpack_runtime.expressions" not in render_plan(plan, TEMPLATES)


def test_a_template_that_names_what_no_plan_has_is_a_bug(tmp_path: Path) -> None:
    (tmp_path / TEMPLATE).write_text("{{ plan.weather }}")
    with pytest.raises(jinja2.UndefinedError, match="weather"):
        render_plan(lower(), tmp_path)


def test_a_template_that_writes_no_python_is_a_bug(tmp_path: Path) -> None:
    (tmp_path / TEMPLATE).write_text("return {{ plan.task }}")
    with pytest.raises(SyntaxError):
        render_plan(lower(), tmp_path)


def test_words_of_an_author_cannot_leave_their_quotes() -> None:
    plan = lower()
    evil = replace(plan.program.constraints[0], source="""1 == 1 '"), __import__("os") #\\""")
    text = render_plan(replace(plan, program=replace(plan.program, constraints=(evil,))), TEMPLATES)
    assert not [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name) and node.id == "__import__"]
