"""`taskpack prompt`: exactly what an agent is told of a task."""

from __future__ import annotations

import click


@click.command("prompt")
@click.argument("task")
@click.option(
    "--target", default="auto", show_default=True, metavar="NAME", help="Where it is judged, such as cpu or h200; auto: the machine's GPU, or its CPU."
)
def command(task: str, target: str) -> None:
    """Print what an agent is told of TASK: a pack's folder, or its name.

    In its workspace lie this prompt, the baseline, the seen cases and the program `check`, which asks the judge; nothing of what judges it lies there.
    """
    from taskpack.arena.briefing import brief

    from .subjects import find_task
    from .targets import choose_target

    folder, shelf = find_task(task, "a prompt is of one")
    click.echo(brief(folder, choose_target(target, folder, shelf), shelf).prompt, nl=False)
