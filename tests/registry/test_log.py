"""Logs: what entries add up to, what is void, and what a hint may do."""

import json
from dataclasses import replace
from functools import partial

import pytest

from taskpack.digest import canonical_json, digest_bytes
from taskpack.errors import IntegrityError
from taskpack.registry.event import ENTRY_LIMIT, Event, Release, encode_event
from taskpack.registry.index import begin_index, fetch_files, open_index, put_blob
from taskpack.registry.log import Log, append, is_confirmed, names, next_event, read_log, replay
from taskpack.registry.store import MemoryStore, StoreFailed

from .attacks import HONEST

NAME = "demo/softmax"
DIGEST = "sha256:" + "a" * 64
HINT = f"pkg/{NAME}/index.json"


def _release(version: str, **fields: object) -> Release:
    return replace(Release(version, "op", "words", "MIT", DIGEST, DIGEST, 10, {"ops/softmax": "^1.0"}), **fields)  # type: ignore[arg-type]


def _key(seq: int) -> str:
    return f"pkg/{NAME}/log/{seq:08d}.json"


def _decided(release: Release, log: Log) -> Release:
    return release


def _harmed(harm: object, raw: bytes) -> bytes:
    return harm(raw) if callable(harm) else harm  # type: ignore[no-any-return, return-value]


def _publish(store: MemoryStore, *versions: str) -> Log:
    for version in versions:
        _, log = append(store, NAME, partial(_decided, _release(version)))
    return log


class _Counting(MemoryStore):
    """Counts reads."""

    reads = 0

    def get(self, key: str, limit: int) -> bytes | None:
        self.reads += 1
        return super().get(key, limit)


def test_releases_are_replayed_in_order() -> None:
    store = MemoryStore()
    log = _publish(store, "0.1.0", "0.1.1", "0.2.0")
    assert replay(store, NAME) == log == read_log(store, NAME)
    assert (list(log.releases), log.seq, dict(log.voids)) == (["0.1.0", "0.1.1", "0.2.0"], 3, {})
    assert log.head == digest_bytes(store.get(_key(3), ENTRY_LIMIT) or b"")
    assert names(store) == [NAME]


def test_an_entry_is_a_line_of_canonical_json() -> None:
    store = MemoryStore()
    _publish(store, "0.1.0")
    raw = store.get(_key(1), ENTRY_LIMIT) or b""
    said = json.loads(raw)
    assert raw == canonical_json(said) + b"\n"
    assert said | {"at": ""} == {
        "format": 1, "type": "publish", "name": NAME, "seq": 1, "prev": "sha256:" + "0" * 64, "at": "", "version": "0.1.0", "kind": "op", "summary": "words",
        "license": "MIT", "content": DIGEST, "blob": DIGEST, "size": 10, "dependencies": {"ops/softmax": "^1.0"},
    }  # fmt: skip


def test_whoever_is_slower_decides_again() -> None:
    store = MemoryStore()
    asked = []

    def decide(log: Log) -> Release | None:
        asked.append(log.seq)
        if len(asked) == 1:
            _publish(store, "1.0.0")
        return None if "2.0.0" in log.releases else _release("2.0.0")

    event, log = append(store, NAME, decide)
    assert event is not None
    assert (asked, event.seq, list(log.releases)) == ([0, 1], 2, ["1.0.0", "2.0.0"])
    assert append(store, NAME, decide) == (None, log)


def _good(log: Log) -> Event:
    return next_event(log, _release("9.0.0"))


def _edit(raw: bytes, **fields: object) -> bytes:
    return canonical_json({**json.loads(raw), **fields}) + b"\n"


