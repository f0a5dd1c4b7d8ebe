"""`taskpack check`: every mistake in packs, at once, without running any of their code; with `--probe`, whether their tasks refuse wrong answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from taskpack.errors import Diagnostic, Exit, PackInvalid

from .places import shown

if TYPE_CHECKING:
    from taskpack.packs.load import Loaded
    from taskpack.packs.shelf import Shelf


@click.command("check")
@click.argument("packs", nargs=-1, metavar="[PACKS]...")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.option("--probe", "is_probing", is_flag=True, help="Then also run each task's reference, and see whether its cases refuse wrong answers.")
@click.option("--jobs", type=click.IntRange(1, 64), default=2, show_default=True, metavar="N", help="Of --probe: how many tasks at a time.")
def command(packs: tuple[str, ...], as_json: bool, is_probing: bool, jobs: int) -> int:
    """Report every mistake in packs, each with its line.

    Nothing of a pack is executed, but with --probe the references of its tasks, walled off as in a run. Exits 1 if there is an error or a weak
    task; warnings alone exit 0.
    """
    from taskpack.packs.check import check_pack

    from .subjects import find_subjects

    subjects = find_subjects(packs)
    read = {shown(folder): _load(folder, subjects.shelf) for folder in subjects.folders}  # all of them first: they may depend on each other
    found = {place: loaded if isinstance(loaded, tuple) else check_pack(loaded, subjects.shelf) for place, loaded in read.items()}
    if not as_json:
        _print_text(found)
    if _count(found, warnings=False) or not is_probing:
        if as_json:
            _print_json(found, {})
        return Exit.FAILED if _count(found, warnings=False) else Exit.OK
    from .probing import probe, show

    probed = probe(subjects, jobs)
    if as_json:
        _print_json(found, {"probes": [one.to_dict() for one in probed]})
    else:
        show(probed)
    return max((one.code for one in probed), default=Exit.OK)


def _load(folder: Path, shelf: Shelf) -> Loaded | tuple[Diagnostic, ...]:
    try:
        return shelf.load(Path(shown(folder)))
    except PackInvalid as invalid:
        return invalid.diagnostics


def _print_text(found: dict[str, tuple[Diagnostic, ...]]) -> None:
    from taskpack.packs.diagnostics import render_diagnostics

    for diagnostics in found.values():
        if diagnostics:
            click.echo(render_diagnostics(diagnostics, colour=True))
    click.echo(_summary(found))


def _summary(found: dict[str, tuple[Diagnostic, ...]]) -> str:
    errors, warnings = _count(found, warnings=False), _count(found, warnings=True)
    counts = [_counted(number, noun) for number, noun in ((errors, "error"), (warnings, "warning")) if number]
    return f"checked {_counted(len(found), 'pack')}: {', '.join(counts) or 'no problems'}"


def _print_json(found: dict[str, tuple[Diagnostic, ...]], more: dict[str, Any]) -> None:
    from taskpack.packs.diagnostics import to_dict

    packs = [{"folder": folder, "findings": [to_dict(diagnostic) for diagnostic in diagnostics]} for folder, diagnostics in found.items()]
    document = {"format": 1, "packs": packs, "errors": _count(found, warnings=False), "warnings": _count(found, warnings=True), **more}
    click.echo(json.dumps(document, indent=1, ensure_ascii=False))


def _count(found: dict[str, tuple[Diagnostic, ...]], *, warnings: bool) -> int:
    return sum(diagnostic.is_warning == warnings for diagnostics in found.values() for diagnostic in diagnostics)


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
