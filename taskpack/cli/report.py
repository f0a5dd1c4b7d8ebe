"""`taskpack report`: a run that was kept, as text or JSON."""

from __future__ import annotations

import json

import click

from .kept import find_run, terminal_width


@click.command("report")
@click.argument("run")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def command(run: str, as_json: bool) -> None:
    """Show a RUN that was kept: its folder, or its name in .taskpack/runs/.

    Of one task, the verdicts and timings in full; of several units, a table of all that were planned, judged or not, and how many that are right on the
    cases that were shown are right on those that were withheld, too; of a pipeline, its trials.
    """
    from taskpack.forge.store import read_tree
    from taskpack.reports.run import render_run
    from taskpack.reports.trials import render_trials
    from taskpack.runs.folder import read_units
    from taskpack.scoring.summary import summarise_run

    found = find_run(run)
    units = read_units(found)
    if as_json:
        click.echo(json.dumps(summarise_run(found.header, units), indent=1, ensure_ascii=False))
    elif found.header.kind == "forge":
        click.echo(render_trials(read_tree(found), colour=True, width=terminal_width()), nl=False)
    else:
        click.echo(render_run(found, units, colour=True, width=terminal_width()), nl=False)
