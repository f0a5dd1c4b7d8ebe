"""`taskpack new`: a task pack that builds, runs and passes as it is."""

from __future__ import annotations

from pathlib import Path

import click

from taskpack.errors import Exit

from .places import shown


@click.command("new")
@click.argument("family")
@click.argument("name")
@click.option("--op", metavar="OP", help="Take the interface of this op, and code that ships for it. Default: NAME, if there is such an op.")
@click.option("--folder", type=click.Path(path_type=Path), metavar="PATH", help="Where to write it, instead of NAME in the current folder.")
def command(family: str, name: str, op: str | None, folder: Path | None) -> int:
    """Write the task local/NAME of a FAMILY into the folder NAME.

    Families: hip2hip, triton2triton, torch2hip, torch2triton, cpp2cpp. The task builds, runs and passes as it is. Nothing is ever overwritten.
    """
    from taskpack.packs.shelf import open_shelf
    from taskpack.scaffold import scaffold

    place = folder or Path(name)
    taken = scaffold(family, name, place, open_shelf(), op=op)
    click.echo(f"made {shown(place)}: a {family} task, {f'about `{taken}`' if taken else 'with an example op of its own'}")
    click.echo(f"next: cd {shown(place)} && taskpack run", err=True)
    return Exit.OK
