"""`taskpack schema`: the JSON Schema of a kind of pack, for editors."""

from __future__ import annotations

import click

from taskpack.errors import NotFound


@click.command("schema")
@click.argument("kind")
def command(kind: str) -> None:
    """Print the JSON Schema of a KIND of pack, such as task; of a run's files: run, unit, result.

    An editor that knows the line `#:schema ./.taskpack/task.schema.json` completes and checks while you type; `new` and `build` put the file there.
    """
    from taskpack import resources

    file = resources.schemas() / f"{kind}.schema.json"
    if not file.is_file():
        kinds = sorted(path.name.partition(".")[0] for path in resources.schemas().glob("*.schema.json"))
        raise NotFound(f"there is no kind `{kind}`", hint=f"kinds: {', '.join(kinds)}")
    click.echo(file.read_text(encoding="utf-8"), nl=False)
