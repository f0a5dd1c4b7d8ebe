"""Stores: a key is created once, by whoever comes first, and read as a whole."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from taskpack.registry.store import FolderStore, MemoryStore, Store, StoreFailed, probe


@pytest.fixture(params=["folder", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return FolderStore(tmp_path / "index") if request.param == "folder" else MemoryStore()


def test_a_key_is_created_once(store: Store) -> None:
    assert store.get("a/b.json", 10) is None
    assert store.create("a/b.json", b"1")
    assert not store.create("a/b.json", b"2")
    assert not store.create("a/b.json", b"1")
    assert store.get("a/b.json", 10) == b"1"
    store.replace("a/b.json", b"3")
    assert store.get("a/b.json", 10) == b"3"


def test_keys_are_listed(store: Store) -> None:
    for key in ("pkg/x/y/log/1", "blobs/1", "pkg/x/a"):
        store.create(key, b"")
    assert list(store.keys("pkg/")) == ["pkg/x/a", "pkg/x/y/log/1"]


def test_too_much_is_not_read(store: Store) -> None:
    store.create("a", b"123456789")
    assert store.get("a", 4) == b"12345", "one more than may be, so that the reader sees it"


def test_a_store_that_keeps_its_promise_passes_the_probe(store: Store) -> None:
    probe(store)
    probe(store)


class _Overwrites(MemoryStore):
    """As stores do that ignore `If-None-Match`."""

    def __init__(self, says: bool) -> None:
        super().__init__()
        self.says = says

    def create(self, key: str, content: bytes) -> bool:
        self.replace(key, content)
        return self.says


@pytest.mark.parametrize("says", [True, False])
def test_a_store_that_overwrites_is_refused(says: bool) -> None:
    with pytest.raises(StoreFailed, match="creates a key that is there"):
        probe(_Overwrites(says))


def test_nothing_is_left_beside_the_files(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    store.create("a", b"1")
    store.create("a", b"2")
    store.replace("a", b"3")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_file_system_without_links_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    with pytest.raises(StoreFailed, match="cannot be written"):
        FolderStore(tmp_path).create("a", b"1")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), FileExistsError(17, "File exists")])
def test_an_answer_that_was_lost(error: OSError, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """NFS: the link was made, and the caller hears of an error."""
    link = os.link

    def lose(source: Path, target: Path) -> None:
        link(source, target)
        raise error

    monkeypatch.setattr(os, "link", lose)
    assert FolderStore(tmp_path).create("a", b"1")


_CLAIM = """
import sys, pathlib
from taskpack.registry.store import FolderStore
store = FolderStore(pathlib.Path(sys.argv[1]))
print(sum(store.create(f"k/{number}", sys.argv[2].encode() * 1000) for number in range(100)))
"""


@pytest.fixture
def claims(tmp_path: Path) -> list[int]:
    running = [subprocess.Popen([sys.executable, "-c", _CLAIM, tmp_path, str(number)], stdout=subprocess.PIPE, text=True) for number in range(4)]
    return [int(process.communicate()[0]) for process in running]


def test_four_processes_claim_each_key_once(claims: list[int], tmp_path: Path) -> None:
    assert sum(claims) == 100
    contents = {(tmp_path / "k" / str(number)).read_bytes() for number in range(100)}
    assert contents <= {str(number).encode() * 1000 for number in range(4)}, "each file is whole"
