"""`taskpack publish`: a version of a pack becomes public in an index, for good."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from taskpack.errors import Exit, NotFound, UsageError

from .places import shown

if TYPE_CHECKING:
    from taskpack.publishing.publish import Report
    from taskpack.registry.index import Index


@click.command("publish")
@click.argument("pack", default=".")
@click.option(
    "--index", required=True, type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="The folder of the index; begun where it is empty."
)
@click.option("--dry-run", is_flag=True, help="Say what would be published, and write nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print files, sizes, digests, verdicts and the event as JSON.")
def command(pack: str, index: Path, dry_run: bool, as_json: bool) -> int:
    """Publish a version of PACK into an index.

    PACK is a pack's folder or its name. The rules are shown one by one; the version must fit what changed since the one before. Exits 1 if a rule says no, 4 if
    the version is there with other content, and 0, without a new event, if the same content is there.
    """
    from taskpack.publishing.publish import PublishRefused, publish

    from .subjects import find_subjects

    folders = find_subjects([pack]).folders
    if len(folders) != 1:
        raise UsageError(f"one pack is published at a time, and {pack} holds {len(folders)}")
    try:
        report = publish(folders[0], _open(index, is_rehearsal=dry_run), is_rehearsal=dry_run)
    except PublishRefused as refused:
        _show(refused.report, "refused", as_json=as_json)
        raise
    status = "unchanged" if report.event is None else "dry run" if dry_run else "published"
    _show(report, status, as_json=as_json)
    words = {"unchanged": "already published, with the same content", "dry run": "a dry run: nothing was written", "published": f"published in {shown(index)}"}
    click.echo(f"{report.name} {report.release.version}: {words[status]}", err=as_json)
    return Exit.OK


def _open(folder: Path, *, is_rehearsal: bool) -> Index | None:
    from taskpack.registry.index import begin_folder, open_folder

    if not is_rehearsal:
        return begin_folder(folder)
    try:
        return open_folder(folder)
    except NotFound:
        return None


def _show(report: Report, status: str, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(_document(report, status), indent=1, ensure_ascii=False))
        return
    width = max(len(path) for path, _ in report.files)
    click.echo(f"{report.name} {report.release.version} ({report.release.kind})")
    for path, size in report.files:
        click.echo(f"  {path:<{width}}  {size:>9,} B")
    if report.left_out:
        click.echo(f"  left out: {', '.join(report.left_out)}")
    click.echo(f"content  {report.release.content}\nblob     {report.release.blob}  {report.release.size:,} B\nchanges  {report.changes}")
    for rule, reason in report.verdicts:
        click.echo(f"{click.style('no ', fg='red') if reason else click.style('yes', fg='green')}      {rule}{f': {reason}' if reason else ''}")
    if report.event:
        click.echo(f"event    {json.dumps(report.event.to_dict(), sort_keys=True, ensure_ascii=False)}")


def _document(report: Report, status: str) -> dict[str, Any]:
    return {
        "format": 1,
        "status": status,
        "name": report.name,
        "version": report.release.version,
        "files": [{"path": path, "size": size} for path, size in report.files],
        "left-out": list(report.left_out),
        "content": report.release.content,
        "blob": report.release.blob,
        "size": report.release.size,
        "changes": report.changes,
        "rules": [{"rule": rule, "holds": not reason, "reason": reason} for rule, reason in report.verdicts],
        "event": report.event.to_dict() if report.event else None,
    }
