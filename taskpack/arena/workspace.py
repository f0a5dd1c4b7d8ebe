"""A folder in which an agent works: made fresh, and afterwards taken apart into the candidate and the rest."""

from __future__ import annotations

import difflib
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from taskpack import resources

from .briefing import PROMPT, Briefing

CHECK, DOOR = "check", ".door"
_LARGEST = 16 << 20
"""Bytes of a candidate's file, as the judge has it."""
_DEEPEST = 64
"""Folders within folders that are looked into."""
_LONGEST_DIFF = 1 << 20
_LARGEST_COMPARED = 256 << 10
_MOST_FILES = 2000


@dataclass(frozen=True)
class Workspace:
    """A folder, and what lay in it before anybody worked there."""

    folder: Path
    initial: Mapping[str, bytes]
    candidate: tuple[str, ...]


def make_workspace(folder: Path, briefing: Briefing) -> Workspace:
    """Fills an empty folder with what an agent may see."""
    check = (resources.templates() / "prompt" / CHECK).read_bytes()
    initial = {PROMPT: briefing.prompt.encode(), CHECK: check, **briefing.given, **briefing.start}
    write_files(folder, initial)
    (folder / CHECK).chmod(0o755)
    return Workspace(folder, initial, briefing.candidate)


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Writes files below a folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def take_candidate(workspace: Workspace) -> dict[str, bytes]:
    """The declared files, as far as they are there: regular ones, reached through no link, of at most 16 MiB. Nothing else is taken."""
    found = {name: _read(workspace.folder, name, _LARGEST) for name in workspace.candidate}
    return {name: content for name, content in found.items() if content is not None}


def diff_rest(workspace: Workspace) -> bytes:
    """Everything besides the declared files that is not as it was, as a unified diff of at most 1 MiB; files that are no text are named."""
    lines: list[str] = []
    size = 0
    for name in _names(workspace):
        before, after = workspace.initial.get(name), _read(workspace.folder, name, _LARGEST_COMPARED)
        if before == after and before is not None:
            continue
        for line in _changes(name, before, after, (workspace.folder / name)):
            size += len(line)
            if size > _LONGEST_DIFF:
                return _encoded([*lines, "… and more\n"])
            lines.append(line)
    return _encoded(lines)


def _encoded(lines: list[str]) -> bytes:
    """Names of files may hold bytes that are no UTF-8."""
    return "".join(lines).encode(errors="backslashreplace")


def _names(workspace: Workspace) -> list[str]:
    found = {*workspace.initial}
    for place, folders, files in os.walk(workspace.folder):
        here = Path(place).relative_to(workspace.folder)
        folders[:] = sorted(folders) if len(here.parts) < _DEEPEST else []
        linked = [name for name in folders if (Path(place) / name).is_symlink()]
        found |= {(here / name).as_posix() for name in (*files, *linked)}
        if len(found) > _MOST_FILES:
            break
    return sorted(found - {DOOR, *workspace.candidate})


def _changes(name: str, before: bytes | None, after: bytes | None, path: Path) -> Iterator[str]:
    if after is None and os.path.lexists(path):
        yield f"{name}: {_nature(path)}\n"
        return
    old, new = (_lines(content) for content in (before or b"", after or b""))
    if old is None or new is None:
        yield f"{name}: no text, {len(after or b'')} bytes\n"
        return
    for line in difflib.unified_diff(old, new, "/dev/null" if before is None else f"a/{name}", "/dev/null" if after is None else f"b/{name}"):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _nature(path: Path) -> str:
    """What stands in the place of a file that is not read."""
    try:
        state = path.lstat()
    except OSError as error:
        return error.strerror or "cannot be looked at"
    if stat.S_ISLNK(state.st_mode):
        return "a link"
    return f"{state.st_size} bytes" if stat.S_ISREG(state.st_mode) else "no regular file"


def _lines(content: bytes) -> list[str] | None:
    if b"\0" in content:
        return None
    return content.decode(errors="replace").splitlines(keepends=True)


def _read(folder: Path, name: str, largest: int) -> bytes | None:
    """A regular file's content; None where there is none, where it is larger, or where a part of its path is a link, which might lead anywhere."""
    *parents, last = name.split("/")
    handles = []
    try:
        handles.append(os.open(folder, os.O_RDONLY | os.O_DIRECTORY))
        for part in parents:
            handles.append(os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=handles[-1]))
        handles.append(os.open(last, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=handles[-1]))
        state = os.fstat(handles[-1])
        if not stat.S_ISREG(state.st_mode) or state.st_size > largest:
            return None
        with os.fdopen(os.dup(handles[-1]), "rb") as file:
            return file.read(largest)
    except OSError:
        return None
    finally:
        for handle in handles:
            os.close(handle)
