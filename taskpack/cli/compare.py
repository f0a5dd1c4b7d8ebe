"""`taskpack compare`: two runs, unit by unit, and which differences are noise."""

from __future__ import annotations

import json

import click

from .kept import find_run, terminal_width


@click.command("compare")
@click.argument("first")
@click.argument("second")
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
def command(first: str, second: str, as_json: bool) -> None:
    """Compare the runs FIRST and SECOND: folders, or names in .taskpack/runs/.

    Units are paired by task, attempt and target. Speedups whose 95 % intervals overlap differ by noise; a unit whose task has another meaning now is not
    compared at all.
    """
    from taskpack.reports.run import render_comparison
    from taskpack.runs.folder import read_units
    from taskpack.scoring.compare import compare_units

    comparison = compare_units(read_units(find_run(first)), read_units(find_run(second)))
    if as_json:
        click.echo(json.dumps(comparison, indent=1, ensure_ascii=False))
    else:
        click.echo(render_comparison(comparison, colour=True, width=terminal_width()), nl=False)
