"""`taskpack add`: a pack of an index, with what it needs, is installed and pinned by digest."""

from __future__ import annotations

import json
from pathlib import Path

import click

from taskpack.errors import Exit, UsageError

from .places import shown


@click.command("add")
@click.argument("name", metavar="NAME[@VERSION]")
@click.option("--index", required=True, type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="The folder of the index.")
@click.option("--json", "as_json", is_flag=True, help="Print what was pinned as JSON.")
def command(name: str, index: Path, as_json: bool) -> int:
    """Install a pack from an index, and pin it in taskpack.lock.

    VERSION is one version, or a requirement such as ^1.0; without it, the highest release is taken. Every digest is compared before anything is
    unpacked, and nothing of the pack is executed. Other verbs then find it by its name, from this folder and those below.
    """
    from taskpack.packs.names import is_pack_name
    from taskpack.packs.versions import parse_requirement
    from taskpack.registry.adding import add
    from taskpack.registry.index import open_folder
    from taskpack.registry.lock import LOCK, find_lock

    pack, _, requirement = name.partition("@")
    if not is_pack_name(pack):
        raise UsageError(f"{pack!a} is no name of a pack", hint="namespace/name, such as `demo/softmax`, and `@VERSION` if you like")
    try:
        parse_requirement(requirement or "*")
    except ValueError as error:
        raise UsageError(str(error)) from None
    lock = find_lock(Path.cwd()) or Path(LOCK)
    pins = add(pack, requirement or "*", open_folder(index), lock)
    if as_json:
        rows = [{"name": pin.name, "version": pin.release.version, "content": pin.release.content, "registry": pin.registry} for pin in pins.values()]
        click.echo(json.dumps({"format": 1, "packs": rows}, indent=1))
    else:
        for pin in pins.values():
            click.echo(f"{pin}  {pin.release.content}{'  (ships with taskpack)' if pin.registry == 'shipped' else ''}")
        click.echo(f"pinned in {shown(lock)}")
    return Exit.OK
