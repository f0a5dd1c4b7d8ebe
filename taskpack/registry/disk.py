"""Files that are there as a whole or not at all, also after a crash."""

from __future__ import annotations

import os
from pathlib import Path


def write_new(path: Path, content: bytes, mode: int = 0o644) -> None:
    """A file that was not there; its bytes are on the disk when this returns. Raises FileExistsError."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, flags, mode), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Puts the folder's names on the disk; Windows opens no folders, and needs none of it."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def beside(path: Path) -> Path:
    """A hidden name in the same folder that nobody else has: what is made there can be renamed to `path`."""
    return path.with_name(f".{path.name[:40]}.{os.urandom(8).hex()}.tmp")


def make_folder(folder: Path) -> None:
    """The folder and those above it, each name on the disk."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    sync_folder(folder.parent)
