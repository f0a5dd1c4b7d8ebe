"""An archive's files become a folder, whole or not at all; a folder is believed only after its files have been compared."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from taskpack.digest import digest_bytes
from taskpack.errors import IntegrityError

from .archive import File, content_digest, content_list
from .disk import beside, sync_folder, write_new

COMPLETE = ".complete"
"""Beside the files: the canonical list of what they are. Its digest is the content digest."""


def extract(files: Sequence[File], target: Path) -> None:
    """Writes `files`, as `read_archive` gave them, into the folder `target`.

    Of several processes one wins, and the others find its work. Raises IntegrityError where something else is there.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    made = beside(target)
    try:
        _fill(made, files)
        made.rename(target)
        sync_folder(target.parent)
    except OSError:
        shutil.rmtree(made, ignore_errors=True)
        if not os.path.lexists(target):
            raise
        verify(target, content_digest(files))
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise


def verify(folder: Path, content: str) -> None:
    """Raises IntegrityError unless `folder` holds exactly the files of that content digest."""
    try:
        listed = (folder / COMPLETE).read_bytes()
    except OSError:
        listed = b""
    if folder.is_symlink() or digest_bytes(listed) != content:
        raise _altered(folder, "it is no complete copy of the pack")
    rows = {path: (size, digest) for path, _, size, digest in json.loads(listed)["files"]}
    found = set(_walk(folder, ""))
    if found - {COMPLETE} != set(rows):
        raise _altered(folder, f"files are missing, or are too many: {', '.join(sorted((found - {COMPLETE}) ^ set(rows))[:3])}")
    for path, wanted in rows.items():
        held = (folder / path).read_bytes()
        if (len(held), hashlib.sha256(held).hexdigest()) != wanted:
            raise _altered(folder, f"`{path}` is not what was published")


def _fill(made: Path, files: Sequence[File]) -> None:
    made.mkdir(mode=0o700)
    folders = {made}
    for file in files:
        path = made / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        folders.add(path.parent)
        write_new(path, file.content, file.mode)
    write_new(made / COMPLETE, content_list(files))
    for folder in folders:
        sync_folder(folder)
    made.chmod(0o755)


def _walk(folder: Path, inside: str) -> Iterator[str]:
    """Paths of everything below that is no folder, links among them."""
    with os.scandir(folder / inside) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _walk(folder, f"{inside}{entry.name}/")
            else:
                yield f"{inside}{entry.name}"


def _altered(folder: Path, reason: str) -> IntegrityError:
    return IntegrityError(f"{folder} has been altered: {reason}", hint="delete that folder, and `taskpack add` the pack again")
