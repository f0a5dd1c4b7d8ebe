"""`taskpack trials`: what a run of a pipeline proposed, and what came of it."""

from __future__ import annotations

import json

import click

from .kept import find_run, terminal_width


@click.command("trials")
@click.argument("run")
@click.option("--json", "as_json", is_flag=True, help="Print the tree as JSON.")
def command(run: str, as_json: bool) -> None:
    """Show the stages and trials of a RUN of `taskpack optimize`: its folder, or its name in .taskpack/runs/.

    A stage stands with its trials below it, the one that was taken over marked with an arrow, or with the reason why it had nothing to do.
    """
    from taskpack.forge.store import read_tree
    from taskpack.reports.trials import render_trials

    tree = read_tree(find_run(run))
    click.echo(json.dumps(tree, indent=1, ensure_ascii=False) if as_json else render_trials(tree, colour=True, width=terminal_width()), nl=as_json)
