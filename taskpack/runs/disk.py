"""Files that are there whole or not at all, and that nothing replaces once they are there."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def to_text(value: Mapping[str, Any]) -> str:
    """JSON that two runs can be compared by: sorted keys, an indent of one, no NaN."""
    return json.dumps(value, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def put_if_absent(path: Path, text: str) -> bool:
    """Creates the file with that content, on disk before this returns; False, and nothing is changed, where it exists."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fchmod(handle, 0o644)
            os.fsync(handle)
        try:
            os.link(name, path)
        except FileExistsError:
            return False
    finally:
        Path(name).unlink(missing_ok=True)
    _sync(path.parent)
    return True


def put_folder(path: Path, files: Mapping[str, bytes]) -> None:
    """Makes a folder of files, whole at once; what lies there from an attempt that was killed goes first."""
    made = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
    try:
        made.chmod(0o755)
        for name, content in files.items():
            file = made / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
            _sync(file)
        shutil.rmtree(path, ignore_errors=True)
        made.rename(path)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
    _sync(path.parent)


def sweep(folder: Path) -> None:
    """Removes what killed writers left under temporary names; nobody may be writing there."""
    for leftover in folder.glob(".*"):
        shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink(missing_ok=True)


def append_line(path: Path, value: Mapping[str, Any]) -> None:
    """Adds one line of JSON in one write, so that lines of several writers do not mix."""
    line = json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False).encode() + b"\n"
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(handle, line)
    finally:
        os.close(handle)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
