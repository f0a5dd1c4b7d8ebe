"""`.taskpack/`: the folder beside a pack for what is made from it. It ignores itself in git."""

from __future__ import annotations

import functools
import os
import tempfile
from pathlib import Path

from . import resources

MADE = ".taskpack"


def furnish(made: Path, kind: str | None = None) -> None:
    """Makes the folder with its word to git, and the schema to which the first line of a pack of that kind points."""
    wanted = {made / ".gitignore": b"*\n"}
    if kind:
        schema = f"{kind}.schema.json"
        wanted[made / schema] = (resources.schemas() / schema).read_bytes()
    for path, content in wanted.items():
        if not path.is_file() or path.read_bytes() != content:
            write_atomically(path, content)


def write_atomically(path: Path, content: bytes, mode: int = 0o644) -> None:
    """The whole content under its name, or what was there before."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        Path(temporary).chmod(mode & ~_umask())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink()
        raise


@functools.cache
def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
