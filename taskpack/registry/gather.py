"""The files of a pack's folder that travel: named one by one, read once, and refused where they should not be there."""

from __future__ import annotations

import os
import re
import stat
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from taskpack.packs.load import Loaded

from .archive import LIMITS, File, FileRefused, content_digest, path_problem

_LITTER = ("__pycache__", "*.pyc", "*~", "*.swp")
_SECRET_NAMES = ("*.pem", "*.key", "*.p12", "*.pfx", "*.kdbx", "*.keytab", "id_rsa*", "id_ed25519*", "id_ecdsa*", "credentials*", "*.env")
_SECRET_CONTENT = re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY|\bAKIA[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{36}|\bhf_[A-Za-z0-9]{34}\b|\bsk-[A-Za-z0-9_-]{40}")
_TEXT = frozenset(
    ".toml .py .j2 .md .txt .json .yaml .yml .sh .c .cc .cpp .cu .cuh .h .hpp .hip .cl .s .ll".split()  # noqa: SIM905  a word a suffix
)
"""Suffixes of text whose line endings a checkout may have changed."""


@dataclass(frozen=True)
class Chosen:
    """Which files of a folder travel, and which stay."""

    paths: tuple[str, ...]
    left_out: tuple[str, ...]
    """Hidden files, litter, and what git ignores; a folder ends in a slash."""


def choose_files(folder: Path) -> Chosen:
    """Every file below `folder` but hidden ones (`.taskpack/` among them), litter, and what git ignores. Raises FileRefused for links, devices and secrets."""
    ignored = _ignored_by_git(folder)
    paths: list[str] = []
    left_out: list[str] = []
    for path, is_kept in _walk(folder, "", ignored):
        (paths if is_kept else left_out).append(path)
    return Chosen(tuple(sorted(paths)), tuple(sorted(left_out)))


def read_files(folder: Path, paths: Iterable[str]) -> tuple[File, ...]:
    """The files of those paths. Raises FileRefused for what is no plain file, changes while it is read, looks like a secret, or is text with CRLF."""
    return tuple(_checked(File(path, _read(folder, path))) for path in sorted(paths))


def identify(pack: Loaded) -> dict[str, str]:
    """`name`, `version` and `content` (the digest that publishing it would give) of a pack as it lies there."""
    content = content_digest(read_files(pack.folder, choose_files(pack.folder).paths))
    return {"name": pack.name, "version": pack.version, "content": content}


def _walk(folder: Path, inside: str, ignored: frozenset[str]) -> Iterator[tuple[str, bool]]:
    with os.scandir(folder / inside) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        path = f"{inside}{entry.name}"
        if entry.is_symlink():
            if not entry.name.startswith("."):
                raise FileRefused(f"{path!a} is a symbolic link", hint="copy what it points to into the pack, or let git ignore it")
            yield path, False
        elif entry.is_dir():
            is_left = _is_left(entry.name) or f"{path}/" in ignored
            yield from [(f"{path}/", False)] if is_left else _walk(folder, f"{path}/", ignored)
        else:
            is_left = _is_left(entry.name) or path in ignored
            if not is_left and _is_secret_name(entry.name):
                raise FileRefused(f"{path!a} looks like a secret", hint="take it out of the pack's folder, or let git ignore it")
            yield path, not is_left


def _is_left(name: str) -> bool:
    return name.startswith(".") or any(fnmatchcase(name, pattern) for pattern in _LITTER)


def _is_secret_name(name: str) -> bool:
    return any(fnmatchcase(name.lower(), pattern) for pattern in _SECRET_NAMES)


def _ignored_by_git(folder: Path) -> frozenset[str]:
    """Untracked files and folders that git ignores; none where there is no git, or where the whole pack is ignored."""
    command = ["git", "-c", "core.fsmonitor=false", "ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z", "."]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, check=False, stdin=subprocess.DEVNULL)
    except OSError:
        return frozenset()
    names = frozenset(os.fsdecode(name) for name in done.stdout.split(b"\0") if name) if done.returncode == 0 else frozenset()
    return frozenset() if "./" in names else names


def _read(folder: Path, path: str) -> bytes:
    if wrong := path_problem(path):
        raise FileRefused(wrong, hint="rename the file, or let git ignore it")
    file = folder / path
    before = file.lstat()
    if not stat.S_ISREG(before.st_mode) or file.resolve() != folder.resolve() / path:
        raise FileRefused(f"{path!a} is no plain file of the pack's folder", hint="a pack holds no links, pipes or devices")
    # A pipe that takes the file's place must not make us wait.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(file, flags), "rb") as stream:
        opened = os.fstat(stream.fileno())
        content = stream.read(LIMITS.file + 1)
        after = os.fstat(stream.fileno())
    if not _state(before) == _state(opened) == _state(after) or len(content) != min(before.st_size, LIMITS.file + 1):
        raise FileRefused(f"{path!a} changed while it was read", hint="once more, when nothing writes into the pack's folder")
    return content


def _state(about: os.stat_result) -> tuple[int, ...]:
    """What changes with a file; on Windows the two calls number files differently."""
    number = (about.st_dev, about.st_ino) if os.name == "posix" else ()
    return (about.st_size, about.st_mtime_ns, *number)


def _checked(file: File) -> File:
    shown = ascii(file.path)
    if _is_secret_name(file.path.rpartition("/")[2]) or _SECRET_CONTENT.search(file.content):
        raise FileRefused(f"{shown} looks like a secret", hint="what is published cannot be taken back: take the key out, and change it where it is used")
    if Path(file.path).suffix in _TEXT and b"\r\n" in file.content:
        line = file.content[: file.content.index(b"\r\n")].count(b"\n") + 1
        raise FileRefused(f"{shown} ends line {line} in CRLF", hint="save it with LF, so that its digest is the same on every system (`*.toml text eol=lf`)")
    return file
