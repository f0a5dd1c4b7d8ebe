"""Writes docs/reference/cli.md from the commands themselves: `python -m taskpack.cli.reference FILE`."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

import click

from .app import VERBS, root

_WIDTH = 100


def render() -> str:
    """The page: the help of every verb, and the exit codes."""
    parts = ["# The command line", "", "Made from the commands by `make generate`.", "", *_section("taskpack", root)]
    context = click.Context(root, info_name="taskpack")
    for verb in VERBS:
        command = root.get_command(context, verb)
        assert command is not None
        parts += _section(f"taskpack {verb}", command, context)
    return "\n".join(parts).rstrip() + "\n"


def _section(title: str, command: click.Command, parent: click.Context | None = None) -> list[str]:
    context = click.Context(command, info_name=title.rpartition(" ")[2], parent=parent, terminal_width=_WIDTH, help_option_names=["-h", "--help"])
    return [f"## {title}", "", "```text", inspect.cleandoc(command.get_help(context)), "```", ""]


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(render(), encoding="utf-8", newline="\n")
