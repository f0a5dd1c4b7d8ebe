"""Documents say what is there: commands exist, pages are fresh, links lead somewhere."""

import re
import shlex
from pathlib import Path

import click
import pytest

from taskpack.cli.app import VERBS, root
from taskpack.cli.reference import render

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
PROSE = [path for path in PAGES if "reference" not in path.parts]


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _commands(path: Path) -> list[list[str]]:
    """Every `taskpack …` of the page, in its blocks of shell and in backticks."""
    text = path.read_text(encoding="utf-8")
    blocks = "\n".join(re.findall(r"```(?:sh|console)\n(.*?)```", text, re.DOTALL))
    lines = re.findall(r"^(?:\$ )?(taskpack [^\n#]*)", blocks, re.MULTILINE) + re.findall(r"`(taskpack [a-z][^`\n]*)`", text)
    parts = [part.strip() for line in lines for part in line.split("&&")]
    return [shlex.split(part)[1:] for part in parts if part.startswith("taskpack ")]


def test_the_page_of_the_command_line_is_fresh() -> None:
    page = ROOT / "docs" / "reference" / "cli.md"
    assert page.read_text(encoding="utf-8") == render(), "`make generate` writes it anew"


@pytest.mark.parametrize("path", PROSE, ids=_name)
def test_commands_in_documents_exist(path: Path) -> None:
    context = click.Context(root)
    for words in _commands(path):
        if words[0].startswith("-"):
            continue
        assert words[0] in VERBS, words
        command = root.get_command(context, words[0])
        assert command is not None
        known = {name for option in command.params for name in option.opts} | {"--help"}
        assert {word.partition("=")[0] for word in words[1:] if word.startswith("--")} <= known, words


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_is_documented(verb: str) -> None:
    command = root.get_command(click.Context(root), verb)
    assert command is not None
    assert command.help
    assert all(option.help for option in command.params if isinstance(option, click.Option))
    assert f"taskpack {verb}" in (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")


def test_every_door_of_the_documents_is_in_the_makefile() -> None:
    doors = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for path in PROSE:
        named = set(re.findall(r"(?:^|`)make ([a-z][a-z-]*)", path.read_text(encoding="utf-8"), re.MULTILINE))
        assert named <= doors, path


@pytest.mark.parametrize("path", PAGES, ids=_name)
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (path.parent / target).exists(), target


def test_architecture_names_every_module() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    modules = [path for path in (ROOT / "taskpack").rglob("*.py") if path.name not in ("__init__.py", "__main__.py")]
    missing = [_name(path) for path in modules if f"`{path.relative_to(ROOT / 'taskpack').as_posix()}`" not in text]
    assert missing == []
