"""`taskpack build`: tasks become executable harnesses, or are printed at one of the stages before that."""

from __future__ import annotations

import click

from taskpack.errors import Exit, TaskpackError, UsageError

from .places import shown
from .wording import say_error


@click.command("build")
@click.argument("packs", nargs=-1, metavar="[PACKS]...")
@click.option("--target", default="auto", show_default=True, metavar="NAME", help="Such as cpu or h200; auto: the machine's GPU, or its CPU.")
@click.option("--emit", type=click.Choice(["pack", "plan", "harness"]), help="Print this stage of one task, and build nothing.")
def command(packs: tuple[str, ...], target: str, emit: str | None) -> int:
    """Compile tasks and models into executable harnesses.

    A harness is one .pyz that runs with `python X.pyz` wherever torch is. Where nothing has changed, nothing is done. Packs of other kinds are passed over.
    Of several tasks all are built, and the worst exit code is returned.
    """
    from .building import build, print_stage
    from .subjects import find_tasks

    subjects = find_tasks(packs, ("task", "model"))
    if emit:
        if len(subjects.folders) != 1:
            raise UsageError(f"--emit prints one task, and {len(subjects.folders)} were named")
        click.echo(print_stage(subjects.folders[0], target, subjects.shelf, emit), nl=False)
        return Exit.OK
    worst: int = Exit.OK
    for folder in subjects.folders:
        try:
            built = build(folder, target, subjects.shelf)
        except TaskpackError as error:
            if len(subjects.folders) == 1:
                raise
            worst = max(worst, say_error(error))
        else:
            click.echo(f"{shown(built.path)}: {'up to date' if built.is_up_to_date else 'built'}")
    return worst
