"""An index as a whole: `registry.json`, which is created once and tells one index from another, and the blobs by their digests."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from taskpack.digest import canonical_json, digest_bytes
from taskpack.errors import IntegrityError, NotFound, UsageError

from .archive import LIMITS, File, content_digest, read_archive
from .event import Release, Void, parse_canonical
from .store import FolderStore, Store, StoreFailed, probe

FORMAT = 1
_ABOUT = "registry.json"
_ABOUT_LIMIT = 64 << 10


@dataclass(frozen=True)
class Index:
    """A store that is an index."""

    store: Store
    id: str
    """32 hexadecimal digits, drawn when it was begun: locks name an index by it, wherever its copies stand."""


def open_folder(folder: Path) -> Index:
    """The index in a folder; raises NotFound where there is none, StoreFailed and IntegrityError where it cannot be used."""
    index = open_index(FolderStore(folder))
    if index is None:
        raise NotFound(f"there is no index in {folder}", hint="`taskpack publish PACK --index DIR` begins one in an empty folder")
    return index


def begin_folder(folder: Path) -> Index:
    """The index in a folder, begun now where the folder is empty or not there. Raises UsageError where something else is in it."""
    store = FolderStore(folder)
    if open_index(store) is None and folder.exists():
        others = [path.name for path in folder.iterdir() if not path.name.startswith((".", "probe.json", _ABOUT))]
        if others:
            raise UsageError(f"{folder} is no index, and not empty: it holds {min(others)!a}", hint="name an empty folder, or one that is not there yet")
    return begin_index(store)


def open_index(store: Store) -> Index | None:
    """The index in a store; None where none was begun."""
    raw = store.get(_ABOUT, _ABOUT_LIMIT)
    if raw is None:
        return None
    try:
        said = parse_canonical(raw.rstrip(b"\n"))
    except Void as reason:
        raise IntegrityError(f"{_ABOUT} of the index cannot be read: {reason}") from None
    policy = said.get("policy")
    if said.get("format") != FORMAT or not isinstance(policy, dict) or policy.get("signatures") != "off":
        raise StoreFailed("the index has a format or a policy that this taskpack does not know", hint="a newer taskpack can use it")
    if not isinstance(said.get("id"), str) or len(said["id"]) != 32 or set(said["id"]) - set("0123456789abcdef"):
        raise IntegrityError(f"{_ABOUT} of the index has no id")
    return Index(store, said["id"])


def begin_index(store: Store) -> Index:
    """The index in a store that has been probed, begun now where there was none; of several who begin it, one does."""
    probe(store)
    store.create(_ABOUT, canonical_json({"format": FORMAT, "id": os.urandom(16).hex(), "policy": {"signatures": "off"}}) + b"\n")
    index = open_index(store)
    assert index is not None
    return index


def put_blob(store: Store, blob: bytes) -> None:
    """Keeps an archive under its digest; one that is there is left as it is."""
    store.create(_blob(digest_bytes(blob)), blob)


def fetch_files(store: Store, release: Release) -> tuple[File, ...]:
    """The files of a release; every digest is compared, the first before anything is inflated. Raises IntegrityError."""
    blob = store.get(_blob(release.blob), LIMITS.blob)
    if blob is None:
        raise IntegrityError(f"the index lacks the blob {release.blob}", hint="whoever keeps the index can bring it back: its name is its digest")
    if len(blob) != release.size or digest_bytes(blob) != release.blob:
        raise IntegrityError(f"the blob {release.blob} has been altered in the index")
    files = read_archive(blob)
    if content_digest(files) != release.content:
        raise IntegrityError(f"the archive {release.blob} does not hold {release.content}, as its event says")
    return files


def _blob(digest: str) -> str:
    plain = digest.removeprefix("sha256:")
    return f"blobs/sha256/{plain[:2]}/{plain}"
