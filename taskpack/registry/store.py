"""Where an index keeps its files: keys and bytes, with one strong promise, that a key is created once."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from taskpack.errors import Exit, TaskpackError

from .disk import beside, make_folder, sync_folder, write_new

_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*")
_NO_LINKS = frozenset({errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EMLINK})
_PROBE = "probe.json"


class StoreFailed(TaskpackError):
    """The place where an index is kept does not do what is asked of it."""

    exit_code = Exit.USAGE


class Store(Protocol):
    """A flat set of keys such as `pkg/ops/softmax/index.json`."""

    def get(self, key: str, limit: int) -> bytes | None:
        """The bytes of a key, or the first `limit + 1` where there are more; None where it is absent. Raises StoreFailed for every other trouble."""

    def create(self, key: str, content: bytes) -> bool:
        """Whether the key was absent, and now holds `content`, as a whole and for good; False leaves what is there. Of several callers one hears True."""

    def replace(self, key: str, content: bytes) -> None:
        """The key holds `content`, or another writer's: for hints only."""

    def keys(self, prefix: str) -> Iterator[str]:
        """The keys that start with `prefix`, sorted; slow where there are many."""


class FolderStore:
    """Keys as files below a folder. Writers of several machines may share it, where its file system has hard links."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def get(self, key: str, limit: int) -> bytes | None:
        try:
            with self._path(key).open("rb") as file:
                return file.read(limit + 1)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise StoreFailed(f"{self._path(key)} cannot be read: {error.strerror}") from None

    def create(self, key: str, content: bytes) -> bool:
        path = self._path(key)
        made = beside(path)
        try:
            make_folder(path.parent)
            write_new(made, content)
            try:
                is_new = _link(made, path)
            finally:
                made.unlink(missing_ok=True)
            sync_folder(path.parent)
        except OSError as error:
            raise StoreFailed(f"{path} cannot be written: {error.strerror}") from None
        return is_new

    def replace(self, key: str, content: bytes) -> None:
        path = self._path(key)
        made = beside(path)
        try:
            make_folder(path.parent)
            write_new(made, content)
            made.replace(path)
        except OSError as error:
            made.unlink(missing_ok=True)
            raise StoreFailed(f"{path} cannot be written: {error.strerror}") from None

    def keys(self, prefix: str) -> Iterator[str]:
        found = (path.relative_to(self._root).as_posix() for path in self._root.rglob("*") if path.is_file())
        yield from sorted(key for key in found if key.startswith(prefix) and _KEY.fullmatch(key))

    def _path(self, key: str) -> Path:
        assert _KEY.fullmatch(key), key
        return self._root / key


class MemoryStore:
    """Keys in a dictionary, of one thread: what tests publish into."""

    def __init__(self) -> None:
        self._content: dict[str, bytes] = {}

    def get(self, key: str, limit: int) -> bytes | None:
        content = self._content.get(key)
        return None if content is None else content[: limit + 1]

    def create(self, key: str, content: bytes) -> bool:
        if key in self._content:
            return False
        self._content[key] = content
        return True

    def replace(self, key: str, content: bytes) -> None:
        self._content[key] = content

    def keys(self, prefix: str) -> Iterator[str]:
        yield from sorted(key for key in self._content if key.startswith(prefix))


def probe(store: Store) -> None:
    """Raises StoreFailed where a key can be created twice: in such a store two publishers overwrite each other."""
    mark = os.urandom(16).hex().encode()
    store.create(_PROBE, b"{}")
    if store.create(_PROBE, mark) or store.get(_PROBE, 64) == mark:
        raise StoreFailed("this store creates a key that is there already", hint="two publishers would overwrite each other's work; use another store")


def _link(made: Path, path: Path) -> bool:
    """Gives a finished file its name, unless that is taken."""
    try:
        os.link(made, path)
    except OSError as error:
        # On NFS a link is made, its answer lost, and the next try told that the name is taken.
        if os.name == "posix" and made.stat().st_nlink == 2:
            return True
        if isinstance(error, FileExistsError):
            return False
        # Without links a POSIX rename would overwrite; that of Windows refuses.
        if os.name == "posix" or error.errno not in _NO_LINKS:
            raise
        return _rename_on_windows(made, path)
    return True


def _rename_on_windows(made: Path, path: Path) -> bool:
    try:
        made.rename(path)
    except FileExistsError:
        return False
    return True