VOID = {
    "not-json": b"hello\n",
    "empty": b"",
    "html": b"<html></html>\n",
    "list": b"[]\n",
    "byte-order-mark": lambda raw: b"\xef\xbb\xbf" + raw,
    "key-twice": lambda raw: raw.replace(b'"size":10', b'"size":10,"size":10'),
    "spaces": lambda raw: raw.replace(b":", b": "),
    "infinite": lambda raw: raw.replace(b'"size":10', b'"size":1e400'),
    "fraction": lambda raw: raw.replace(b'"size":10', b'"size":10.0'),
    "many-digits": lambda raw: raw.replace(b'"size":10', b'"size":' + b"1" * 5000),
    "surrogate": lambda raw: raw.replace(b"words", b"\\ud800"),
    "deep": b"[" * 60_000 + b"\n",
    "torn": lambda raw: raw[:-1],
    "half": lambda raw: raw[: len(raw) // 2],
    "large": lambda raw: raw + b"x" * ENTRY_LIMIT,
    "newer-format": lambda raw: _edit(raw, format=2),
    "unknown-type": lambda raw: _edit(raw, type="delete"),
    "other-pack": lambda raw: _edit(raw, name="demo/other"),
    "gap": lambda raw: _edit(raw, seq=7),
    "wrong-predecessor": lambda raw: _edit(raw, prev=DIGEST),
    "version-again": lambda raw: _edit(raw, version="0.1.0"),
    "no-version": lambda raw: _edit(raw, version="1"),
    "build-metadata": lambda raw: _edit(raw, version="1.0.0+x"),
    "no-digest": lambda raw: _edit(raw, content="md5:1"),
    "negative-size": lambda raw: _edit(raw, size=-1),
    "true-as-size": lambda raw: _edit(raw, size=True),
    "dependency": lambda raw: _edit(raw, dependencies={"../x": "^1"}),
    "dependency-list": lambda raw: _edit(raw, dependencies=[]),
    "terminal": lambda raw: _edit(raw, summary="\x1b[2J"),
    "time": lambda raw: _edit(raw, at="yesterday"),
}


@pytest.mark.parametrize("harm", VOID)
def test_a_bad_entry_is_void_and_bricks_nothing(harm: str) -> None:
    store = MemoryStore()
    log = _publish(store, "0.1.0")
    store.create(_key(2), _harmed(VOID[harm], encode_event(_good(log))))
    assert list(replay(store, NAME).voids) == [2]
    after = _publish(store, "0.2.0")
    assert (after.seq, list(after.releases), list(after.voids)) == (3, ["0.1.0", "0.2.0"], [2])
    assert replay(store, NAME) == after
    assert read_log(store, NAME).releases == after.releases


def test_an_old_entry_cannot_be_replayed() -> None:
    store = MemoryStore()
    _publish(store, "0.1.0")
    store.create(_key(2), store.get(_key(1), ENTRY_LIMIT) or b"")
    assert list(replay(store, NAME).voids) == [2]


def test_room_for_signatures() -> None:
    store = MemoryStore()
    store.create(_key(1), encode_event(next_event(Log(NAME), _release("0.1.0"))) + b"untrusted comment\nRWQ\n")
    assert list(replay(store, NAME).releases) == ["0.1.0"]


def test_a_lookup_reads_little() -> None:
    store = _Counting()
    _publish(store, *(f"0.1.{number}" for number in range(50)))
    store.reads = 0
    log = read_log(store, NAME)
    assert is_confirmed(store, log, "0.1.49")
    assert (len(log.releases), store.reads) == (50, 4)


HINTS = {
    "missing": b"",
    "html": b"<html>",
    "stale": lambda raw: raw,
    "too-far": lambda raw: _hinted(raw, seq=9),
    "other-head": lambda raw: _hinted(raw, head=DIGEST),
    "no-releases": lambda raw: _hinted(raw, releases=[7]),
    "text-as-number": lambda raw: _hinted(raw, seq="2"),
}


def _hinted(raw: bytes, **fields: object) -> bytes:
    return canonical_json({**json.loads(raw), **fields})


@pytest.mark.parametrize("harm", HINTS)
def test_a_bad_hint_costs_reads_only(harm: str) -> None:
    store = MemoryStore()
    _publish(store, "0.1.0", "0.2.0")
    raw = store.get(HINT, 1 << 20) or b""
    log = _publish(store, "0.3.0")
    store.replace(HINT, _harmed(HINTS[harm], raw))
    assert read_log(store, NAME).releases == log.releases


def test_a_hint_that_lies_is_not_confirmed() -> None:
    store = MemoryStore()
    _publish(store, "0.1.0")
    rows = json.loads(store.get(HINT, 1 << 20) or b"")["releases"]
    evil = {**rows[0], "version": "0.2.0"}
    other = {**rows[0], "content": "sha256:" + "e" * 64}
    for lie, version in (([rows[0], evil], "0.2.0"), ([other], "0.1.0"), ([{**rows[0], "seq": 5}], "0.1.0")):
        store.replace(HINT, _hinted(store.get(HINT, 1 << 20) or b"", releases=lie))
        assert not is_confirmed(store, read_log(store, NAME), version)
    assert is_confirmed(store, replay(store, NAME), "0.1.0")


def test_an_index_is_begun_once() -> None:
    store = MemoryStore()
    assert open_index(store) is None
    index = begin_index(store)
    assert begin_index(store) == index == open_index(store)
    assert begin_index(MemoryStore()).id != index.id


@pytest.mark.parametrize("about", [b"{}", b'{"format":2}', b'{"format":1,"id":"x","policy":{"signatures":"require"}}'])
def test_an_index_of_another_time_is_refused(about: bytes) -> None:
    store = MemoryStore()
    store.create("registry.json", about)
    with pytest.raises(StoreFailed, match="does not know"):
        open_index(store)


def test_an_index_that_is_none_is_refused() -> None:
    for about in (b"<html>", b'{"format":1,"id":"x","policy":{"signatures":"off"}}'):
        store = MemoryStore()
        store.create("registry.json", about)
        with pytest.raises(IntegrityError):
            open_index(store)


def test_blobs_are_compared_before_they_are_read() -> None:
    store = MemoryStore()
    digest = digest_bytes(HONEST)
    key = f"blobs/sha256/{digest[7:9]}/{digest[7:]}"
    content = "sha256:a5cc0be7b5ac3dbd6bd3b1a4c53d3e4e2ed5a7c6bfd0c0a2c5e3c8cf3c5b0d5e"
    release = _release("1.0.0", blob=digest, size=len(HONEST))
    with pytest.raises(IntegrityError, match="lacks the blob"):
        fetch_files(store, release)
    put_blob(store, HONEST)
    with pytest.raises(IntegrityError, match="does not hold"):
        fetch_files(store, replace(release, content=content))
    with pytest.raises(IntegrityError, match="altered"):
        fetch_files(store, replace(release, size=3))
    for at in range(0, len(HONEST), 7):
        store.replace(key, HONEST[:at] + bytes([HONEST[at] ^ 1]) + HONEST[at + 1 :])
        with pytest.raises(IntegrityError, match="altered"):
            fetch_files(store, release)
